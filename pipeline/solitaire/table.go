package solitaire

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"grenier/layers/solitaire"
)

// Counts are the positions that jumps lead to.
type Counts struct {
	Layers []uint64 // after 0, 1, 2, ... jumps, up to the symmetries that keep the ends
	// Solved is how many of them are solutions: one peg in the right place.
	Solved uint64
}

// Count counts the positions that jumps lead to from the start. It fails with ErrOption, a
// *memory.Error if the job has too little memory, ErrMemory, like rundir.Lock, with errors
// that match corrupt.ErrCorrupt, errors of the file system, and the error of ctx.
func Count(ctx context.Context, p Problem, o Options) (c Counts, err error) {
	s, err := newSearch(p, o, false)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.forward(ctx); err != nil {
		return c, s.failed(err)
	}
	if layer := s.layerOf(1); layer != nil {
		solved, err := s.solved(layer)
		if err != nil {
			return c, s.failed(err)
		}
		c.Solved = uint64(solved.N)
	}
	c.Layers = s.counts()
	return c, nil
}

// Parity reports whether sums modulo 2 prove that a problem has no solution.
func (p *Problem) Parity() bool {
	for ends := p.ends(); ends != 0; ends &= ends - 1 {
		if p.Board.SameParity(p.Start, ends&-ends) {
			return false
		}
	}
	return true
}

// Table knows all about the positions that a game can reach.
type Table struct{ *search }

// Solve works out the table of a problem. It fails like Count.
func Solve(ctx context.Context, p Problem, o Options) (t *Table, err error) {
	s, err := newSearch(p, o, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(s.failed(err), s.close())
		}
	}()
	if err := s.forward(ctx); err != nil {
		return nil, err
	}
	if err := s.backward(ctx); err != nil {
		return nil, err
	}
	return &Table{s}, nil
}

// Close closes the directory.
func (t *Table) Close() error { return t.close() }

// Layers returns the number of positions that 0, 1, 2, ... jumps lead to, up to symmetry, and of
// those from which the game can still be solved.
func (t *Table) Layers() (reached, winning []uint64) {
	reached = t.counts()
	winning = make([]uint64, len(reached))
	for i := range winning {
		if pegs := t.pegs(i); pegs <= len(t.search.winning) {
			winning[i] = uint64(t.search.winning[pegs-1].N)
		}
	}
	return reached, winning
}

// State is a position in a game.
type State struct {
	Position solitaire.Position
	// Last is the hole of the peg that has just jumped, and may go on without another move; -1 if
	// there is none.
	Last int
}

// Outlook is the future of a position, or of a jump.
type Outlook struct {
	Solutions *big.Int // sequences of jumps; 0 if there are none
	Moves     int      // the least number, if there are solutions
}

// Advice is the knowledge about a position.
type Advice struct {
	Outlook
	// Jumps are those that are possible, by number, each with the outlook if it is made: moves are
	// counted from here.
	Jumps    []solitaire.Jump
	Outlooks []Outlook
	// Best is the index of the first of the jumps with the fewest moves, one that goes on with the
	// last peg if there is such; -1 if there are no solutions or no jumps.
	Best int
}

// Advise returns the advice for a state that jumps lead to from the start. It fails as a work file
// does, with errors that match corrupt.ErrCorrupt, and with the error of ctx.
func (t *Table) Advise(ctx context.Context, s State) (*Advice, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pegs := bits.OnesCount64(s.Position)
	if pegs == 1 {
		a := &Advice{Outlook: Outlook{Solutions: new(big.Int)}, Best: -1}
		if s.Position&t.ends() != 0 {
			a.Solutions.SetInt64(1)
		}
		return a, nil
	}
	a := &Advice{Best: -1}
	var numbers [mostChildren]uint8
	b := t.Board
	wanted := map[solitaire.Position]*record{}
	type child struct{ least, to solitaire.Position }
	var children []child
	for _, number := range b.Legal(numbers[:0], s.Position) {
		j := b.Jumps()[number]
		least, to := t.group.Place(s.Position, int(number), j.To)
		wanted[least] = nil
		a.Jumps = append(a.Jumps, j)
		children = append(children, child{least, to})
	}
	if err := t.find(pegs-1, wanted); err != nil {
		return nil, err
	}
	a.Solutions = new(big.Int)
	for i, c := range children {
		o := Outlook{Solutions: new(big.Int)}
		if r := wanted[c.least]; r != nil {
			o.Solutions = r.each(t.group)
			o.Moves = int(r.after(c.to))
			if a.Jumps[i].From != s.Last {
				o.Moves++
			}
			if a.Best < 0 || o.Moves < a.Moves || o.Moves == a.Moves && a.Jumps[i].From == s.Last && a.Jumps[a.Best].From != s.Last {
				a.Best, a.Moves = i, o.Moves
			}
			a.Solutions.Add(a.Solutions, o.Solutions)
		}
		a.Outlooks = append(a.Outlooks, o)
	}
	return a, nil
}

// each returns the number of solutions from one of the images of a position.
func (r *record) each(g *solitaire.Group) *big.Int {
	return new(big.Int).Quo(numberOf(r.count), big.NewInt(int64(g.Orbit(r.position))))
}

// find fills in the records of winning positions with the given pegs.
func (t *Table) find(pegs int, wanted map[solitaire.Position]*record) error {
	if pegs > len(t.search.winning) {
		return nil
	}
	return t.search.each(t.search.winning[pegs-1], pegs, func(r *record) {
		if _, ok := wanted[r.position]; ok {
			found := *r
			found.count = append([]uint32(nil), r.count...)
			wanted[r.position] = &found
		}
	})
}

// Shortest returns a solution with the fewest moves, jump by jump, and the number of moves; ok is
// false if there is no solution. It fails like Advise.
func (t *Table) Shortest(ctx context.Context) (jumps []solitaire.Jump, moves int, ok bool, err error) {
	s := State{t.Start, -1}
	for {
		a, err := t.Advise(ctx, s)
		if err != nil {
			return nil, 0, false, err
		}
		if len(jumps) == 0 {
			moves, ok = a.Moves, a.Solutions.Sign() > 0
		}
		if a.Best < 0 {
			if ok && bits.OnesCount64(s.Position) != 1 {
				return nil, 0, false, t.store.Damaged("", fmt.Errorf("no way on from %d pegs", bits.OnesCount64(s.Position)))
			}
			return jumps, moves, ok, nil
		}
		j := a.Jumps[a.Best]
		jumps = append(jumps, j)
		s = State{s.Position ^ j.Pegs(), j.To}
	}
}
