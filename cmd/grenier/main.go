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
	"strings"
	"syscall"

	"grenier/io/crew"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	signal.Ignore(syscall.SIGPIPE) // writing fails instead: see watch
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interrupts returns the signals that end a command in good order. That of a terminal
// that hangs up stays ignored if it is: nohup asks for that.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// app is what commands share.
type app struct {
	in  io.Reader
	out *output
	err io.Writer
	// running is set once the command line is accepted: errors before that are
	// about usage.
	running bool
	// command is the command that was run, "grenier awari solve" for instance.
	command string
	// resume says what an interrupt leaves behind, if anything.
	resume string
	// end ends the command for a reason other than an interrupt.
	end context.CancelCauseFunc
	// log is the path of the log that has the stack of a panic, if one has.
	log string
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a := &app{in: in, end: end}
	a.out, a.err = &output{w: a.watch(out)}, a.watch(errs)
	err := crew.Run(func() error { return a.execute(ctx, args) })
	if err == nil || errors.Is(err, a.out.err) {
		err = a.out.err
	}
	err = causeOf(ctx, err)
	status := statusOf(ctx, err)
	if err != nil {
		fmt.Fprintln(errs, "grenier: "+a.describe(err, status))
	}
	return status
}

// execute runs the command that args name.
func (a *app) execute(ctx context.Context, args []string) error {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	a.command = cmd.CommandPath()
	if err != nil && !a.running {
		err = usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
	}
	return err
}

// causeOf returns why a command ended that returned err: what ended its context, if
// that was no signal.
func causeOf(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if !isType[*crew.PanicError](err) && (isType[*crew.PanicError](cause) || errors.Is(cause, errUnread)) {
		return cause
	}
	return err
}

// background runs f in a goroutine; wait waits for its end. The command ends if f
// panics.
func (a *app) background(f func()) (wait func()) {
	done := make(chan struct{})
	crew.Go(func() error { f(); return nil }, func(bug error) {
		if bug != nil {
			a.end(bug)
		}
		close(done)
	})
	return func() { <-done }
}

// describe returns err in one line, with what to do about damage; a stack may follow.
func (a *app) describe(err error, status int) string {
	if status == exitInterrupted {
		return "interrupted" + a.resume
	}
	if bug, ok := errors.AsType[*crew.PanicError](err); ok {
		return a.describeBug(bug)
	}
	if status == exitCorrupt {
		if what := remedy(a.command, err); what != "" {
			return oneLine(err) + "; " + what
		}
	}
	return oneLine(err)
}

// describeBug says what is worth reporting about a panic.
func (a *app) describeBug(bug *crew.PanicError) string {
	kernels := "unknown"
	if f, err := family(); err == nil {
		kernels = f.String()
	}
	text := fmt.Sprintf("%s; this is a bug of grenier %s with %s kernels, ", oneLine(bug), release, kernels)
	if a.log != "" {
		return text + "its stack is in " + a.log
	}
	return text + "its stack follows\n" + strings.TrimSuffix(bug.Stack, "\n")
}

// oneLine returns the text of err in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// errUnread says that nobody reads any more what is written.
var errUnread = errors.New("nobody reads the output any more")

// watched is stdout or stderr. When whoever read it has gone, the command ends.
type watched struct {
	io.Writer
	end context.CancelCauseFunc
}

func (a *app) watch(w io.Writer) *watched { return &watched{w, a.end} }

// Write passes p on.
func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		w.end(errUnread)
	}
	return n, err
}

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
