package bfs

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"grenier/kernels/crc32c"
	"grenier/layers/swap"
)

// Costs are nanoseconds of one worker, while as many as were sampled are at work.
type Costs struct {
	Visit  float64 // a word is pulled
	Pack   float64 // a word is packed, and its bytes are summed
	Unpack float64 // the newest states of a word are unpacked
}

// Sample measures a search of a grid without searching it: for about so long it
// pulls blocks of that grid whose states, and those of the blocks around them, are
// random, in memory that does not fit into caches near a processor. As many words
// have newest states as on average in a search.
func Sample(ctx context.Context, g *swap.Grid, workers int, long time.Duration) (c Costs, err error) {
	l, err := layoutOf(g)
	if err != nil {
		return c, err
	}
	s := newSearch(l, g, Options{Workers: workers})
	for p := range s.sides {
		for b := range s.sides[p].busy {
			s.sides[p].busy[b] = 1
		}
	}
	store := newSampled(s.tables.words)
	s.store = store
	if c.Visit, err = s.sampleVisits(ctx, long); err != nil {
		return c, err
	}
	c.Pack, c.Unpack, err = store.packing()
	return c, err
}

var errEnough = errors.New("enough")

// sampleVisits returns the nanoseconds of a worker that a word takes: the lower
// quartile of many blocks, since others use the machine too.
func (s *search) sampleVisits(ctx context.Context, long time.Duration) (float64, error) {
	var mu sync.Mutex
	var took []float64
	s.prepare(1)
	for begin := time.Now(); len(took) == 0 || time.Since(begin) < long; {
		err := s.parallel(ctx, span{0, int(s.layout.blocks())}, func(w *worker, blocks span) error {
			for b := blocks.first; b < blocks.end; b++ {
				start := time.Now()
				if err := w.pullAll(span{b, b + 1}); err != nil {
					return err
				}
				ns := float64(time.Since(start)) / float64(s.tables.words)
				mu.Lock()
				took = append(took, ns)
				mu.Unlock()
			}
			if time.Since(begin) >= long {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return 0, err
		}
	}
	return quartile(took), nil
}

// quartile returns a value that a quarter of a list is not above.
func quartile(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/4]
}

// sampled is a store with some blocks of random states instead of all.
type sampled struct {
	words  int
	blocks []states
}

const (
	sampledBytes = 32 << 20
	// sampledBusy is the share of words with newest states: newest / visits of
	// perWord.
	sampledBusy = 0.41
)

func newSampled(words int) *sampled {
	m := &sampled{words: words}
	rng := rand.New(rand.NewPCG(1, 2))
	for range min(4096, sampledBytes/(9*words)) {
		s := newStates(words)
		for w := range words {
			s.seen[w] = tailBits / 2
			if rng.Float64() < sampledBusy {
				s.newest[w] = rng.Uint64() & rng.Uint64() & (1<<tailBits - 1)
			}
		}
		m.blocks = append(m.blocks, s)
	}
	return m
}

// packing returns the nanoseconds for a word.
func (m *sampled) packing() (packing, unpacking float64, err error) {
	var b []byte
	newest := make([]uint64, m.words)
	var packs, unpacks []float64
	for _, s := range m.blocks[:min(len(m.blocks), 256)] {
		begin := time.Now()
		b = pack(b[:0], s)
		crc32c.Of(b)
		middle := time.Now()
		crc32c.Of(b)
		p, err := divide(b, m.words)
		if err != nil {
			return 0, 0, err
		}
		p.unpackNewest(newest)
		end := time.Now()
		packs = append(packs, float64(middle.Sub(begin))/float64(m.words))
		unpacks = append(unpacks, float64(end.Sub(middle))/float64(m.words))
	}
	return quartile(packs), quartile(unpacks), nil
}

func (m *sampled) newest(_, block int, _ *desk, _ int) ([]uint64, error) {
	return m.blocks[block%len(m.blocks)].newest, nil
}

func (m *sampled) load(_, block int, d *desk) error {
	if d.own.seen == nil {
		d.own = newStates(m.words)
	}
	copy(d.own.newest, m.blocks[block%len(m.blocks)].newest)
	copy(d.own.seen, m.blocks[block%len(m.blocks)].seen)
	d.states = d.own
	return nil
}

func (*sampled) tiles() int                                 { return 1 }
func (*sampled) enter(int, int)                             {}
func (*sampled) recall(span, *[2]flags, *desk) error        { return nil }
func (*sampled) damaged(err error) error                    { return err }
func (*sampled) recalled([]uint64) error                    { return nil }
func (*sampled) fill(span, []uint8, *desk) error            { return nil }
func (*sampled) open(int, span, iter.Seq[int], *desk) error { return nil }
func (*sampled) shut(int, *desk) error                      { return nil }
func (*sampled) save(int, int, *desk, bool, bool)           {}
func (*sampled) commit([]uint64, *[2]flags) error           { return nil }
func (*sampled) close() error                               { return nil }
