package tables

import (
	"context"
	"errors"
	"iter"

	"grenier/io/crew"
	"grenier/kernels/boards"
)

// Read fills dst with the scores of layer n from rank start on, in colex order.
// It does not use the cache, which long reads would only empty. On a web server it asks for 16 blocks at a time;
// on a disk it works in the goroutine of the caller, and several calls at a time are faster. It fails like
// File, or with ErrRange.
func (t *Tables) Read(ctx context.Context, n int, start uint64, dst []int8) error {
	f, err := t.checkedFile(ctx, n)
	if err != nil {
		return err
	}
	return t.readOf(ctx, n, f, start, dst)
}

// readOf is Read of a file of layer n, of its scores or its distances.
func (t *Tables) readOf(ctx context.Context, n int, f *file, start uint64, dst []int8) error {
	if size := t.space.Size(n); t.distant && start <= size && uint64(len(dst)) <= size-start {
		return t.readAhead(ctx, f, start, dst)
	}
	return t.readPart(ctx, f, start, dst)
}

// readPart reads in order.
func (t *Tables) readPart(ctx context.Context, f *file, start uint64, dst []int8) error {
	d := t.decoders.Take(f.File)
	defer t.decoders.Put(d)
	return d.Read(ctx, dst, start)
}

// readAhead reads several blocks at the same time.
func (t *Tables) readAhead(ctx context.Context, f *file, start uint64, dst []int8) error {
	first, skip := f.place(start)
	blocks := (skip + len(dst) + int(f.blockSize) - 1) / int(f.blockSize)
	return crew.Each(ctx, t.workers(), blocks, func(_, i int) error {
		from := max((first+uint64(i))*f.blockSize, start)
		to := min((first+uint64(i)+1)*f.blockSize, start+uint64(len(dst)))
		return t.readPart(ctx, f, from, dst[from-start:to-start])
	})
}

// ReadOne returns the score of layer n that has a rank in colex order. It decodes no more of the block than it needs, and does
// not use the cache: it is the faster way if no more than three scores of a block are wanted, ever; Score decodes all
// of the block, and has its other scores at hand afterwards. It fails like Read.
func (t *Tables) ReadOne(ctx context.Context, n int, rank uint64) (int8, error) {
	f, err := t.checkedFile(ctx, n)
	if err != nil {
		return 0, err
	}
	d := t.decoders.Take(f.File)
	defer t.decoders.Put(d)
	return d.Score(ctx, rank)
}

// Entry is a board and its score.
type Entry struct {
	Board Board
	Score int8
}

// Boards returns all boards with some seeds, in the order of their ranks, and their scores. Blocks are decoded ahead, on
// all CPUs, and on a web server 16 are asked for at a time; the cache is not used. An error ends the sequence: the last pair has it
// and no board. Boards fails like File or Read.
//
//	for e, err := range t.Boards(ctx, 5) {
//		if err != nil {
//			return err
//		}
//		sum += int(e.Score)
//	}
func (t *Tables) Boards(ctx context.Context, seeds int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := t.boards(ctx, seeds, func(e Entry) bool { return yield(e, nil) }); err != nil {
			yield(Entry{}, err)
		}
	}
}

// boards yields the boards with n seeds until it is told to stop.
func (t *Tables) boards(ctx context.Context, n int, yield func(Entry) bool) error {
	f, err := t.checkedFile(ctx, n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := t.stream(ctx, f, n)
	defer s.Stop()
	defer cancel() // before Stop waits for what is being read
	all, err := boards.New(t.space.Pits(), n)
	if err != nil {
		return err
	}
	next, some := all.First(), make([]uint8, int(f.blockSize)*t.space.Pits())
	for {
		scores, err := s.Next()
		if errors.Is(err, crew.ErrNoMore) {
			return nil
		}
		if err != nil {
			return err
		}
		next = all.Iterate(some[:len(*scores)*t.space.Pits()], next)
		for i, score := range *scores {
			e := Entry{Score: score}
			copy(e.Board[:], some[i*t.space.Pits():][:t.space.Pits()])
			if !yield(e) {
				return nil
			}
		}
	}
}

// stream decodes the blocks of layer n.
func (t *Tables) stream(ctx context.Context, f *file, n int) *crew.Stream[*[]int8] {
	spare := make([]*[]int8, 2*t.workers())
	for i := range spare {
		scores := make([]int8, f.blockSize)
		spare[i] = &scores
	}
	size := t.space.Size(n)
	s := crew.NewStream(ctx, t.workers(), spare, func(_, i int, scores *[]int8) error {
		start := uint64(i) * f.blockSize
		*scores = (*scores)[:min(f.blockSize, size-start)]
		return t.readPart(ctx, f, start, *scores)
	})
	s.Go(func() error {
		defer s.End()
		for range f.NumBlocks() {
			if _, err := s.Free(); err != nil {
				return err
			}
			s.Send()
		}
		return nil
	})
	return s
}
