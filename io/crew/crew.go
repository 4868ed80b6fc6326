// Package crew runs goroutines that work together. A panic in one of them would
// end the process on the spot, with files half written: here it is an error like
// any other, a *PanicError, which ends the others and reaches whoever waits for
// them. All goroutines of the program are started by this package; a test of the
// commands makes sure of that.
//
// Each shares out items among workers. Ordered reads jobs in order, works on several at a
// time and writes them in order; a Stream does the same for a caller who gives or takes the
// jobs himself. Shared does work once for all who ask for it at the same time. A Group is for anything else.
//
// What the Go runtime calls a fatal error (memory that the system does not give,
// a map written by two goroutines at once) ends the process all the same, as kill
// -9 does.
package crew

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// PanicError is a panic: a bug of the program. It does not unwrap to the value,
// whatever that is, so that nobody takes it for an error of the data.
type PanicError struct {
	Value any    // that panic was called with
	Stack string // of the goroutine, as the Go runtime prints it
}

// Error says what was wrong, not where.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Run calls f and returns its error, or a *PanicError.
func Run(f func() error) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = &PanicError{Value: bug, Stack: string(debug.Stack())}
		}
	}()
	return f()
}

// Go calls f in a goroutine of its own, and then ended, with the error of f or a
// *PanicError.
func Go(f func() error, ended func(error)) {
	go func() { ended(Run(f)) }()
}

// Group is goroutines for one task. WithContext makes one.
type Group struct{ group *errgroup.Group }

// WithContext returns a group, and a context derived from ctx that ends when one of
// the group fails or panics, or when Wait returns.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group}, ctx
}

// SetLimit makes Go wait while n of the group are at work.
func (g *Group) SetLimit(n int) { g.group.SetLimit(n) }

// Go calls f in a goroutine of its own.
func (g *Group) Go(f func() error) { g.group.Go(func() error { return Run(f) }) }

// Wait waits until all of the group have ended and returns the first error, a
// *PanicError if that was a panic.
func (g *Group) Wait() error { return g.group.Wait() }
