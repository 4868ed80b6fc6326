// Package retro solves any layers.Space by the retrograde analysis of document
// 001 ("Algorithme"). It is the slow, plain engine: it follows the document
// line by line, keeps a whole layer in memory, and takes the rules from the
// space, so that its answers can be compared with the answers of faster engines.
//
// A layer is solved once all lower ones are. Each state starts with the best
// score that leaving the layer at once can give, and with the number of its
// quiet moves. Then the layer is settled by decreasing absolute score: in the
// step of saturation sat, every state that can reach sat is stable, because no
// better score is left to find, and so is every state whose quiet moves all
// lead to stable states. A state that becomes stable updates its quiet
// predecessors.
//
// Repairs to the document (docs/sources.md says why): only quiet
// successors are counted, because only they report back; a state is updated
// by its successor before it is tested; stable states whose predecessors are not
// updated yet are kept in a queue, where the document recurses; and states still
// unstable after the last step, sat = 0, can play on forever and are worth 0.
package retro

import (
	"context"
	"errors"
	"fmt"
	"math"

	"grenier/layers"
)

var (
	// ErrLayer reports a layer that the space does not have, or lower layers
	// that are missing or of another size than the space says.
	ErrLayer = errors.New("retro: layer")
	// ErrScore reports a score that does not fit a signed byte.
	ErrScore = errors.New("retro: score")
)

// Accesses says how often the analysis of a layer accessed the table of scores: document 001
// counts that as its cost ("Complexité en temps").
type Accesses struct {
	// Init is to write the states of the layer: their number, f(n).
	Init uint64 `json:"init"`
	// Lower is to read a lower layer: the moves that leave this one, X.
	Lower uint64 `json:"lower"`
	// Steps is to look at each state in each step: n+1 times f(n) at most.
	Steps uint64 `json:"steps"`
	// Propagated is the calls of propagate: the quiet moves to states that became stable,
	// at most K times f(n).
	Propagated uint64 `json:"propagated"`
	Total      uint64 `json:"total"`
}

// Cost returns the number of accesses that the figures of document 001 have for a layer with the
// given states: (K + n + 2) f(n), where K bounds the successors and predecessors of a state; for awari it is
// the number of pits. The X of the formula is left out there (docs/sources.md).
func Cost(k, layer int, states uint64) uint64 { return uint64(k+2+layer) * states }

// BytesPerState is the memory that a layer takes for a state while it is solved: 12 bytes for its
// cell, its score, and 8 for its place in a queue, which is there twice when it grows.
const BytesPerState = 12 + 1 + 2*8

// SolveLayer returns the scores of the states in layer n by rank, given layers 0 to n-1,
// and counts accesses. From time to time it tells watch, which may be nil, which step and which
// state of it is next: step 0 fills the cells, 1 has the largest saturation. It fails with
// ErrLayer, ErrScore, or the error of ctx.
func SolveLayer[S comparable](ctx context.Context, space layers.Space[S], lower [][]int8, n int, watch func(step int, state uint64)) ([]int8, Accesses, error) {
	if err := checkLayers(space, lower, n); err != nil {
		return nil, Accesses{}, err
	}
	r := &row[S]{ctx: ctx, space: space, lower: lower, n: n, cells: make([]cell, space.Size(n)), watch: watch}
	if err := r.init(); err != nil {
		return nil, Accesses{}, fmt.Errorf("%s, layer %d: %w", space.Name(), n, err)
	}
	for sat := r.bound; sat >= 0; sat-- {
		if err := r.step(sat); err != nil {
			return nil, Accesses{}, fmt.Errorf("%s, layer %d: %w", space.Name(), n, err)
		}
	}
	a := &r.accesses
	a.Total = a.Init + a.Lower + a.Steps + a.Propagated
	return r.scores(), *a, nil
}

func checkLayers[S comparable](space layers.Space[S], lower [][]int8, n int) error {
	if n < 0 || n >= space.Layers() {
		return fmt.Errorf("%w: %d (%s has 0 to %d)", ErrLayer, n, space.Name(), space.Layers()-1)
	}
	if len(lower) < n {
		return fmt.Errorf("%w: %d needs the %d layers below it, %d given", ErrLayer, n, n, len(lower))
	}
	for layer, scores := range lower[:n] {
		if size := space.Size(layer); uint64(len(scores)) != size {
			return fmt.Errorf("%w: %d has %d states, %d scores given", ErrLayer, layer, size, len(scores))
		}
	}
	return nil
}

// cell is the knowledge of one state: the document's Instable(best, open), or
// Stable(best).
type cell struct {
	// best is the best score found so far, noScore when there is none.
	best int16
	// open counts the quiet moves to states that are not stable yet.
	open   int32
	stable bool
}

// noScore is below every score.
const noScore = math.MinInt16

// row is a layer being solved.
type row[S comparable] struct {
	ctx   context.Context
	space layers.Space[S]
	lower [][]int8
	n     int
	cells []cell // by rank
	// bound is the largest absolute score in the layer.
	bound int16
	// queue holds the ranks of stable states whose predecessors are not
	// updated yet.
	queue []uint64
	watch func(step int, state uint64)
	steps int // begun
	// ticks counts units of work between two checks of ctx.
	ticks int
	moves []layers.Move[S] // scratch
	prior []S              // scratch

	accesses Accesses
}

// init fills the cells with values that do not depend on the layer itself
// (document 001, init_row). The largest score found so bounds the whole layer:
// every score but 0 is the value of the move by which the best play leaves it.
func (r *row[S]) init() error {
	r.accesses.Init = uint64(len(r.cells))
	for u := range r.cells {
		if err := r.at(u); err != nil {
			return err
		}
		s := r.space.Unrank(r.n, uint64(u))
		best, open := r.leave(s)
		if best != noScore {
			if best < -math.MaxInt8 || best > math.MaxInt8 {
				return fmt.Errorf("%w: %d of state %v does not fit -127..127", ErrScore, best, s)
			}
			r.bound = max(r.bound, int16(best), int16(-best))
		}
		r.cells[u] = cell{best: int16(best), open: open}
	}
	return nil
}

// leave returns the best score of leaving the layer from s at once, noScore
// when only quiet moves exist, and the number of quiet moves.
func (r *row[S]) leave(s S) (best int, quiet int32) {
	r.moves = r.space.Successors(r.moves[:0], s)
	if len(r.moves) == 0 {
		return r.space.Terminal(s), 0
	}
	best = noScore
	for _, m := range r.moves {
		layer, rank := r.space.Rank(m.To)
		if layer == r.n {
			quiet++
			continue
		}
		best = max(best, m.Reward-int(r.lower[layer][rank]))
		r.accesses.Lower++
	}
	return best, quiet
}

// step settles the states of absolute score sat (document 001, analysis, the
// loop over iter_states).
func (r *row[S]) step(sat int16) error {
	r.accesses.Steps += uint64(len(r.cells))
	r.steps++
	for u := range r.cells {
		if err := r.at(u); err != nil {
			return err
		}
		r.settle(uint64(u), sat)
		if err := r.drain(sat); err != nil {
			return err
		}
	}
	return nil
}

// settle makes state u stable, and queues it, if nothing can change its best
// score any more: it is the best there can be, or all quiet moves are known.
func (r *row[S]) settle(u uint64, sat int16) {
	c := &r.cells[u]
	if c.stable || c.best != sat && c.open > 0 {
		return
	}
	c.stable = true
	r.queue = append(r.queue, u)
}

// drain propagates the scores of the queued states, and of those that become stable
// by it (document 001, propagate; a queue replaces the recursion).
func (r *row[S]) drain(sat int16) error {
	for head := 0; head < len(r.queue); head++ {
		if err := r.tick(); err != nil {
			return err
		}
		u := r.queue[head]
		r.prior = r.space.Predecessors(r.prior[:0], r.space.Unrank(r.n, u))
		r.accesses.Propagated += uint64(len(r.prior))
		for _, p := range r.prior {
			_, v := r.space.Rank(p)
			r.update(v, r.cells[u].best, sat)
		}
	}
	r.queue = r.queue[:0]
	return nil
}

// update updates state v, which has a quiet move to a state of score y.
func (r *row[S]) update(v uint64, y, sat int16) {
	c := &r.cells[v]
	if c.stable {
		return
	}
	c.best = max(c.best, -y)
	c.open--
	r.settle(v, sat)
}

// scores returns the result: the best scores of the stable states, and 0 for
// those that can play on forever.
func (r *row[S]) scores() []int8 {
	scores := make([]int8, len(r.cells))
	for u, c := range r.cells {
		if c.stable {
			scores[u] = int8(c.best)
		}
	}
	return scores
}

// watchEvery is the number of states after which watch is told.
const watchEvery = 4096

// at is called before state u of a step.
func (r *row[S]) at(u int) error {
	if r.watch != nil && u%watchEvery == 0 {
		r.watch(r.steps, uint64(u))
	}
	return r.tick()
}

// tick returns the error of the context, looking at it once in a while.
func (r *row[S]) tick() error {
	if r.ticks++; r.ticks%4096 != 0 {
		return nil
	}
	return r.ctx.Err()
}
