package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Stdout is how stdin and stdout are called where a file is named.
const Stdout = "-"

// Output is stdout. It remembers the first failure to write, so that an answer
// that was cut short is not taken for a whole one.
type Output struct {
	w   io.Writer
	err error
}

// Write passes p on, until that fails.
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

// Broken reports whether writing has failed, so that there is no use in more.
func (o *Output) Broken() bool { return o.err != nil }

// errUnread says that nobody reads any more what is written.
var errUnread = errors.New("nobody reads the output any more")

// watched is stdout or stderr. When whoever read it has gone, the command ends.
type watched struct {
	io.Writer
	end context.CancelCauseFunc
}

func (a *App) watch(w io.Writer) *watched { return &watched{w, a.end} }

// Write passes p on.
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
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// bare returns what a stream of App writes to.
func bare(w io.Writer) io.Writer {
	if out, ok := w.(*Output); ok {
		w = out.w
	}
	if seen, ok := w.(*watched); ok {
		w = seen.Writer
	}
	return w
}
