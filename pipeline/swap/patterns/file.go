package patterns

import (
	"context"
	"fmt"

	"grenier/io/corrupt"
	"grenier/io/patternfile"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
)

// File is a pattern database as it is in a file.
type File struct {
	patternfile.Header
	Values []uint8
}

// Encode returns the contents of the file.
func (f *File) Encode() ([]byte, error) { return patternfile.Encode(f.Header, f.Values) }

// Build builds the database of the tiles with these numbers, from 0, or of all sets of size tiles without any.
// It fails like Static and Dynamic.
func Build(ctx context.Context, g *swap.Grid, numbers []int, size int, o Options) (*File, error) {
	f := &File{Header: patternfile.Header{
		Kind: patternfile.Dynamic, Cost: uint8(o.Cost), Rows: uint8(g.Rows()), Cols: uint8(g.Cols()), Size: uint8(size),
	}}
	if len(numbers) > 0 {
		tiles, err := heuristic.TilesOf(g, numbers)
		if err != nil {
			return nil, err
		}
		p, err := Static(ctx, g, tiles, o)
		if err != nil {
			return nil, err
		}
		f.Kind, f.Size, f.Tiles, f.Values = patternfile.Static, uint8(tiles.Len()), uint32(tiles), p.Values
	} else {
		t, err := Dynamic(ctx, g, size, o)
		if err != nil {
			return nil, err
		}
		f.Values = t.Values
	}
	f.Entries = uint64(len(f.Values))
	return f, nil
}

// saveBytes returns the most bytes that saving the entries takes besides: a file is
// packed in memory before it is written, and packs to less than a fifth.
func saveBytes(entries uint64) uint64 { return entries/2 + 8<<20 }

// Load makes a bound for a grid of the pattern databases in files: the static sum if
// they are of single sets, a dynamic cover, greedy or exact, if it is one table of
// sets; the tables of smaller sets, which the cover needs too, are rebuilt. It fails with
// heuristic.ErrPattern if files do not go together, a *memory.Error, an error that matches
// corrupt.ErrCorrupt if one is damaged, of another grid, or holds values that cannot be, or the
// error of ctx.
func Load(ctx context.Context, g *swap.Grid, paths []string, exact bool, o Options) (heuristic.Heuristic, error) {
	var static []*heuristic.Pattern
	var dynamic []*heuristic.SetTable
	bytes := uint64(0)
	for _, path := range paths {
		h, values, err := patternfile.Read(path, func(h patternfile.Header) error {
			bytes += h.Entries
			if err := o.fits(bytes); err != nil {
				return err
			}
			return belongs(path, g, h)
		})
		if err != nil {
			return nil, err
		}
		var patterns []*heuristic.Pattern
		if h.Kind == patternfile.Static {
			patterns = []*heuristic.Pattern{{Grid: g, Tiles: heuristic.Tiles(h.Tiles), Cost: heuristic.Cost(h.Cost), Values: values}}
			static = append(static, patterns...)
		} else {
			t := &heuristic.SetTable{Grid: g, Size: int(h.Size), Cost: heuristic.Cost(h.Cost), Values: values}
			patterns = parts(t)
			dynamic = append(dynamic, t)
		}
		if err := check(path, patterns); err != nil {
			return nil, err
		}
	}
	switch {
	case len(dynamic) == 0:
		return heuristic.NewStatic(static...)
	case len(dynamic) == 1 && len(static) == 0:
		return cover(ctx, dynamic[0], exact, o)
	}
	return nil, fmt.Errorf("%w: a table of sets goes alone, not with %d other files", heuristic.ErrPattern, len(paths)-1)
}

// belongs checks that a file is of a grid.
func belongs(path string, g *swap.Grid, h patternfile.Header) error {
	if int(h.Rows) != g.Rows() || int(h.Cols) != g.Cols() {
		return corrupt.New(path, "header", "a grid of %d x %d cells %w the expected %d x %d", h.Rows, h.Cols, corrupt.ErrMismatch, g.Rows(), g.Cols())
	}
	want := heuristic.Entries(g, int(h.Size))
	if h.Kind == patternfile.Dynamic {
		if h.Size > heuristic.MaxSet {
			return corrupt.New(path, "header", "sets of %d tiles, more than %d", h.Size, heuristic.MaxSet)
		}
		want *= uint64(len(heuristic.Sets(g, int(h.Size))))
	}
	if h.Entries != want {
		return corrupt.New(path, "header", "%d entries instead of %d", h.Entries, want)
	}
	return nil
}

// cover returns the dynamic bound by a table, with the tables of smaller sets.
func cover(ctx context.Context, largest *heuristic.SetTable, exact bool, o Options) (heuristic.Heuristic, error) {
	o.Cost = largest.Cost
	if o.Memory > 0 {
		o.Memory -= min(o.Memory-1, uint64(len(largest.Values)))
	}
	var tables []*heuristic.SetTable
	for size := 1; size < largest.Size; size++ {
		t, err := Dynamic(ctx, largest.Grid, size, o)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return heuristic.NewDynamic(exact, append(tables, largest)...)
}
