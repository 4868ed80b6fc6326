package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"grenier/io/vfs"
)

// Stdout stands for stdin or stdout where a file is named.
const Stdout = "-"

// Output is stdout. It remembers the first failure to write, so that a truncated answer is
// an error.
type Output struct {
	w   io.Writer
	err error
}

// NewOutput returns an output that goes to w.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write writes p, unless a write has failed before.
func (o *Output) Write(p []byte) (n int, err error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err = o.w.Write(p)
	if err != nil {
		o.err = fmt.Errorf("writing the answer: %w", err)
	}
	return n, o.err
}

// Broken reports whether a write has failed.
func (o *Output) Broken() bool { return o.err != nil }

// errUnread reports that the reader of stdout or stderr has closed it.
var errUnread = errors.New("output closed")

// watched is stdout or stderr. The command ends when its reader closes it.
type watched struct {
	io.Writer
	end context.CancelCauseFunc
}

func (a *App) watch(w io.Writer) *watched { return &watched{w, a.end} }

// Write writes p.
func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		w.end(errUnread)
	}
	return n, err
}

// IsTerminal reports whether w, which may be a stream of App, is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := bare(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// HasCursor reports whether w is a terminal that understands control sequences.
func HasCursor(w io.Writer) bool { return IsTerminal(w) && os.Getenv("TERM") != "dumb" }

// Unlimited is the width of an output that is no terminal.
const Unlimited = math.MaxInt

// WidthOf returns how many characters a line may have: one less than fit a line of the
// terminal w, since some begin a new one after the last, or Unlimited.
func WidthOf(w io.Writer) int {
	if !IsTerminal(w) {
		return Unlimited
	}
	width, _, err := term.GetSize(int(bare(w).(*os.File).Fd()))
	if err != nil || width <= 1 {
		width = 80 // the terminal does not say
	}
	return width - 1
}

// WriteFile writes data to the file at path, which is replaced, or to stdout if path is "-".
func (a *App) WriteFile(path string, data []byte) error {
	if path == Stdout {
		_, err := a.Out.Write(data)
		return err
	}
	return vfs.WriteFile(path, data)
}

// CheckFile fails, before the work, if no file can be written at path. Stdout and no path
// will do.
func CheckFile(path string) error {
	if path == "" || path == Stdout {
		return nil
	}
	return vfs.CheckFile(path)
}

// OneStdout refuses flags that send more than one thing to stdout. files are the values
// of flags that name files, by flag.
func OneStdout(asJSON bool, files map[string]string) error {
	var flags []string
	if asJSON {
		flags = append(flags, "--json")
	}
	for _, flag := range slices.Sorted(maps.Keys(files)) {
		if files[flag] == Stdout {
			flags = append(flags, flag+" -")
		}
	}
	if len(flags) > 1 {
		return Usagef("%s: only one of them can go to stdout", strings.Join(flags, " and "))
	}
	return nil
}

// bare returns the writer below a stream of App.
func bare(w io.Writer) io.Writer {
	if out, ok := w.(*Output); ok {
		w = out.w
	}
	if seen, ok := w.(*watched); ok {
		w = seen.Writer
	}
	return w
}
