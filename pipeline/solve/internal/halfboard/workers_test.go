package halfboard

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// squares returns n items that are not their own numbers.
func squares(n int) []int {
	items := make([]int, n)
	for i := range items {
		items[i] = i * i
	}
	return items
}

func TestForEachDoesEveryItemOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 5, 100} {
		for _, n := range []int{0, 1, 4, 1000} {
			var mu sync.Mutex
			var done []int
			err := forEach(t.Context(), workers, squares(n), func(worker, i, item int) error {
				if worker < 0 || worker >= min(workers, n) || item != i*i {
					t.Errorf("worker %d of %d has %d as item %d", worker, workers, item, i)
				}
				mu.Lock()
				defer mu.Unlock()
				done = append(done, item)
				return nil
			})
			if workers == 1 && !slices.IsSorted(done) {
				t.Errorf("%d items are not done in order", n)
			}
			slices.Sort(done)
			if err != nil || !slices.Equal(done, squares(n)) {
				t.Errorf("%d workers: %v instead of %d items, %v", workers, done, n, err)
			}
		}
	}
}

// TestForEachKeepsWorkersApart: a worker's scratch memory is used by one item at a
// time.
func TestForEachKeepsWorkersApart(t *testing.T) {
	const workers = 4
	var busy [workers]atomic.Bool
	err := forEach(t.Context(), workers, squares(2000), func(worker, _, _ int) error {
		if !busy[worker].CompareAndSwap(false, true) {
			return errors.New("a worker does two things at once")
		}
		busy[worker].Store(false)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestForEachBeginsInOrder: when an item begins, all before it have been taken.
func TestForEachBeginsInOrder(t *testing.T) {
	const workers = 4
	var begun atomic.Int64
	err := forEach(t.Context(), workers, squares(2000), func(_, i, _ int) error {
		if n := begun.Add(1); int64(i) >= n-1+workers {
			t.Errorf("item %d is the %d-th to begin", i, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestForEachReturnsTheFirstError(t *testing.T) {
	first := errors.New("first")
	for _, workers := range []int{1, 3} {
		var done atomic.Int64
		err := forEach(t.Context(), workers, squares(10_000), func(_, i, _ int) error {
			if i == 50 {
				return first
			}
			done.Add(1)
			return nil
		})
		if !errors.Is(err, first) {
			t.Errorf("%d workers: %v", workers, err)
		}
		if workers == 1 && done.Load() != 50 {
			t.Errorf("%d items done after an error at item 50", done.Load())
		}
	}
}

func TestForEachStopsWithTheContext(t *testing.T) {
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int64
		err := forEach(ctx, workers, squares(1000), func(_, i, _ int) error {
			if i == 20 {
				cancel()
			}
			if i > 20 {
				<-ctx.Done()
			}
			done.Add(1)
			return nil
		})
		if !errors.Is(err, context.Canceled) || done.Load() > int64(20+workers) {
			t.Errorf("%d workers: %d items done, %v", workers, done.Load(), err)
		}
		err = forEach(ctx, workers, squares(5), func(int, int, int) error {
			t.Error("begun after the end")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// within fails if do takes very long.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: hangs", what)
	}
}
