package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/awari"
	"grenier/pipeline/job"
)

// numbered has scores that follow from layer and rank, and counts how often it was asked.
type numbered struct {
	game   awari.Game
	seeds  int
	blocks int // reads of blocks
	ones   int // reads of single scores
}

// newNumbered returns layers of 12 pits up to some seeds.
func newNumbered(t *testing.T, seeds int) *numbered {
	t.Helper()
	game := must.Get(awari.New(12, awari.Awari))(t)
	return &numbered{game: game, seeds: seeds}
}

func (s *numbered) Game() awari.Game { return s.game }
func (s *numbered) MaxSeeds() int    { return s.seeds }

func numberedScore(n int, rank uint64) int8 {
	return int8(int(rank*0x9e3779b97f4a7c15>>40)%(2*n+1) - n)
}

func (s *numbered) Read(_ context.Context, n int, rank uint64, dst []int8) error {
	s.blocks++
	for i := range dst {
		dst[i] = numberedScore(n, rank+uint64(i))
	}
	return nil
}

func (s *numbered) ReadOne(_ context.Context, n int, rank uint64) (int8, error) {
	s.ones++
	return numberedScore(n, rank), nil
}

// TestBlocksGiveWay reads more blocks than fit, again and again: a score is right wherever it comes from, also through a place that
// was asked for before its block gave way.
func TestBlocksGiveWay(t *testing.T) {
	for _, blocks := range []int{1, 3, 20} {
		s := NewBlocks(newNumbered(t, 11), int64(blocks)*BlockBytes)
		random := rand.New(rand.NewPCG(7, uint64(blocks)))
		type asked struct {
			at    *int8
			score int8
		}
		var before []asked
		for range 200 {
			n := 9 + random.IntN(3)
			rank := random.Uint64N(s.mover.size(n))
			want := numberedScore(n, rank)
			if at := s.peek(n, rank); at != nil {
				must.Equal(t, *at, want, "%d blocks: rank %d of layer %d in memory", blocks, rank, n)
				before = append(before, asked{at, want})
				continue
			}
			got, err := s.read(t.Context(), n, rank)
			must.Hold(t, err == nil && got == want, "%d blocks: rank %d of layer %d: %d, %v, want %d", blocks, rank, n, got, err, want)
		}
		for _, x := range before {
			must.Hold(t, *x.at == x.score, "%d blocks: a place has %d, had %d", blocks, *x.at, x.score)
		}
		should.Not(t, len(before) == 0 && blocks > 1, "%d blocks: no score was found in memory", blocks)
	}
}

// TestBlocksAllFit: as much memory as all scores take is enough for none to give way, and no more is taken; each block is read once.
func TestBlocksAllFit(t *testing.T) {
	scores := newNumbered(t, 11)
	s := NewBlocks(scores, 1<<40)
	blocks, bytes := 0, s.Bytes()
	s = NewBlocks(scores, bytes)
	for n := range 12 {
		blocks += int(s.count(n))
	}
	for range 2 {
		for n := range 12 {
			for rank := uint64(0); rank < s.mover.size(n); rank += BlockBytes {
				if at := s.peek(n, rank); at != nil && *at != numberedScore(n, rank) {
					t.Fatalf("rank %d of layer %d in memory: %d", rank, n, *at)
				} else if at == nil {
					if got, err := s.read(t.Context(), n, rank); err != nil || got != numberedScore(n, rank) {
						t.Fatalf("rank %d of layer %d: %d, %v", rank, n, got, err)
					}
				}
			}
		}
	}
	should.Hold(t, scores.blocks == blocks && scores.ones == 0,
		"%d of %d blocks were read, and %d scores", scores.blocks, blocks, scores.ones)
	chunk := int(chunkOf(int64(blocks)))
	if chunks := (blocks + chunk - 1) / chunk * chunk; int64(chunks)*BlockBytes > bytes || s.Bytes() != bytes {
		t.Errorf("%d blocks in chunks of %d take more than %d bytes; %d", blocks, chunk, bytes, s.Bytes())
	}
	less := NewBlocks(scores, bytes-1)
	should.Not(t, less.patience == 1 || less.Bytes() >= bytes, "with a byte less: patience %d, %d bytes", less.patience, less.Bytes())
}

// TestBlocksPatience: a block is decoded once enough of its scores were asked for, and again after it has given way.
func TestBlocksPatience(t *testing.T) {
	scores := newNumbered(t, 11)
	s := NewBlocks(scores, BlockBytes)
	for round := 1; round <= 3; round++ {
		for range onePrice {
			must.Hold(t, s.peek(11, 70000) == nil, "round %d: in memory already", round)
			got, err := s.read(t.Context(), 11, 70000)
			must.Hold(t, err == nil && got == numberedScore(11, 70000), "%v %v", got, err)
		}
		must.Hold(t, s.peek(11, 70001) != nil && scores.blocks == 2*round-1 && scores.ones == (2*round-1)*(onePrice-1),
			"round %d: %d blocks, %d scores", round, scores.blocks, scores.ones)
		for range onePrice { // another one takes its place
			must.OK(t, must.Err(s.read(t.Context(), 10, 7)))
		}
	}
}

// TestBlocksAreGivenUp searches with fewer blocks than it reads, by all means: those that gave way are garbage, so that all that is left
// are as many bytes as the store was given.
func TestBlocksAreGivenUp(t *testing.T) {
	const room = 32 * BlockBytes
	scores := newNumbered(t, 16)
	blocks := NewBlocks(scores, room)
	stop := context.CancelFunc(nil)
	e := New(blocks, Options{Bytes: 4 << 20, Job: job.Job{Progress: func(job.Step) {
		if scores.blocks > 1000 {
			stop()
		}
	}}})
	before := heapInUse()
	for b := (awari.Board{2, 1, 3, 0, 2, 1, 1, 4, 0, 2, 3, 1}); scores.blocks <= 1000; b[0]++ {
		ctx, cancel := context.WithCancel(t.Context())
		stop = cancel
		_, err := e.Search(ctx, b, Limits{})
		cancel()
		must.Not(t, err != nil && !errors.Is(err, context.Canceled), "%v", err)
	}
	grown := heapInUse() - before
	should.Not(t, grown > room+1<<20, "%d bytes more after %d blocks were read, the store has %d", grown, scores.blocks, room)
	runtime.KeepAlive(e)
}

// heapInUse returns the bytes of the heap that are in use.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
