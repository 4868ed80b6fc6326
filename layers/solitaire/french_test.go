package solitaire

import (
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestFrench plays the solutions of testdata: of all games on the French board with one hole empty
// at the start and one peg left, those can be solved that sums modulo 2 do not exclude, and
// no others. 16 of the 37 starts can be solved.
func TestFrench(t *testing.T) {
	b := Named(French)
	text := must.Read(t, "testdata/french.txt")
	solved := map[[2]int]bool{} // start and end
	for line := range strings.Lines(string(text)) {
		names := strings.Fields(line)
		if names[0] == "#" {
			continue
		}
		start, end := hole(t, b, names[0]), hole(t, b, names[1])
		p := b.Full() &^ (1 << start)
		for _, name := range names[2:] {
			from, to, _ := strings.Cut(name, "-")
			j := must.Get(b.FindJump(p, hole(t, b, from), hole(t, b, to)))(t)
			p ^= j.Pegs()
		}
		if p != 1<<end {
			t.Errorf("%s to %s: %#x is left", names[0], names[1], p)
		}
		for _, m := range b.Symmetries() {
			solved[[2]int{int(m[start]), int(m[end])}] = true
		}
	}
	starts := 0
	for start := range b.Holes() {
		ends := 0
		for end := range b.Holes() {
			same := b.SameParity(b.Full()&^(1<<start), 1<<end)
			if same != solved[[2]int{start, end}] {
				t.Errorf("%s to %s: possible by parity %v, solved %v", b.HoleName(start), b.HoleName(end), same, !same)
			}
			if same {
				ends++
			}
		}
		if ends > 0 {
			starts++
		}
	}
	should.Hold(t, starts == 16, "%d starts can be solved, want 16", starts)
}

// hole returns the hole of that name.
func hole(t *testing.T, b *Board, name string) int {
	t.Helper()
	return must.Get(b.Hole(name))(t)
}
