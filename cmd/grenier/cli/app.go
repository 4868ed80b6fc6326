// Package cli has the parts that the commands of grenier share: running a command and its output (app.go,
// output.go), lines of stdin (lines.go, stdin.go), exit statuses and advice about damage
// (exit.go, remedy.go), flags, help and errors about them (usage.go, memory.go,
// calibration.go), progress on stderr (progress.go), tables and numbers as text (table.go,
// text.go), signals and version.
//
// Each system has a package beside this one. Its function Command takes the App and returns
// the commands below "grenier SYSTEM". A command reads flags, calls a package that does the
// work, prints, and returns its error. Run prints the error and derives the exit status,
// which depends on the kind of the error (package fault).
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"grenier/io/crew"
	"grenier/kernels/cpu"
)

// App is a running command line.
type App struct {
	In  io.Reader
	Out *Output
	Err io.Writer
	// Resume follows "interrupted" in the message about an interrupt.
	Resume string
	// Log is the path of the log that has the stack of a panic, empty if none has.
	Log string
	// Reported is called whenever a command reports its progress, by the goroutine that
	// works. Tests break the work there; otherwise it is nil.
	Reported func()

	// running is set when the command line is accepted: errors before that are about usage.
	running bool
	// quiet suppresses progress and notes.
	quiet bool
	// command is the name of the command, "grenier awari solve" for instance.
	command string
	// atEnd is called when the command ends.
	atEnd []func()
	// end ends the command for a reason other than an interrupt.
	end context.CancelCauseFunc
}

// Main runs the command line of this process below root and ends the process.
func Main(root func(*App) *cobra.Command) {
	runtime.MemProfileRate = 0 // nobody asks for a profile, and its tables take 1.4 MiB
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop)   // a second signal kills the process
	signal.Ignore(syscall.SIGPIPE) // writing fails instead: see watch
	os.Exit(Run(ctx, root, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// interrupts returns the signals that cancel a command. HUP stays ignored if it is: nohup
// relies on that.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Run runs one command line below root and returns the exit status. The end of ctx is an
// interrupt.
func Run(ctx context.Context, root func(*App) *cobra.Command, args []string, in io.Reader, out, errs io.Writer) int {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	a := &App{In: in, end: end}
	a.Out, a.Err = NewOutput(a.watch(out)), a.watch(errs)
	err := crew.Run(func() error { return a.execute(ctx, root(a), args) })
	if err == nil || errors.Is(err, a.Out.err) {
		err = a.Out.err
	}
	err = CauseOf(ctx, err)
	status := StatusOf(ctx, err)
	if err != nil && status != ExitUnread {
		fmt.Fprintln(errs, "grenier: "+a.describe(err, status))
	}
	return status
}

// execute runs the command that args select.
func (a *App) execute(ctx context.Context, root *cobra.Command, args []string) error {
	defer func() {
		for _, undo := range slices.Backward(a.atEnd) {
			undo()
		}
	}()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		complete(root)
	}
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	cmd, err := root.ExecuteContextC(ctx)
	a.command = cmd.CommandPath()
	if err != nil && !a.running {
		err = Usagef("%w (see %s --help)", err, cmd.CommandPath())
	}
	return err
}

// Start wraps the body of a command. The errors of body are not about usage, unless they are
// of that kind.
func (a *App) Start(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.running = true
		a.quiet, _ = cmd.Flags().GetBool("quiet") // false without the flag
		if _, err := Family(); err != nil {
			return err
		}
		return body(cmd, args)
	}
}

// CauseOf returns why a command with the error err ended: the cause of the end of its context
// if that was no signal, else err.
func CauseOf(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if !IsType[*crew.PanicError](err) && (IsType[*crew.PanicError](cause) || errors.Is(cause, errUnread)) {
		return cause
	}
	return err
}

// Background runs f in a goroutine; wait waits for its end. A panic of f ends the command.
func (a *App) Background(f func()) (wait func()) {
	done := make(chan struct{})
	crew.Go(func() error { f(); return nil }, func(bug error) {
		if bug != nil {
			a.end(bug)
		}
		close(done)
	})
	return func() { <-done }
}

// Note prints a note, unless --quiet.
func (a *App) Note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.Err, "grenier: note: "+format+"\n", args...)
	}
}

// PrintJSON writes v in one line.
func (a *App) PrintJSON(v any) error { return json.NewEncoder(a.Out).Encode(v) }

// Checked prints the result of a check, as JSON or by print, and returns its error.
func (a *App) Checked(asJSON bool, result interface{ Err() error }, print func()) error {
	if !asJSON {
		print()
	} else if err := a.PrintJSON(result); err != nil {
		return err
	}
	return result.Err()
}

// Family returns the kernel family that GRENIER_KERNEL selects, or the fastest.
func Family() (cpu.Family, error) { return cpu.Select(os.Getenv("GRENIER_KERNEL")) }

// describe returns err in one line, with advice about damage; the stack of a panic may
// follow.
func (a *App) describe(err error, status int) string {
	if status == ExitInterrupted {
		return "interrupted" + a.Resume
	}
	if bug, ok := errors.AsType[*crew.PanicError](err); ok {
		return a.describeBug(bug)
	}
	if status == ExitCorrupt {
		if what := remedy(a.command, err); what != "" {
			return OneLine(err) + "; " + what
		}
	}
	return OneLine(err)
}

// describeBug returns the facts that a report about a panic should have.
func (a *App) describeBug(bug *crew.PanicError) string {
	kernels := "unknown"
	if f, err := Family(); err == nil {
		kernels = f.String()
	}
	text := fmt.Sprintf("%s; this is a bug of grenier %s%v with %s kernels, ", OneLine(bug), Release, thisBuild(), kernels)
	if a.Log != "" {
		return text + "its stack is in " + a.Log
	}
	return text + "its stack follows\n" + strings.TrimSuffix(bug.Stack, "\n")
}
