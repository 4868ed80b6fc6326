package tables

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/tables/catalog"
)

// distances is the file of the distances of a layer.
type distances struct {
	layer
	missing atomic.Bool // there was none when it was first needed
}

// Distance returns the number of plies from a board to the next capture, or to the end of the game, if both players keep its
// score, the one whom it favours hurries and the other one delays: see package distance. It is 0 if the score is. known is false if the
// distances of the layer have not been computed (grenier awari distances), or, on a web server, are not listed in the manifest. It fails like Score, and with an error
// that matches ErrMismatch if they were made from other scores.
func (t *Tables) Distance(ctx context.Context, b Board) (plies int, known bool, err error) {
	n, err := t.seeds(b)
	if err != nil {
		return 0, false, err
	}
	f, err := t.openDistances(ctx, n)
	if f == nil || err != nil {
		return 0, false, err
	}
	_, rank := t.space.Rank(b)
	stored, err := t.lookUp(ctx, f, t.distanceStore(n), rank)
	return int(uint8(stored)), err == nil, err
}

// ReadDistances is Read for the distances of layer n, which are bytes: 0 for a board whose score is 0. known is false if there are
// none.
func (t *Tables) ReadDistances(ctx context.Context, n int, start uint64, dst []int8) (known bool, err error) {
	if err := t.Need(n); err != nil {
		return false, err
	}
	f, err := t.openDistances(ctx, n)
	if f == nil || err != nil {
		return false, err
	}
	return true, t.readOf(ctx, n, f, start, dst)
}

// DistancesFile is File for the distances of layer n, nil if there are none.
func (t *Tables) DistancesFile(ctx context.Context, n int) (*layerfile.File, error) {
	if err := t.Need(n); err != nil {
		return nil, err
	}
	f, err := t.openDistances(ctx, n)
	if f == nil || err != nil {
		return nil, err
	}
	return f.File, nil
}

// ListedDistances is DistancesFile for the distances that the manifest lists alone. It fails with an error that matches ErrCorrupt if they
// are missing.
func (t *Tables) ListedDistances(ctx context.Context, n int) (*layerfile.File, error) {
	if err := t.Need(n); err != nil || !t.manifest.Layers[n].Distances.Listed() {
		return nil, err
	}
	f, err := t.DistancesFile(ctx, n)
	if f == nil && err == nil {
		place := strings.TrimSuffix(t.Path(n), t.manifest.Layers[n].File)
		err = corrupt.New(place+rundir.DistanceName(n), "", "listed in the manifest, but missing: %w", fs.ErrNotExist)
	}
	return f, err
}

// distanceStore is where the cache has the blocks of the distances of layer n: behind those of all scores.
func (t *Tables) distanceStore(n int) int { return len(t.layers) + n }

// openDistances returns the file of the distances of layer n, nil if there is none.
func (t *Tables) openDistances(ctx context.Context, n int) (*file, error) {
	d := &t.distances[n]
	if f := d.file.Load(); f != nil {
		return f, nil
	}
	if d.missing.Load() {
		return nil, nil
	}
	return t.opening.Do(ctx, t.distanceStore(n), func(ctx context.Context) (*file, error) { return t.openDistancesOnce(ctx, n) })
}

// openDistancesOnce is openDistances for one goroutine at a time.
func (t *Tables) openDistancesOnce(ctx context.Context, n int) (*file, error) {
	d := &t.distances[n]
	if f := d.file.Load(); f != nil { // another one was faster
		return f, nil
	}
	if t.closed.Load() {
		return nil, t.errClosed()
	}
	f, err := t.place.openDistances(ctx, &t.manifest.Layers[n])
	if errors.Is(err, fs.ErrNotExist) {
		d.missing.Store(true)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := catalog.CheckDistances(t.manifest, n, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t.keep(&d.layer, f)
}

// Plies are the distances of a probed board; nil stands for one that is not known.
type Plies struct {
	// Board is the distance of the board, 0 if its score is 0.
	Board *int
	// Moves are the plies to the next capture, or to the end of the game, after playing each pit, that move included; 0 if it takes
	// nothing and leads to a board that is worth 0, nil if it is not legal.
	Moves [awari.MaxPits / 2]*int
}

// Plies returns the distances of a board that was probed. It fails like Distance.
func (t *Tables) Plies(ctx context.Context, p Probe) (all Plies, err error) {
	boards := []Board{p.Board}
	for _, m := range p.Moves {
		if m.Legal && m.Captured == 0 {
			boards = append(boards, m.Child)
		}
	}
	plies := make([]int16, len(boards))
	if err := t.Distances(ctx, boards, plies); err != nil || plies[0] < 0 { // quiet moves stay in the layer
		return all, err
	}
	all.Board, plies = new(int(plies[0])), plies[1:]
	for pit, m := range p.Moves {
		switch {
		case !m.Legal:
		case m.Captured > 0:
			all.Moves[pit] = new(1)
		default:
			after := int(plies[0])
			if plies = plies[1:]; after > 0 {
				after++
			}
			all.Moves[pit] = &after
		}
	}
	return all, nil
}
