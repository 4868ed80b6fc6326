package halfboard

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// count returns the numbers from 0 to n-1.
func count(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func TestForEachDoesEveryItemOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 5, 100} {
		for _, n := range []int{0, 1, 4, 1000} {
			var mu sync.Mutex
			var done []int
			err := forEach(t.Context(), workers, count(n), func(worker, item int) error {
				if worker < 0 || worker >= min(workers, n) {
					t.Errorf("worker %d of %d", worker, workers)
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
			if err != nil || !slices.Equal(done, count(n)) {
				t.Errorf("%d workers: %v instead of %d items, %v", workers, done, n, err)
			}
		}
	}
}

// TestForEachBeginsInOrder: when an item begins, all before it have been taken.
func TestForEachBeginsInOrder(t *testing.T) {
	const workers = 4
	var begun atomic.Int64
	err := forEach(t.Context(), workers, count(2000), func(_, item int) error {
		if n := begun.Add(1); int64(item) >= n-1+workers {
			t.Errorf("item %d is the %d-th to begin", item, n)
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
		err := forEach(t.Context(), workers, count(10_000), func(_, item int) error {
			if item == 50 {
				return first
			}
			if item > 50 && done.Load() > 9000 {
				return errors.New("later")
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
		err := forEach(ctx, workers, count(1000), func(_, item int) error {
			if item == 20 {
				cancel()
			}
			if item > 20 {
				<-ctx.Done()
			}
			done.Add(1)
			return nil
		})
		if !errors.Is(err, context.Canceled) || done.Load() > int64(20+workers) {
			t.Errorf("%d workers: %d items done, %v", workers, done.Load(), err)
		}
		if err := forEach(ctx, workers, count(5), func(int, int) error { t.Error("begun after the end"); return nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestGatherKeepsTheOrder(t *testing.T) {
	repeat := func(dst, items []int) []int { // each 0, 1 or 2 times
		for _, item := range items {
			for range item % 3 {
				dst = append(dst, item)
			}
		}
		return dst
	}
	for _, n := range []int{0, 1, batch - 1, batch, batch + 1, 5*batch + 7} {
		want := repeat(nil, count(n))
		for _, workers := range []int{1, 4} {
			got, err := gather(t.Context(), workers, count(n), repeat)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d workers, %d items: %d results, want %d (%v)", workers, n, len(got), len(want), err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gather(ctx, 2, count(10), repeat); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
