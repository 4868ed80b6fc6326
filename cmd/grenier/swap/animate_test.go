//go:build !quick

package swap

import (
	"context"
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/swap"
)

// square is 2 x 2 with two swaps that solve it.
func square(t *testing.T) (swap.Puzzle, []swap.Swap) {
	t.Helper()
	return must.Get(parsePuzzle(2, 2, []string{"2", "4", "3", "1"}))(t), []swap.Swap{{A: 1, B: 3}, {A: 0, B: 1}}
}

func TestLongAnimationLines(t *testing.T) {
	puzzle, moves := square(t)
	var out strings.Builder
	must.OK(t, (animation{out: &out}).show(t.Context(), puzzle, moves))
	want := " 2  4 \n 3  1 \n0 of 2\n\n 2 [1]\n 3 [4]\n1 of 2: 1 3\n\n[1][2]\n 3  4 \n2 of 2: 0 1\n\n"
	should.Equal(t, out.String(), want)
}

// TestLongAnimationTerminal draws the frames over each other, with and without colors.
func TestLongAnimationTerminal(t *testing.T) {
	puzzle, moves := square(t)
	for color, cells := range map[bool][2]string{
		true: {"\x1b[7m[1]\x1b[m", "\x1b[7m[4]\x1b[m"}, false: {"[1]", "[4]"},
	} {
		var out strings.Builder
		must.OK(t, (animation{out: &out, terminal: true, color: color}).show(t.Context(), puzzle, moves[:1]))
		want := "\x1b[?25l 2  4 \n 3  1 \n0 of 1    \n\x1b[3A 2 " + cells[0] + "\n 3 " + cells[1] + "\n1 of 1: 1 3    \n\x1b[?25h"
		should.Equal(t, out.String(), want)
	}
}

// TestLongAnimationInterrupted checks that the cursor comes back.
func TestLongAnimationInterrupted(t *testing.T) {
	puzzle, moves := square(t)
	ctx := must.Ended(t)
	var out strings.Builder
	err := animation{out: &out, terminal: true, every: between}.show(ctx, puzzle, moves)
	should.Hold(t, errors.Is(err, context.Canceled) && strings.HasSuffix(out.String(), "0 of 2    \n\x1b[?25h"), "%q, %v", out.String(), err)
}
