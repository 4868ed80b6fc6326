// Package patterns builds the pattern databases of the swap puzzle that package
// heuristic looks up, and keeps them in files (package patternfile).
//
// A database has a value for each arrangement: a way to place k tiles in the n cells,
// numbered lexicographically. Both searches here are breadth first from home and
// never unrank a neighbour: a rank is a number with a digit for each place (package perm),
// and a swap of neighbouring cells changes few digits. Which ones, and by how much, depends
// only on the tiles in the two cells and in the cells between, so the change of rank is a
// sum of entries of tables (type steps).
//
// Static searches one large pattern: a byte for each arrangement, levels one after the
// other, each by several workers. Dynamic searches the same few arrangements once
// for every set of tiles at home, one set for each worker, along lists of
// neighbours that all share.
package patterns

import (
	"cmp"
	"math"
	"sync"

	"grenier/io/memory"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
)

// Options says how to build. Family and Note are not used.
type Options struct {
	job.Job
	Cost heuristic.Cost
}

// fits fails with a *memory.Error if the bytes are more than allowed, or than can be
// addressed.
func (o *Options) fits(bytes uint64) error {
	return memory.Check("the pattern database", bytes, min(cmp.Or(o.Memory, math.MaxInt/2), math.MaxInt/2))
}

// meter counts the entries that have their value.
type meter struct {
	*job.Job
	total uint64
	mu    sync.Mutex
	done  uint64
}

// add counts n more entries.
func (m *meter) add(n uint64) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += n
	step := job.Step{Doing: "entries", Done: float64(m.done), Total: float64(m.total)}
	if m.done == m.total {
		step.Doing, step.Pace = "writing the file", &job.Pace{Rate: job.NoRate, Layer: job.NoLayer, Run: job.Unknown}
	}
	m.Tell(step)
}

// nobody marks a cell without a tile of the pattern.
const nobody = swap.MaxCells

// steps knows how swaps change ranks of arrangements of k tiles in the cells of a
// grid. Tiles are named by their number in the pattern, from 0.
type steps struct {
	grid   *swap.Grid
	k      int
	weight [swap.MaxCells]int // place value of each digit of a rank
	across [nobody + 1][nobody + 1]int
	down   [nobody + 1][nobody + 1]int
	// between has the summand of a tile in a cell between, to be added to down.
	between [nobody + 1][nobody + 1][nobody + 1]int
}

func newSteps(g *swap.Grid, k int) *steps {
	s := &steps{grid: g, k: k}
	weight := 1
	for i := k - 1; i >= 0; i-- {
		s.weight[i] = weight
		weight *= g.Cells() - i
	}
	for i := range k {
		s.alone(i)
		for j := range i {
			s.pair(j, i)
		}
	}
	return s
}

// alone sets the changes when tile i changes places with no tile of the pattern.
// Digit i is the cell of tile i minus the earlier tiles in lower cells: it grows by
// the length of the step less the earlier tiles it passes, and the later tiles it
// passes have one tile less below them.
func (s *steps) alone(i int) {
	s.set(&s.across, i, nobody, s.weight[i])
	s.set(&s.down, i, nobody, s.grid.Cols()*s.weight[i])
	for j := range s.k {
		if j < i {
			s.setBetween(i, nobody, j, -s.weight[i])
		} else if j > i {
			s.setBetween(i, nobody, j, s.weight[j])
		}
	}
}

// pair sets the changes when tile i moves to a higher cell and u > i to the cell of
// tile i. Digit u counts i before and not after. Tiles between them in number are
// passed by tile i as above, later ones by both, which cancels.
func (s *steps) pair(i, u int) {
	s.set(&s.across, i, u, s.weight[i])
	s.set(&s.down, i, u, s.grid.Cols()*s.weight[i]+(1-s.grid.Cols())*s.weight[u])
	for j := range s.k {
		switch {
		case j < i:
			s.setBetween(i, u, j, s.weight[u]-s.weight[i])
		case j > i && j < u:
			s.setBetween(i, u, j, s.weight[u]+s.weight[j])
		}
	}
}

// set sets the change for tile a in the lower cell and b in the higher one, and the
// opposite for the way back.
func (s *steps) set(table *[nobody + 1][nobody + 1]int, a, b, change int) {
	table[a][b], table[b][a] = change, -change
}

func (s *steps) setBetween(a, b, j, change int) {
	s.between[a][b][j], s.between[b][a][j] = change, -change
}

// placing is an arrangement.
type placing struct {
	rank int
	at   [swap.MaxCells]uint8 // the tile in each cell, or nobody
}

// change returns the change of the rank by a swap, and how many tiles it moves.
func (s *steps) change(p *placing, m swap.Swap) (change, moved int) {
	a, b := p.at[m.A], p.at[m.B]
	moved = 2 - int(a/nobody) - int(b/nobody)
	if m.B == m.A+1 {
		return s.across[a][b], moved // in one row, or in a grid with one column
	}
	change = s.down[a][b]
	between := &s.between[a][b]
	for _, j := range p.at[m.A+1 : m.B] {
		change += between[j]
	}
	return change, moved
}

// home returns the arrangement where each tile of the set is in its cell.
func (s *steps) home(tiles heuristic.Tiles) placing {
	p := placing{}
	for c := range p.at {
		p.at[c] = nobody
	}
	left := 0
	for i, c := range tiles.Numbers() {
		p.at[c] = uint8(i)
		left += (c - i) * s.weight[i] // all earlier tiles are in lower cells
	}
	p.rank = left
	return p
}

// place sets p to the arrangement of a rank.
func (s *steps) place(p *placing, rank int) {
	p.rank = rank
	free := uint64(0xfedcba9876543210)
	for c := range p.at {
		p.at[c] = nobody
	}
	for i := range s.k {
		digit := rank / s.weight[i]
		rank -= digit * s.weight[i]
		shift := 4 * uint(digit)
		p.at[free>>shift&15] = uint8(i)
		below := uint64(1)<<shift - 1
		free = free&below | free>>4&^below
	}
}
