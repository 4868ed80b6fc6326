package verify

import (
	"context"
	"errors"
	"fmt"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
)

// Distances (package distance) follow from their moves as well, and are compared on the way if there is a file of them. The panel then
// has a second byte a position: beside the best that moves give, the plies after the move that attains it. If
// several do, these are the least if the best is above 0, the greatest if it is below; a capture counts as 0 plies. Captures come first, as lower layers
// are read before the layer itself. In the end the distance must be one more.

// findDistances opens the distances of layer n, if they are there and are to be compared, and checks their file, as checkFile does. What is wrong with it is
// added to layer.
func (r *run) findDistances(ctx context.Context, n int, layer *Layer, whole bool) error {
	r.distances = nil
	if r.options.Sample > 0 || r.options.ScoresOnly {
		return nil
	}
	f, err := r.tables.DistancesFile(ctx, n)
	if f != nil && whole {
		_, err = layerfile.Check(ctx, f.Path(), r.options.Family, layer.damaged)
	} else if errors.Is(err, corrupt.ErrCorrupt) {
		layer.damaged(err)
	}
	if err == nil {
		r.distances = f
	}
	if errors.Is(err, corrupt.ErrCorrupt) {
		return nil
	}
	return err
}

// distanceNote names the distances that are compared, for notes; "" if there are none.
func (r *run) distanceNote(ctx context.Context, n int) string {
	f, err := r.tables.DistancesFile(ctx, n)
	if f == nil || err != nil || r.options.ScoresOnly {
		return ""
	}
	return fmt.Sprintf("distances %08x, %v", f.Footer().Checksum, f.Info().ModTime().UTC())
}

// readPlies returns n distances of the layer from a rank on.
func (v *visitor) readPlies(from, n uint64) ([]int8, error) {
	if v.distanceDecoder == nil {
		v.distanceDecoder = v.run.distances.NewDecoder(v.run.options.Family)
	}
	if uint64(cap(v.distances)) < n {
		v.distances = make([]int8, n)
	}
	plies := v.distances[:n]
	return plies, v.distanceDecoder.Read(v.ctx, plies, from)
}

// raisePlies is raise for quiet moves and the distances of their children.
func raisePlies(column []int8, after []uint8, row, plies []int8, spans []span) (moves uint64) {
	for _, r := range spans {
		n := r.n()
		moves += uint64(n)
		best, after, scores, plies := column[r.from():][:n], after[r.from():][:n], row[r.to():][:n], plies[r.to():][:n]
		for i, score := range scores {
			value, d := -score, uint8(plies[i])
			switch {
			case value > best[i]:
				best[i], after[i] = value, d
			case value < best[i]:
			case value > 0:
				after[i] = min(after[i], d)
			case value < 0:
				after[i] = max(after[i], d)
			}
		}
	}
	return moves
}

// comparePlies compares the distances of a line, whose scores are right where they are the best values.
func (v *visitor) comparePlies(l line) error {
	plies, err := v.readPlies(l.rank, uint64(len(l.scores)))
	if err != nil {
		return err
	}
	for i, score := range l.scores {
		want := 0
		if score != 0 {
			want = 1 // without a move that leaves the opponent a seed, the game ends, or a capture ends it
		}
		best := v.best[l.at]
		if best != none && score != 0 {
			want += int(v.after[l.at])
		}
		if stored := int(uint8(plies[i])); stored != want && (score == best || best == none) {
			rank := l.rank + uint64(i)
			v.found.differs(Difference{Rank: rank, Board: v.run.space.Text(v.run.space.Unrank(v.seeds, rank)), Stored: stored, Expected: want, Plies: true})
		}
		l.at += l.width
	}
	return nil
}
