package swap

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/layers/swap"
	"grenier/pipeline/swap/search"
)

// between is the time from one swap to the next on a terminal.
const between = 400 * time.Millisecond

// animation shows a solution swap by swap.
type animation struct {
	out      io.Writer
	terminal bool // each frame is drawn over the previous one
	color    bool // swapped tiles are shown in reverse, not only between brackets
	every    time.Duration
}

// newAnimation returns the animation for stdout.
func (a *app) newAnimation() animation {
	terminal := cli.HasCursor(a.Out)
	return animation{out: a.Out, terminal: terminal, color: terminal && os.Getenv("NO_COLOR") == "", every: between}
}

// Escape sequences of terminals.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	reverse    = "\x1b[7m"
	normal     = "\x1b[m"
)

// show shows all frames. It fails with the error of ctx, and always leaves the cursor of a
// terminal visible.
func (v animation) show(ctx context.Context, p swap.Puzzle, moves []swap.Swap) error {
	if v.terminal {
		fmt.Fprint(v.out, hideCursor)
		defer fmt.Fprint(v.out, showCursor)
	}
	for i, frame := range search.Frames(p, moves, v.mark) {
		if v.terminal && i > 0 {
			fmt.Fprintf(v.out, "\x1b[%dA", p.Grid.Rows()+1)
		}
		fmt.Fprintf(v.out, "%s%s\n", frame, v.caption(i, moves))
		if !v.terminal {
			fmt.Fprintln(v.out)
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(v.every):
		}
	}
	return ctx.Err()
}

// mark shows the text of a cell between brackets.
func (v animation) mark(cell string) string {
	text := "[" + cell[1:len(cell)-1] + "]"
	if v.color {
		return reverse + text + normal
	}
	return text
}

// caption says which swap led to frame i.
func (v animation) caption(i int, moves []swap.Swap) string {
	text := fmt.Sprintf("0 of %d", len(moves))
	if i > 0 {
		text = fmt.Sprintf("%d of %d: %d %d", i, len(moves), moves[i-1].A, moves[i-1].B)
	}
	if v.terminal {
		text += strings.Repeat(" ", 4) // clears the rest of a longer caption
	}
	return text
}
