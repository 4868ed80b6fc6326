//go:build !quick

package swap

import (
	"context"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/swap"
)

// TestLongAnimation solves 2 x 2 with two swaps: frame by frame, over each other on a terminal, with and without colors, and interrupted, when the
// cursor comes back.
func TestLongAnimation(t *testing.T) {
	puzzle, moves := must.Get(parsePuzzle(2, 2, []string{"2", "4", "3", "1"}))(t), []swap.Swap{{A: 1, B: 3}, {A: 0, B: 1}}
	var out strings.Builder
	must.OK(t, (animation{out: &out}).show(t.Context(), puzzle, moves))
	want := " 2  4 \n 3  1 \n0 of 2\n\n 2 [1]\n 3 [4]\n1 of 2: 1 3\n\n[1][2]\n 3  4 \n2 of 2: 0 1\n\n"
	should.Equal(t, out.String(), want)
	for color, cells := range map[bool][2]string{
		true: {"\x1b[7m[1]\x1b[m", "\x1b[7m[4]\x1b[m"}, false: {"[1]", "[4]"},
	} {
		out.Reset()
		must.OK(t, (animation{out: &out, terminal: true, color: color}).show(t.Context(), puzzle, moves[:1]))
		want := "\x1b[?25l 2  4 \n 3  1 \n0 of 1    \n\x1b[3A 2 " + cells[0] + "\n 3 " + cells[1] + "\n1 of 1: 1 3    \n\x1b[?25h"
		should.Equal(t, out.String(), want)
	}
	out.Reset()
	should.Be(t, animation{out: &out, terminal: true, every: between}.show(must.Ended(t), puzzle, moves), context.Canceled)
	should.Hold(t, strings.HasSuffix(out.String(), "0 of 2    \n\x1b[?25h"), "%q", out.String())
}
