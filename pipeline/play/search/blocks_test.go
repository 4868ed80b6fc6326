package search

import (
	"math/rand/v2"
	"testing"

	"grenier/layers/awari"
)

// numbered has scores that follow from layer and rank.
type numbered struct{ game awari.Game }

func (s numbered) Game() awari.Game { return s.game }
func (numbered) MaxSeeds() int      { return 11 }

func numberedScore(n int, rank uint64) int8 {
	return int8(int(rank*0x9e3779b97f4a7c15>>40)%(2*n+1) - n)
}

func (numbered) Read(n int, rank uint64, dst []int8) error {
	for i := range dst {
		dst[i] = numberedScore(n, rank+uint64(i))
	}
	return nil
}

// TestBlocksGiveWay reads more blocks than fit, again and again: a score is right wherever it comes from, also through a place that
// was asked for before its block gave way, and no more blocks are kept than may be.
func TestBlocksGiveWay(t *testing.T) {
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	for _, blocks := range []int{1, 3, 20} {
		s := NewBlocks(numbered{game}, int64(blocks)*BlockBytes)
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
				if *at != want {
					t.Fatalf("%d blocks: rank %d of layer %d in memory: %d, want %d", blocks, rank, n, *at, want)
				}
				before = append(before, asked{at, want})
				continue
			}
			if got, err := s.read(n, rank); err != nil || got != want {
				t.Fatalf("%d blocks: rank %d of layer %d: %d, %v, want %d", blocks, rank, n, got, err, want)
			}
		}
		for _, x := range before {
			if *x.at != x.score {
				t.Fatalf("%d blocks: a place has %d, had %d", blocks, *x.at, x.score)
			}
		}
		inMemory := 0
		for n := range s.layers {
			if layer := s.layers[n].Load(); layer != nil {
				for i := range *layer {
					if (*layer)[i].Load() != nil {
						inMemory++
					}
				}
			}
		}
		if inMemory > blocks || len(before) == 0 && blocks > 1 {
			t.Errorf("%d blocks: %d in memory, %d scores found there", blocks, inMemory, len(before))
		}
	}
}
