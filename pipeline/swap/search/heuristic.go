package search

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"grenier/io/memory"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/swap/patterns"
)

// HeuristicNames describes the names that ParseHeuristic takes.
const HeuristicNames = "zero, manhattan, inversion, walking, pdb (the files of --pdb), pdb-exact; several with commas between; each may be followed by +inverse and +parity"

// ParseHeuristic makes a lower bound from its name, see HeuristicNames; "" is
// walking+parity, or manhattan+parity where the tables of walking take more than
// heuristic.WalkingMemory: those are made when walking is asked for by name. files are
// pattern databases, for pdb and pdb-exact: the latter covers the tiles as well as
// possible if the file is a table of sets. It fails with ErrHeuristic for another name, or for
// pdb without files, files without pdb, or pdb for a grid without a swap.State, and like heuristic.BuildWalking and patterns.Load.
func ParseHeuristic(ctx context.Context, g *swap.Grid, text string, files []string, o patterns.Options) (heuristic.Heuristic, error) {
	if text == "" {
		quick := o
		room := uint64(heuristic.WalkingMemory)
		if o.Memory > 0 {
			room = min(room, memory.Room(o.Memory)/2) // the rest is for states
		}
		quick.Memory = memory.Need(room)
		h, err := ParseHeuristic(ctx, g, "walking+parity", files, quick)
		if errors.Is(err, heuristic.ErrTooLarge) {
			return ParseHeuristic(ctx, g, "manhattan+parity", files, o)
		}
		return h, err
	}
	var list heuristic.Max
	used := false
	for name := range strings.SplitSeq(text, ",") {
		base, suffixes, _ := strings.Cut(name, "+")
		h, err := baseHeuristic(ctx, g, base, files, o)
		if err != nil {
			return nil, err
		}
		used = used || strings.HasPrefix(base, "pdb")
		for suffixes != "" {
			var suffix string
			suffix, suffixes, _ = strings.Cut(suffixes, "+")
			switch suffix {
			case "inverse":
				h = heuristic.Inverse{Heuristic: h, Grid: g}
			case "parity":
				h = heuristic.Lift{Heuristic: h, Grid: g}
			default:
				return nil, fmt.Errorf("%w: %q: must be %s", ErrHeuristic, name, HeuristicNames)
			}
		}
		list = append(list, h)
	}
	if len(files) > 0 && !used {
		return nil, fmt.Errorf("%w: %q does not use the pattern databases given; pdb does", ErrHeuristic, text)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func baseHeuristic(ctx context.Context, g *swap.Grid, name string, files []string, o patterns.Options) (heuristic.Heuristic, error) {
	switch name {
	case "zero":
		return heuristic.Zero{}, nil
	case "manhattan":
		return heuristic.NewManhattan(g), nil
	case "inversion":
		return heuristic.NewInversions(g), nil
	case "walking":
		return heuristic.BuildWalking(ctx, g.Rows(), g.Cols(), memory.Room(o.Memory))
	case "pdb", "pdb-exact":
		if len(files) == 0 {
			return nil, fmt.Errorf("%w: %s needs the file of a pattern database", ErrHeuristic, name)
		}
		if !g.Packs() {
			return nil, fmt.Errorf("%w: %s takes up to %d cells, not %d x %d; larger grids take one of manhattan, inversion, walking",
				ErrHeuristic, name, swap.MaxCells, g.Rows(), g.Cols())
		}
		return patterns.Load(ctx, g, files, name == "pdb-exact", o)
	}
	return nil, fmt.Errorf("%w: %q: must be %s", ErrHeuristic, name, HeuristicNames)
}
