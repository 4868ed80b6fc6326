package halfboard

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"
)

func TestSizeClasses(t *testing.T) {
	rng, before := newRand(t), 0
	for size := range 20_000 {
		if size > 3000 {
			size = 3000 + rng.IntN(1<<30)
			before = 0
		}
		class := sizeClass(size)
		if class < max(size, 64) || size > 64 && class-size >= size/8+1 {
			t.Fatalf("%d scores become %d", size, class)
		}
		if sizeClass(class) != class || class < before || size > 0 && sizeClass(size-1) > class {
			t.Fatalf("%d scores become %d, which become %d", size, class, sizeClass(class))
		}
		before = class
	}
}

// written is a buffer filled with a number that no other buffer in use has.
type written struct {
	scores []int8
	tag    int8
}

// check fails if somebody else wrote to the buffer.
func (w written) check() error {
	if at := slices.IndexFunc(w.scores, func(x int8) bool { return x != w.tag }); at >= 0 {
		return fmt.Errorf("score %d of %d is %d instead of %d", at, len(w.scores), w.scores[at], w.tag)
	}
	return nil
}

// TestBuffersDoNotOverlap writes to all buffers in use, over several chunks.
func TestBuffersDoNotOverlap(t *testing.T) {
	rng := newRand(t)
	var a arena
	defer a.close()
	var live []written
	for i := range 300 {
		if len(live) > 20 && rng.IntN(3) > 0 {
			k := rng.IntN(len(live))
			if err := live[k].check(); err != nil {
				t.Fatal(err)
			}
			a.release(live[k].scores)
			live = slices.Delete(live, k, k+1)
			continue
		}
		size := rng.IntN(1 << (1 + rng.IntN(22)))
		scores, err := a.alloc(size)
		if err != nil || len(scores) != size || cap(scores) != sizeClass(size) {
			t.Fatalf("asked for %d scores: got %d of %d, %v", size, len(scores), cap(scores), err)
		}
		scores = scores[:cap(scores)] // the room behind belongs to the buffer
		live = append(live, written{scores, int8(i)})
		fill(scores, int8(i))
	}
	for _, w := range live {
		if err := w.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestBuffersAreReused: replacing versions of tiles must not take new memory.
func TestBuffersAreReused(t *testing.T) {
	var a arena
	defer a.close()
	first, err := a.alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
	a.release(first)
	again, err := a.alloc(sizeClass(1000) - 1)
	if err != nil || &first[0] != &again[0] {
		t.Errorf("a freed buffer is not reused (%v)", err)
	}
	other, err := a.alloc(1000)
	if err != nil || &other[0] == &again[0] {
		t.Errorf("a buffer is used twice (%v)", err)
	}
	for range 100 {
		big, err := a.alloc(10 << 20)
		if err != nil {
			t.Fatal(err)
		}
		a.release(big)
	}
	if a.held != chunkBytes {
		t.Errorf("%d bytes held, want one chunk", a.held)
	}
}

// TestFreshBuffersAreZero: the first scores and the rows kept must be.
func TestFreshBuffersAreZero(t *testing.T) {
	var a arena
	defer a.close()
	for i := range 40 {
		used, err := a.alloc(3_000_000)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && slices.ContainsFunc(used, func(x int8) bool { return x != 0 }) {
			t.Fatal("a buffer that was never used is not zero")
		}
		fill(used[:cap(used)], 1)
		a.release(used)
		kept, err := a.keep(1_000_000)
		if err != nil || len(kept) != 1_000_000 || cap(kept) != len(kept) {
			t.Fatalf("%d of %d scores, %v", len(kept), cap(kept), err)
		}
		if slices.ContainsFunc(kept, func(x int8) bool { return x != 0 }) {
			t.Fatal("a buffer to keep is not zero")
		}
		fill(kept, 2)
	}
}

func TestBuffersOfSeveralWorkers(t *testing.T) {
	var a arena
	defer a.close()
	var group errgroup.Group
	for worker := range 4 {
		group.Go(func() error {
			for range 200 {
				scores, err := a.alloc(5000)
				if err != nil {
					return err
				}
				fill(scores, int8(worker))
				if err := (written{scores, int8(worker)}).check(); err != nil {
					return err
				}
				a.release(scores)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestTooMuchMemory asks for more than any machine has.
func TestTooMuchMemory(t *testing.T) {
	var a arena
	if scores, err := a.alloc(1 << 60); err == nil || len(scores) > 0 {
		t.Errorf("%d scores, %v", len(scores), err)
	}
	if scores, err := a.keep(1 << 60); err == nil || len(scores) > 0 {
		t.Errorf("%d scores, %v", len(scores), err)
	}
	if a.held != 0 || a.close() != nil {
		t.Errorf("%d bytes held", a.held)
	}
}

// virtualMemory returns the bytes of address space that the process has. Tests
// that need it are skipped where the system does not say.
func virtualMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.Atoi(string(bytes.Fields(text)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// returnsMemory fails if calls of f leave chunks behind.
func returnsMemory(t *testing.T, f func()) {
	t.Helper()
	const calls = 64
	before := virtualMemory(t)
	for range calls {
		f()
	}
	if grown := virtualMemory(t) - before; grown > calls/2*chunkBytes { // what the Go heap grows by is less
		t.Errorf("%d MiB more after %d calls", grown>>20, calls)
	}
}

func TestCloseReturnsMemory(t *testing.T) {
	returnsMemory(t, func() {
		var a arena
		for _, size := range []int{1, chunkBytes + 1, 1} {
			if _, err := a.alloc(size); err != nil {
				t.Fatal(err)
			}
		}
		if a.held < 2*chunkBytes {
			t.Fatalf("%d bytes held", a.held)
		}
		if err := a.close(); err != nil || a.held != 0 {
			t.Fatalf("%d bytes held after close: %v", a.held, err)
		}
		if err := a.close(); err != nil {
			t.Fatalf("closing twice: %v", err)
		}
	})
}
