package crew_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/crew"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEachDoesEveryItemOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 5, 100} {
		for _, n := range []int{0, 1, 4, 1000} {
			done := make([]atomic.Int64, n)
			last := -1 // item of one worker
			must.OK(t, crew.Each(t.Context(), workers, n, func(worker, i int) error {
				should.Not(t, worker < 0 || worker >= max(1, min(workers, n)), "worker %d of %d", worker, workers)
				if workers <= 1 {
					should.Hold(t, i == last+1, "item %d comes after item %d", i, last)
					last = i
				}
				done[i].Add(1)
				return nil
			}))
			for i := range done {
				times := done[i].Load()
				should.Hold(t, times == 1, "%d workers, %d items: item %d is done %d times", workers, n, i, times)
			}
		}
	}
}

// TestEachKeepsWorkersApart: what belongs to a worker serves one item at a time.
func TestEachKeepsWorkersApart(t *testing.T) {
	const workers = 4
	var busy [workers]atomic.Bool
	must.OK(t, crew.Each(t.Context(), workers, 2000, func(worker, _ int) error {
		if !busy[worker].CompareAndSwap(false, true) {
			return errors.New("a worker does two things at once")
		}
		busy[worker].Store(false)
		return nil
	}))
}

// TestEachBeginsInOrder: when an item begins, all before it have been taken.
func TestEachBeginsInOrder(t *testing.T) {
	const workers = 4
	var begun atomic.Int64
	must.OK(t, crew.Each(t.Context(), workers, 2000, func(_, i int) error {
		n := begun.Add(1)
		should.Not(t, int64(i) >= n-1+workers, "item %d is the %d-th to begin", i, n)
		return nil
	}))
}

func TestEachReturnsTheFirstError(t *testing.T) {
	first := errors.New("first")
	for _, workers := range []int{1, 3} {
		var done atomic.Int64
		err := crew.Each(t.Context(), workers, 10_000, func(_, i int) error {
			if i == 50 {
				return first
			}
			done.Add(1)
			return nil
		})
		should.Be(t, err, first, "%d workers", workers)
		should.Not(t, workers == 1 && done.Load() != 50, "%d items done after an error at item 50", done.Load())
	}
}

// TestEachEndsWithAPanic: an error, and the last item that is begun.
func TestEachEndsWithAPanic(t *testing.T) {
	for _, workers := range []int{1, 3} {
		var begun atomic.Int64
		err := crew.Each(t.Context(), workers, 10_000, func(_, i int) error {
			if begun.Add(1); i == 50 {
				return bug("a bug")
			}
			return nil
		})
		mustPanic(t, err, "a bug")
		should.Not(t, workers == 1 && begun.Load() != 51, "%d items begun after a panic at item 50", begun.Load())
	}
}

func TestEachStopsWithTheContext(t *testing.T) {
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int64
		err := crew.Each(ctx, workers, 1000, func(_, i int) error {
			if i == 20 {
				cancel()
			}
			if i > 20 {
				<-ctx.Done()
			}
			done.Add(1)
			return nil
		})
		should.Hold(t, errors.Is(err, context.Canceled) && done.Load() <= int64(20+workers),
			"%d workers: %d items done, %v", workers, done.Load(), err)
		err = crew.Each(ctx, workers, 5, func(int, int) error {
			t.Error("begun after the end")
			return nil
		})
		should.Be(t, err, context.Canceled)
	}
}
