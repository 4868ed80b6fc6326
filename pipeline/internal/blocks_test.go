// Package internal_test has the tests of small packages below, which take less time than it takes to link a program for each.
package internal_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/pipeline/internal/blocks"
)

const perLayer = 10

func newStore(limit, chunk int) *blocks.Store {
	return blocks.New(6, func(int) uint64 { return perLayer }, limit, chunk, false)
}

func mark(n int, block uint64) int8 { return int8(n*perLayer + int(block)) }

func fetch(s *blocks.Store, n int, block uint64) *blocks.Block {
	for {
		if b := s.Find(n, block); b != nil {
			return b
		}
		b := s.Room()
		for i := range b {
			b[i] = mark(n, block)
		}
		s.Keep(n, block, b)
	}
}

// TestLimit: no more blocks are in memory than may be, the newest are, and those that were kept at the same time count once.
func TestLimit(t *testing.T) {
	for _, limit := range []int{1, 3, 8} {
		for _, chunk := range []int{1, 2} {
			s := newStore(limit, chunk)
			for i := range 5 * perLayer {
				n, block := i/perLayer, uint64(i%perLayer)
				fetch(s, n, block)
				s.Keep(n, block, s.Room())
				for k := range i + 1 {
					found := s.Find(k/perLayer, uint64(k%perLayer)) != nil
					want := i-k < limit
					must.Hold(t, found == want, "limit %d, %d blocks: block %d is in memory: %v", limit, i+1, k, found)
				}
			}
		}
	}
}

// TestAsked counts from the time that a block was in memory.
func TestAsked(t *testing.T) {
	s := newStore(1, 1)
	for round := range 3 {
		for i := range uint32(3) {
			must.Equal(t, s.Asked(4, 7), i+1, "round %d", round)
		}
		fetch(s, 4, 7)
		fetch(s, 4, 8)
	}
}

// TestMemoryIsUsedAgain: what was given back, or came too late, is used again; what gave way is as soon as those have left who were reading
// then, and not before.
func TestMemoryIsUsedAgain(t *testing.T) {
	s := newStore(2, 1)
	b := s.Room()
	s.GiveBack(b)
	should.Hold(t, s.Room() == b, "memory given back is not used again")
	fetch(s, 0, 0)
	s.Keep(0, 0, b)
	should.Hold(t, s.Room() == b, "memory of a block that came too late is not used again")

	s = blocks.New(6, func(int) uint64 { return perLayer }, 1, 1, true)
	reader := s.Enter()
	first := fetch(s, 0, 0)
	must.Not(t, first == fetch(s, 0, 1) || fetch(s, 0, 2) == first, "memory that somebody reads is used again")
	reader.Leave()
	should.Hold(t, s.Room() == first, "memory that nobody reads is not used again")
}

// TestReaders: a score that was read between Enter and Leave belongs to its block, though memory is used again at once; where it is not, a
// block that somebody has found holds the same scores for ever, whatever gives way.
func TestReaders(t *testing.T) {
	for again, rounds := range map[bool]int{false: 150, true: 1000} {
		s := blocks.New(6, func(int) uint64 { return perLayer }, 3, 2, again)
		var group sync.WaitGroup
		memory, rooms := sync.Map{}, atomic.Int32{}
		for seed := range uint64(4) {
			group.Go(func() {
				random := rand.New(rand.NewPCG(seed, 2))
				held := map[*blocks.Block]int8{}
				holds := func(b *blocks.Block, mark int8) {
					should.Hold(t, b[0] == mark && b[blocks.Bytes-1] == mark, "a block of %d has %d and %d", mark, b[0], b[blocks.Bytes-1])
				}
				for range rounds {
					n, block := random.IntN(3), random.Uint64N(perLayer)
					reader := s.Enter()
					b := s.Find(n, block)
					if b != nil {
						holds(b, mark(n, block))
					}
					reader.Leave()
					if b == nil {
						b = s.Room()
						memory.Store(b, true)
						rooms.Add(1)
						for i := range b {
							b[i] = mark(n, block)
						}
						s.Keep(n, block, b)
					} else if !again {
						held[b] = mark(n, block)
					}
				}
				for b, mark := range held {
					holds(b, mark)
				}
			})
		}
		group.Wait()
		count := int32(0)
		memory.Range(func(any, any) bool { count++; return true })
		should.Not(t, again && count == rooms.Load(), "%d blocks, and none used memory again", count) // how many do depends on who waits for a processor
	}
}
