// Command grenier solves awari exactly, layer by layer, and answers questions
// about the solved layers; it solves the swap puzzle and boards of chemin, and
// encodes set-ups of Pijersi. This directory is the command line: one file for
// each command (awari_solve.go is grenier awari solve), which reads flags, calls a
// package that does the work, and prints. It has no logic of its own. root.go has
// the commands, exit.go the exit statuses, main_test.go and testdata/script what
// tests need.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// app is what commands share.
type app struct {
	in  io.Reader
	out *output
	err io.Writer
	// running is set once the command line is accepted: errors before that are
	// about usage.
	running bool
	// resume says what an interrupt leaves behind, if anything.
	resume string
	// atEnd is called when the command has ended.
	atEnd []func()
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, out: &output{w: out}, err: errs}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(errs)
	cmd, err := root.ExecuteContextC(ctx)
	for _, undo := range slices.Backward(a.atEnd) {
		undo()
	}
	if err != nil && !a.running {
		err = usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
	}
	if err == nil || errors.Is(err, a.out.err) {
		err = a.out.err
	}
	status := statusOf(ctx, err)
	if err != nil {
		fmt.Fprintln(errs, "grenier: "+a.describe(err, status))
	}
	return status
}

// describe returns err in one line.
func (a *app) describe(err error, status int) string {
	if status == exitInterrupted {
		return "interrupted" + a.resume
	}
	return oneLine(err)
}

// oneLine returns the text of err in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// output is stdout. It remembers the first failure to write, so that an answer
// that was cut short is not taken for a whole one.
type output struct {
	w   io.Writer
	err error
}

// Write passes p on, until that fails.
func (o *output) Write(p []byte) (n int, err error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err = o.w.Write(p)
	if err != nil {
		o.err = fmt.Errorf("writing the answer: %w", err)
	}
	return n, o.err
}
