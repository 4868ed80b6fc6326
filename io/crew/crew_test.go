package crew_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/crew"
)

func isPanic(err error) bool {
	_, ok := errors.AsType[*crew.PanicError](err)
	return ok
}

// bug panics with v.
func bug(v any) error { panic(v) }

func mustPanic(t *testing.T, err error, text string) {
	t.Helper()
	p, ok := errors.AsType[*crew.PanicError](err)
	must.Hold(t, ok, "error %v", err)
	should.Hold(t, p.Error() == "internal error: "+text && strings.Contains(p.Stack, "crew_test.bug"), "%v\n%s", p, p.Stack)
}

func TestRun(t *testing.T) {
	for _, want := range []error{nil, io.EOF} {
		should.Equal(t, crew.Run(func() error { return want }), want, "error")
	}
	mustPanic(t, crew.Run(func() error { return bug("a bug") }), "a bug")
	err := crew.Run(func() error { return bug(nil) })
	should.Hold(t, isPanic(err), "panic(nil): error %v", err)
	err = crew.Run(func() error { return bug(io.EOF) })
	mustPanic(t, err, "EOF")
	should.Not(t, errors.Is(err, io.EOF), "a panic is taken for the error that it carries")
}

func TestGo(t *testing.T) {
	ended := make(chan error)
	crew.Go(func() error { return io.EOF }, func(err error) { ended <- err })
	err := <-ended
	should.Hold(t, err == io.EOF, "error %v", err)
	crew.Go(func() error { return bug("a bug") }, func(err error) { ended <- err })
	mustPanic(t, <-ended, "a bug")
}

// TestGroup: a panic ends the others, and Wait returns it.
func TestGroup(t *testing.T) {
	group, ctx := crew.WithContext(t.Context())
	var others atomic.Int64
	for range 3 {
		group.Go(func() error {
			<-ctx.Done()
			others.Add(1)
			return ctx.Err()
		})
	}
	group.Go(func() error { return bug("a bug") })
	mustPanic(t, group.Wait(), "a bug")
	should.Hold(t, others.Load() == 3 && errors.Is(ctx.Err(), context.Canceled), "%d others ended, context %v", others.Load(), ctx.Err())
}

// TestLimit: no more are at work at a time than allowed.
func TestLimit(t *testing.T) {
	group, _ := crew.WithContext(t.Context())
	group.SetLimit(2)
	var working, most atomic.Int64
	for range 20 {
		group.Go(func() error {
			n := working.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			working.Add(-1)
			return nil
		})
	}
	err := group.Wait()
	should.Hold(t, err == nil && most.Load() <= 2, "%d at work, error %v", most.Load(), err)
}
