// Package tries says how much tests try, with which random numbers or in which orders, and how long they wait.
package tries

import (
	"flag"
	"iter"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"grenier/kernels/perm"
)

var seed = flag.Uint64("seed", 0, "seed of random tests; 0 picks one")

// Rand returns a random source and logs its seed; the flag -seed repeats a run.
func Rand(t testing.TB) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// Long says that there is time for long tests.
func Long() bool { return os.Getenv("GRENIER_LONG") != "" }

// Full says that there is much time.
func Full() bool { return os.Getenv("GRENIER_LONG") == "full" }

// SkipIf skips a test that is not for this machine, or not for this time, and says why.
func SkipIf(t testing.TB, so bool, why string) {
	t.Helper()
	if so {
		t.Skip(why)
	}
}

// NeedsLong skips a test unless there is time for long ones, and says why.
func NeedsLong(t testing.TB, why string) {
	t.Helper()
	if !Long() {
		t.Skip(why + ": needs GRENIER_LONG=1")
	}
}

// NeedsFull skips a test unless there is much time, and says why.
func NeedsFull(t testing.TB, why string) {
	t.Helper()
	if !Full() {
		t.Skip(why + ": needs GRENIER_LONG=full")
	}
}

// Runs returns how often to repeat a random test: n times if there is much time, an eighth of that in
// a long test, and a fortieth in others.
func Runs(n int) int { return Pick((n+39)/40, (n+7)/8, n) }

// Pick returns one of three: for short tests, for long ones, and for those that have much time.
func Pick[T any](short, long, full T) T {
	switch {
	case Full():
		return full
	case Long():
		return long
	}
	return short
}

// More returns one of two: for short tests, and for long ones.
func More[T any](short, long T) T { return Pick(short, long, long) }

// Orders yields all orders of the numbers 0 to n-1, in a list that is the next order's too.
func Orders(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		packed, order := make([]uint8, n), make([]int, n)
		for rank := range perm.Factorial(n) {
			perm.Unrank(packed, rank)
			for i, x := range packed {
				order[i] = int(x)
			}
			if !yield(order) {
				return
			}
		}
	}
}

// Within ends the program if do takes very long.
func Within(t testing.TB, what string, do func()) {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { panic(t.Name() + ": " + what + ": hangs") })
	defer timer.Stop()
	do()
}

// Await waits until something is there, for minutes: the machine may be busy.
func Await(t interface{ Fatalf(string, ...any) }, what string, there func() bool) {
	for end := time.Now().Add(5 * time.Minute); !there(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waiting for %s", what)
		}
	}
}
