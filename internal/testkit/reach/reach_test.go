package reach_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"grenier/internal/testkit/reach"
	"grenier/layers"
	"grenier/layers/awari"
)

// ring is a cycle of states in layer 1 with a way out: state i leads to i+1 modulo size,
// and the state in the middle also to a dead end in layer 0.
type ring struct{ size int }

func (ring) Name() string { return "ring" }
func (ring) Layers() int  { return 3 }

func (r ring) Size(layer int) uint64 { return [3]uint64{1, uint64(r.size), 5}[layer] }

func (ring) Rank(s [2]int) (int, uint64)          { return s[0], uint64(s[1]) }
func (ring) Unrank(layer int, rank uint64) [2]int { return [2]int{layer, int(rank)} }
func (ring) Terminal([2]int) int                  { return 0 }
func (r ring) Predecessors(d [][2]int, s [2]int) [][2]int {
	if s[0] != 1 {
		return d
	}
	return append(d, [2]int{1, (s[1] + r.size - 1) % r.size})
}

func (r ring) Successors(d []layers.Move[[2]int], s [2]int) []layers.Move[[2]int] {
	if s[0] != 1 {
		return d
	}
	d = append(d, layers.Move[[2]int]{To: [2]int{1, (s[1] + 1) % r.size}})
	if s[1] == r.size/2 {
		d = append(d, layers.Move[[2]int]{Reward: 1})
	}
	return d
}

func TestStartCountsWhenPlayReturns(t *testing.T) {
	const size = 130 // more than two words of bits
	set, err := reach.From(t.Context(), ring{size}, [2]int{1, 64})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Counts(); !slices.Equal(got, []uint64{1, size, 0}) {
		t.Errorf("counts %v, want 1, %d, 0", got, size)
	}
	depths := set.Depths()
	if len(depths) != size+1 || depths[0] != 0 || depths[1] != 1 || depths[2] != 2 || depths[size] != 1 {
		t.Errorf("depths %v, want 0, 1, 2 (the ring and the dead end), then 1 up to depth %d", depths, size)
	}
	if !set.Contains([2]int{1, 64}) || !set.Contains([2]int{0, 0}) || set.Contains([2]int{2, 0}) {
		t.Error("the set should hold the start and the dead end, but nothing of layer 2")
	}
}

func TestStartDoesNotCountOtherwise(t *testing.T) {
	set, err := reach.From(t.Context(), ring{4}, [2]int{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if set.Contains([2]int{0, 0}) || !slices.Equal(set.Counts(), []uint64{0, 0, 0}) || !slices.Equal(set.Depths(), []uint64{0}) {
		t.Errorf("from a dead end: counts %v, depths %v, want nothing", set.Counts(), set.Depths())
	}
}

// mapSearch is the same search with a map and a list of states for each depth.
func mapSearch(space *awari.Space, start awari.Board) (depth map[awari.Board]int) {
	depth = map[awari.Board]int{}
	now := []awari.Board{start}
	for d := 1; len(now) > 0; d++ {
		var next []awari.Board
		for _, b := range now {
			for _, m := range space.Successors(nil, b) {
				if _, known := depth[m.To]; !known {
					depth[m.To] = d
					next = append(next, m.To)
				}
			}
		}
		now = next
	}
	return depth
}

func TestAwariEqualsMapSearch(t *testing.T) {
	for _, c := range []struct{ pits, perPit int }{{4, 1}, {4, 3}, {4, 12}, {6, 2}, {6, 3}, {8, 1}, {10, 1}} {
		for _, rules := range []awari.Rules{awari.Awari, awari.Strict} {
			game, err := awari.New(c.pits, rules)
			if err != nil {
				t.Fatal(err)
			}
			space, err := awari.NewSpace(game, c.pits*c.perPit)
			if err != nil {
				t.Fatal(err)
			}
			start, err := game.Start(c.perPit)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, space, start)
		}
	}
}

func compare(t *testing.T, space *awari.Space, start awari.Board) {
	t.Helper()
	set, err := reach.From(t.Context(), space, start)
	if err != nil {
		t.Fatal(err)
	}
	known := mapSearch(space, start)
	counts, depths := make([]uint64, space.Layers()), make([]uint64, len(set.Depths()))
	for b, depth := range known {
		counts[b.Seeds()]++
		if depth >= len(depths) {
			t.Fatalf("%s: %v needs %d moves, the search stopped after %d", space.Name(), b, depth, len(depths)-1)
		}
		depths[depth]++
		if !set.Contains(b) {
			t.Fatalf("%s: %v was not reached", space.Name(), b)
		}
	}
	if !slices.Equal(set.Counts(), counts) || !slices.Equal(set.Depths(), depths) {
		t.Errorf("%s from %v: counts %v, depths %v, want %v, %v",
			space.Name(), start, set.Counts(), set.Depths(), counts, depths)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reach.From(ctx, ring{10_000}, [2]int{1, 0}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled search: %v, want context.Canceled", err)
	}
}
