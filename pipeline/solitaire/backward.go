package solitaire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"grenier/layers/solitaire"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

// layerOf returns the layer with the given pegs, nil if play ends before.
func (s *search) layerOf(pegs int) *runs.Run {
	if i := s.first - pegs; i >= 0 && i < len(s.layers) {
		return s.layers[i]
	}
	return nil
}

// backward finds the winning positions, from one peg on, until there is a layer without any.
func (s *search) backward(ctx context.Context) error {
	if s.layerOf(1) == nil {
		return nil
	}
	r := s.runs(s.undone, s.backwardReached)
	if n := len(s.winning); n > 0 {
		if last := s.winning[n-1]; n < s.first && last.N > 0 {
			return r.Run(ctx, last)
		}
		return nil
	}
	solved, err := s.solved(s.layerOf(1))
	if err != nil {
		return err
	}
	return r.Start(ctx, solved)
}

// backwardReached takes over the winning positions of a layer.
func (s *search) backwardReached(next *runs.Run) (more bool) {
	s.winning = append(s.winning, next)
	return len(s.winning) < s.first && next.N > 0
}

// undone is the step from winning positions to those with one peg more.
func (s *search) undone(from *runs.Run) (*runs.Step, error) {
	pegs := len(s.winning)
	sum, err := s.sum(from, pegs)
	if err != nil {
		return nil, err
	}
	layer, words := s.layerOf(pegs+1), countAt+wordsFor(sum)
	left := uint64(0)
	for _, l := range s.layers[:s.first-pegs] {
		left += uint64(l.N)
	}
	s.begun = time.Now()
	return &runs.Step{
		From: from, Check: s.winningCheck(pegs), Chunk: chunk,
		At: func(done int) job.Step {
			share := uint64(float64(layer.N) * float64(done) / float64(from.N))
			return s.at(fmt.Sprintf("%d pegs, backward", pegs+1), share, uint64(layer.N), float64(left-share))
		},
		Expand: func(_ int, out *runs.Output) runs.Expander { return s.newUndoer(from.Stride, words, out) },
		Words:  words, Key: keyWords, Combine: combine,
		Prune: func(out *runs.Writer, last bool) (runs.Pruner, error) {
			if !last {
				return nil, nil
			}
			c, err := s.open(layer, pegs+1)
			return &filter{c, out}, err
		},
	}, nil
}

// filter keeps the records of positions that are in a layer.
type filter struct {
	layer *cursor
	out   *runs.Writer
}

// Take takes a record.
func (f *filter) Take(_ context.Context, row []uint32) error {
	p := position(row)
	for !f.layer.end && f.layer.position < p {
		if err := f.layer.next(); err != nil {
			return err
		}
	}
	if f.layer.end || f.layer.position != p {
		return nil
	}
	return f.out.Add(row)
}

// End does nothing.
func (f *filter) End(context.Context) error { return nil }

// solved returns the records of the positions of the last layer that are solutions.
func (s *search) solved(layer *runs.Run) (*runs.Run, error) {
	c, err := s.open(layer, 1)
	if err != nil {
		return nil, err
	}
	w := runs.NewWriter(s.store, countAt+1)
	row := make([]uint32, countAt+1)
	for ; !c.end; err = c.next() {
		if err != nil {
			return nil, err
		}
		if p := c.position; p&s.ends() != 0 {
			r := record{position: p, count: []uint32{uint32(s.group.Orbit(p))}}
			r.put(row)
			if err := w.Add(row); err != nil {
				return nil, err
			}
		}
	}
	return w.Finish()
}

// winningCheck returns a function that fails if a record cannot be the next one of winning positions
// with the given pegs.
func (s *search) winningCheck(pegs int) func(row []uint32) error {
	key := s.keyCheck(pegs)
	return func(row []uint32) error {
		if err := key(row); err != nil {
			return err
		}
		r := recordOf(row)
		if r.pegs&^r.position != 0 || r.moves >= uint32(pegs) || (r.pegs == 0) != (pegs == 1) {
			return s.damaged(r.position, fmt.Errorf("%d moves with the pegs %#x", r.moves, r.pegs))
		}
		if !slices.ContainsFunc(r.count, func(x uint32) bool { return x != 0 }) {
			return s.damaged(r.position, errors.New("no solution of a winning position"))
		}
		return nil
	}
}

// each calls do with the records of winning positions with the given pegs; they are valid until it
// returns. It fails if a record cannot be one.
func (s *search) each(from *runs.Run, pegs int, do func(r *record)) error {
	c, err := s.store.Open(from)
	if err != nil {
		return err
	}
	for check := s.winningCheck(pegs); c.Row != nil; {
		if err := check(c.Row); err != nil {
			return err
		}
		r := recordOf(c.Row)
		do(&r)
		if err := c.Next(); err != nil {
			return err
		}
	}
	return nil
}

// sum returns the sum of the numbers of solutions of a layer.
func (s *search) sum(from *runs.Run, pegs int) (*big.Int, error) {
	sum := new(big.Int)
	err := s.each(from, pegs, func(r *record) { sum.Add(sum, numberOf(r.count)) })
	return sum, err
}

// undoer is a worker that undoes jumps.
type undoer struct {
	*search
	from, stride int // words of records
	words        []uint32
	order        []place
	most         int // records
	out          *runs.Output
	jumps        []uint8
}

// place says where the record of a position is.
type place struct {
	position solitaire.Position
	at       int
}

// placeBytes is the memory of a place.
const placeBytes = 16

func (s *search) newUndoer(from, stride int, out *runs.Output) *undoer {
	u := &undoer{search: s, from: from, stride: stride, out: out}
	u.most = max(2*mostChildren, int((s.bufferBytes()-runs.WriterBytes)/int64(4*(4*stride+placeBytes)))) // growing lists are there twice, and once as garbage
	return u
}

// Expand takes records of winning positions.
func (u *undoer) Expand(ctx context.Context, words []uint32) error {
	b := u.Board
	for row := range slices.Chunk(words, u.from) {
		r := recordOf(row)
		if len(u.order)+mostChildren > u.most {
			if err := u.Flush(ctx); err != nil {
				return err
			}
		}
		u.jumps = b.Undo(u.jumps[:0], r.position)
		for _, number := range u.jumps {
			j := b.Jumps()[number]
			before, from := u.group.Place(r.position, int(number), j.From)
			u.add(&record{before, from, r.after(1<<j.To) + 1, r.count})
		}
	}
	return nil
}

// after returns the least number of moves when the peg in a hole, or in its images, has just jumped.
func (r *record) after(hole solitaire.Position) uint32 {
	if r.pegs&hole != 0 {
		return r.moves - 1
	}
	return r.moves
}

// add takes a record.
func (u *undoer) add(r *record) {
	at := len(u.words)
	u.words = slices.Grow(u.words, u.stride)[:at+u.stride]
	r.put(u.words[at:])
	u.order = append(u.order, place{r.position, at})
}

// Flush makes a run of the records found.
func (u *undoer) Flush(context.Context) error {
	slices.SortFunc(u.order, func(a, b place) int { return cmp.Compare(a.position, b.position) })
	for i := 0; i < len(u.order); {
		first := u.order[i]
		row := u.words[first.at : first.at+u.stride]
		for i++; i < len(u.order) && u.order[i].position == first.position; i++ {
			combine(row, u.words[u.order[i].at:][:u.stride])
		}
		if err := u.out.Add(row); err != nil {
			return err
		}
	}
	u.words, u.order = u.words[:0], u.order[:0]
	return u.out.End()
}
