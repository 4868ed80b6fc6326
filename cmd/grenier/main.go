// Command grenier solves awari exactly, layer by layer, and answers questions
// about the solved layers. This directory is the command line: one file for each
// command, which reads flags, calls a package that does the work, and prints. It
// has no logic of its own.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// app is what commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	// running is set once the command line is accepted: errors before that are
	// about usage.
	running bool
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, out: out, err: errs}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.running {
		err = usageError{err}
	}
	status := statusOf(ctx, err)
	if message := describe(err, status); message != "" {
		fmt.Fprintln(errs, "grenier: "+message)
	}
	return status
}

// describe returns err in one line.
func describe(err error, status int) string {
	switch {
	case err == nil:
		return ""
	case status == exitInterrupted:
		return "interrupted; sealed layers are kept, the same command continues"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
