package solitaire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"grenier/layers/solitaire"
	"grenier/pipeline/internal/runs"
)

// layerOf returns the layer of so many pegs, nil if play ends before.
func (s *search) layerOf(pegs int) *runs.Run {
	if i := s.first - pegs; i >= 0 && i < len(s.layers) {
		return s.layers[i]
	}
	return nil
}

// backward finds the winning positions, from one peg on, until there is a layer without any.
func (s *search) backward(ctx context.Context) error {
	s.seen = 0
	if s.layerOf(1) == nil {
		return nil
	}
	for pegs := range len(s.winning) {
		s.seen += uint64(s.layerOf(pegs + 1).N)
	}
	for len(s.winning) < s.first && (len(s.winning) == 0 || s.winning[len(s.winning)-1].N > 0) {
		layer := s.layerOf(len(s.winning) + 1)
		next, err := s.before(ctx, layer)
		if err != nil {
			return err
		}
		s.winning = append(s.winning, next)
		s.seen += uint64(layer.N)
		if err := s.commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// total returns the number of positions in all layers.
func (s *search) total() (n uint64) {
	for _, l := range s.layers {
		n += uint64(l.N)
	}
	return n
}

// before returns the winning positions of a layer with one peg more than those that are known.
func (s *search) before(ctx context.Context, layer *runs.Run) (*runs.Run, error) {
	pegs := len(s.winning)
	if pegs == 0 {
		return s.solved(layer)
	}
	from := s.winning[pegs-1]
	sum, err := s.sum(from, pegs)
	if err != nil {
		return nil, err
	}
	stride := countAt + wordsFor(sum)
	send := func(ctx context.Context, work chan<- []uint32) error { return s.records(ctx, from, pegs, work) }
	found, err := runs.Collect(ctx, s.Threads, send, func(ctx context.Context, _ int, work <-chan []uint32, keep func(*runs.Run)) error {
		u := s.newUndoer(from.Stride, stride, keep)
		for words := range work {
			if err := u.undo(ctx, words); err != nil {
				return err
			}
		}
		return u.flush()
	})
	if err != nil {
		return nil, err
	}
	return s.mergeAll(ctx, found, stride, combine, layer, pegs+1)
}

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

// each calls do with the records of winning positions with so many pegs; they are valid until it
// returns. It fails like do, and if a record cannot be one.
func (s *search) each(from *runs.Run, pegs int, do func(r *record, row []uint32) error) error {
	c, err := s.store.Open(from)
	if err != nil {
		return err
	}
	before := solitaire.Position(0)
	for n := 0; c.Row != nil; n++ {
		r := recordOf(c.Row)
		err := s.checkKey(r.position, before, n == 0, pegs)
		if err == nil && (r.pegs&^r.position != 0 || r.moves >= uint32(pegs) || (r.pegs == 0) != (pegs == 1)) {
			err = fmt.Errorf("%d moves with the pegs %#x of %#x", r.moves, r.pegs, r.position)
		}
		if err == nil && !slices.ContainsFunc(r.count, func(x uint32) bool { return x != 0 }) {
			err = errors.New("no solution of a winning position")
		}
		if err != nil {
			return s.store.Damaged(fmt.Sprintf("winning record %d with %d pegs", n, pegs), err)
		}
		before = r.position
		if err := do(&r, c.Row); err != nil {
			return err
		}
		if err := c.Next(); err != nil {
			return err
		}
	}
	return nil
}

// sum returns the sum of the numbers of solutions of a layer.
func (s *search) sum(from *runs.Run, pegs int) (*big.Int, error) {
	sum := new(big.Int)
	err := s.each(from, pegs, func(r *record, _ []uint32) error {
		sum.Add(sum, numberOf(r.count))
		return nil
	})
	return sum, err
}

// records sends those of a layer, one behind the other.
func (s *search) records(ctx context.Context, from *runs.Run, pegs int, work chan<- []uint32) error {
	var words []uint32
	done := 0
	send := func() error {
		select {
		case work <- words:
		case <-ctx.Done():
			return ctx.Err()
		}
		words = nil
		layer := s.layerOf(pegs + 1)
		share := uint64(float64(layer.N) * float64(done) / float64(from.N))
		s.report(Progress{Backward: true, Pegs: pegs + 1, Done: share, Total: uint64(layer.N), Left: int64(s.total() - s.seen - share)})
		return nil
	}
	err := s.each(from, pegs, func(_ *record, row []uint32) error {
		words = append(words, row...)
		if done++; done%chunk == 0 {
			return send()
		}
		return nil
	})
	if err != nil || len(words) == 0 {
		return err
	}
	return send()
}

// undoer is a worker that undoes jumps.
type undoer struct {
	*search
	from, stride int // words of records
	words        []uint32
	order        []place
	most         int // records
	out          *runs.Writer
	keep         func(*runs.Run)
	jumps        []uint8
}

// place says where the record of a position is.
type place struct {
	position solitaire.Position
	at       int
}

// placeBytes is the memory of a place.
const placeBytes = 16

func (s *search) newUndoer(from, stride int, keep func(*runs.Run)) *undoer {
	u := &undoer{search: s, from: from, stride: stride, keep: keep, out: runs.NewWriter(s.store, stride)}
	u.most = max(2*mostChildren, int((s.bufferBytes()-runs.WriterBytes)/int64(4*(4*stride+placeBytes)))) // growing lists are there twice, and once as garbage
	return u
}

// undo takes records of winning positions, one behind the other.
func (u *undoer) undo(ctx context.Context, words []uint32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := u.Board
	for row := range slices.Chunk(words, u.from) {
		r := recordOf(row)
		if len(u.order)+mostChildren > u.most {
			if err := u.flush(); err != nil {
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

// flush makes a run of what was found.
func (u *undoer) flush() error {
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
	r, err := u.out.Finish()
	if err != nil {
		return err
	}
	if r.N > 0 {
		u.keep(r)
	}
	u.words, u.order = u.words[:0], u.order[:0]
	return nil
}
