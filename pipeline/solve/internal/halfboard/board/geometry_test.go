package board

import (
	"slices"
	"testing"

	"grenier/internal/testkit/must"
)

// TestCodesNumberTheHalves looks every half up by its code, its place and its
// row.
func TestCodesNumberTheHalves(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		if count := int(g.Halves.Half().First(g.N + 1)); len(g.Pits) != count || len(g.places) != count {
			t.Fatalf("%d pits: %d halves, %d places, want %d", g.Q, len(g.Pits), len(g.places), count)
		}
		for code, h := range g.Pits {
			want := make([]uint8, g.Q)
			sum, err := g.Halves.Half().Decode(uint64(code), want)
			must.Hold(t, err == nil && slices.Equal(h[:g.Q], want) && h.Sum() == sum && g.Code(&h) == uint32(code),
				"code %d is %v, want %v (%v)", code, h, want, err)
			class := FullRows
			if slices.Contains(want, 0) {
				class = OpenRows
			}
			if at := g.Place(uint32(code)); at.Class != class || g.Rows[sum][class][at.Row] != uint32(code) {
				t.Fatalf("%v is not in row %d of class %d", want, at.Row, at.Class)
			}
		}
	})
}

// cutSizes are bounds on runs.
var cutSizes = []int{1, 2, 3, 7, 20, 56, 64, 100, 300, 1000, 1 << 20}

// eachCut calls check for every sum of every geometry, cut in many ways. ends
// lists where the runs end.
func eachCut(t *testing.T, check func(g *Geometry, sum, size int, ends []int)) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		for sum := range g.N + 1 {
			for _, size := range cutSizes {
				end := 0
				var ends []int
				for _, count := range cut(g.Q, sum, size) {
					end += count
					ends = append(ends, end)
				}
				check(g, sum, size, ends)
			}
		}
	})
}

// like returns the number of halves of a sum that hold the same as a and b behind
// the last pit in which these differ, and there what they hold or something between.
func (g *Geometry) like(sum int, a, b Half) int {
	pit := g.Q - 1
	for pit > 0 && a[pit] == b[pit] {
		pit--
	}
	n := 0
	for _, h := range g.Pits[g.first(sum):][:g.columns(sum)] {
		if h[pit] >= min(a[pit], b[pit]) && h[pit] <= max(a[pit], b[pit]) && slices.Equal(h[pit+1:], a[pit+1:]) {
			n++
		}
	}
	return n
}

// TestRunsAreNatural: runs cover a sum, none is too long, each holds all halves
// with some content of the last pits, and no two neighbours could be one.
func TestRunsAreNatural(t *testing.T) {
	eachCut(t, func(g *Geometry, sum, size int, ends []int) {
		if ends[len(ends)-1] != g.columns(sum) {
			t.Fatalf("%d pits, sum %d, at most %d: runs end at %d of %d", g.Q, sum, size, ends[len(ends)-1], g.columns(sum))
		}
		halves := g.Pits[g.first(sum):]
		begin, before := 0, 0
		for i, end := range ends {
			first, last := halves[begin], halves[end-1]
			if n := g.like(sum, first, last); n != end-begin || n > size {
				t.Fatalf("%d pits, at most %d: %v to %v are %d halves of %d", g.Q, size, first, last, end-begin, n)
			}
			if i > 0 && end-before <= size && g.like(sum, halves[before], last) == end-before {
				t.Fatalf("%d pits, at most %d: %v to %v are two runs", g.Q, size, halves[before], last)
			}
			begin, before = end, begin
		}
	})
}

// shared returns what halves have in common: the last pits in which all agree, and
// of the pit before the least content.
func shared(q int, halves []Half) Half {
	common := halves[0]
	for pit := q - 1; pit >= 0; pit-- {
		same := true
		for _, h := range halves {
			same = same && h[pit] == common[pit]
			common[pit] = min(common[pit], h[pit])
		}
		if !same {
			clear(common[:pit])
			break
		}
	}
	return common
}

func TestSuffixIsWhatHalvesShare(t *testing.T) {
	eachCut(t, func(g *Geometry, sum, size int, ends []int) {
		begin := 0
		for _, end := range ends {
			first := g.first(sum) + uint32(begin)
			want := shared(g.Q, g.Pits[first:][:end-begin])
			if got := g.suffix(first, end-begin); got != want {
				t.Fatalf("%d pits, sum %d: %d halves from %v on share %v, want %v", g.Q, sum, end-begin, g.Pits[first], got, want)
			}
			begin = end
		}
	})
}
