package chemin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/memory"
	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func board(t testing.TB, rows, cols int) *chemin.Board {
	t.Helper()
	return must.Get(chemin.New(rows, cols))(t)
}

func solve(t testing.TB, rows, cols int, opts Options) *Result {
	t.Helper()
	opts.Memory, opts.Workers = max(opts.Memory, 256<<20), 2
	r := must.Get(Solve(context.Background(), board(t, rows, cols), opts))(t)
	must.Hold(t, r.Exact(), "%d x %d, %s: bounds %d and %d", rows, cols, opts.Method, r.Lower, r.Upper)
	return r
}

// fields returns counts in the order of the reference file, "-" where there is none.
func fields(c *Counts) []string {
	if c == nil {
		c = &Counts{}
	}
	var text []string
	for _, n := range []*uint64{c.Total, c.UpToSymmetry, c.Optimal, c.OptimalUpToSymmetry} {
		if n == nil {
			text = append(text, "-")
		} else {
			text = append(text, strconv.FormatUint(*n, 10))
		}
	}
	return text
}

// ending returns the number of optimal orders that end in the score, "-" if it is not known.
func ending(r *Result) string {
	if r.Orders == nil || r.Orders.OptimalEnding == nil {
		return "-"
	}
	return strconv.FormatUint(*r.Orders.OptimalEnding, 10)
}

// agree compares those numbers that a method finds.
func agree(t *testing.T, what string, c *Counts, want ...string) {
	t.Helper()
	for i, got := range fields(c) {
		if got != "-" && got != want[i] {
			t.Errorf("%s: %v, want %v", what, fields(c), want)
		}
	}
}

// TestReference compares all methods with values from elsewhere.
func TestReference(t *testing.T) {
	lines := must.Rows(t, "../../layers/chemin/testdata/small.csv")
	must.Equal(t, len(lines), 12, "lines in the reference")
	found := map[Method]int{}
	for _, r := range lines {
		rows, _ := strconv.Atoi(r[0])
		cols, _ := strconv.Atoi(r[1])
		for _, method := range []Method{Naive, Classes, Orientations, Layers} {
			what := fmt.Sprintf("%d x %d, %s", rows, cols, method)
			got := solve(t, rows, cols, Options{Method: method})
			should.Hold(t, fmt.Sprint(got.Lower) == r[9], "%s: maximum %d, want %s", what, got.Lower, r[9])
			agree(t, what+", orders", got.Orders, r[3], r[4], r[10], r[11])
			agree(t, what+", orientations", got.Orientations, r[5], r[6], r[12], r[13])
			agree(t, what+", grids", got.Grids, r[7], r[8], r[14], r[15])
			for _, c := range []*Counts{got.Orders, got.Orientations, got.Grids} {
				for _, n := range fields(c) {
					if n != "-" {
						found[method]++
					}
				}
			}
			if want := map[Method]string{Naive: r[3], Classes: r[4]}[method]; want != "" && fmt.Sprint(got.Leaves) != want {
				t.Errorf("%s: %d leaves, want %s", what, got.Leaves, want)
			}
			want := map[Method]string{Naive: r[11], Classes: r[11], Orientations: r[13], Layers: r[13]}[method]
			should.Hold(t, fmt.Sprint(len(got.Solutions)) == want, "%s: %d solutions, want %s", what, len(got.Solutions), want)
			checkSolutions(t, board(t, rows, cols), got)
		}
	}
	// Every method must find what it promises, on all 12 boards.
	want := (map[Method]int{Naive: 12 * 12, Classes: 12 * 12, Orientations: 12 * 12, Layers: 12 * 12})
	should.Hold(t, cmp.Equal(found, want), "numbers found: %v, want %v", found, want)
}

// checkSolutions replays the solutions.
func checkSolutions(t *testing.T, b *chemin.Board, r *Result) {
	t.Helper()
	for _, s := range r.Solutions {
		grid, err := b.Play(s.Order)
		if err != nil || !slices.Equal(grid, s.Grid) || slices.Max(grid) != r.Lower {
			t.Errorf("order %v makes %v, %v; it is said to make %v with %d", s.Order, grid, err, s.Grid, r.Lower)
		}
	}
}

// TestEnding compares the numbers of best orders that end in the score with all orders
// played one by one.
func TestEnding(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {6, 1}, {1, 7}, {2, 2}, {2, 3}, {3, 2}} {
		b := board(t, size[0], size[1])
		want, best := 0, uint32(0)
		for order := range permutations(b.Cells()) {
			grid := must.Get(b.Play(order))(t)
			score := slices.Max(grid)
			if score > best {
				want, best = 0, score
			}
			if score == best && grid[order[len(order)-1]] == best {
				want++
			}
		}
		for _, method := range []Method{Naive, Classes, Orientations, Layers} {
			got := ending(solve(t, size[0], size[1], Options{Method: method}))
			should.Hold(t, got == strconv.Itoa(want), "%v, %s: %s best orders end in the score, want %d", size, method, got, want)
		}
	}
}

// permutations yields the orders of n cells, in one slice.
func permutations(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		var permute func(k int) bool
		permute = func(k int) bool {
			if k == n {
				return yield(order)
			}
			for i := k; i < n; i++ {
				order[k], order[i] = order[i], order[k]
				more := permute(k + 1)
				order[k], order[i] = order[i], order[k]
				if !more {
					return false
				}
			}
			return true
		}
		permute(0)
	}
}

// TestLongAll lists every optimal solution.
func TestLongAll(t *testing.T) {
	for method, want := range map[Method]int{Naive: 32, Classes: 32, Orientations: 16, Layers: 16} {
		if method == Naive && !tries.Long() {
			continue
		}
		r := solve(t, 3, 3, Options{Method: method, All: true})
		seen := map[string]bool{}
		for _, s := range r.Solutions {
			seen[fmt.Sprint(s.Order)] = true
		}
		should.Hold(t, len(r.Solutions) == want && len(seen) == want,
			"%s: %d solutions, %d different ones, want %d", method, len(r.Solutions), len(seen), want)
		checkSolutions(t, board(t, 3, 3), r)
	}
}

// TestLongWorkers compares searches with different numbers of workers, also where there are more
// solutions than are listed.
func TestLongWorkers(t *testing.T) {
	type search struct {
		rows, cols int
		method     Method
		memory     uint64
		cut        bool
	}
	searches := []search{
		{2, 4, Classes, 1 << 30, false}, {2, 3, Naive, 1 << 30, false}, {1, 8, Classes, runs.LeastMemory(7), true},
		{2, 4, Orientations, 1 << 30, false}, {2, 4, Layers, 1 << 30, false},
	}
	if tries.Long() {
		searches = append(searches, search{3, 3, Classes, 1 << 30, false}, search{2, 4, Naive, 1 << 30, false}, search{1, 8, Classes, 1 << 30, false}, search{3, 3, Orientations, 1 << 30, false}, search{1, 16, Orientations, runs.LeastMemory(7), true})
	}
	for _, tt := range searches {
		var want []any
		for _, workers := range []int{1, 7} {
			opts := Options{Job: job.Job{Memory: tt.memory, Workers: workers}, Method: tt.method}
			r := must.Get(Solve(t.Context(), board(t, tt.rows, tt.cols), opts))(t)
			should.Equal(t, r.Cut, tt.cut, "%+v: cut", tt)
			got := append(known(r), r.Leaves)
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(want, got) { // quicker than a diff
				t.Errorf("%+v: %d workers (-1 +%d)\n%.500s", tt, workers, workers, cmp.Diff(want, got))
			}
		}
	}
}

// TestLongTwoRows checks 4 x 3^(n-2) on the boards with two rows.
func TestLongTwoRows(t *testing.T) {
	for cols, want := 2, uint32(4); cols <= tries.Pick(5, 6, 8); cols, want = cols+1, want*3 {
		for _, method := range []Method{Orientations, Layers} {
			r := solve(t, 2, cols, Options{Method: method})
			should.Hold(t, r.Lower == want, "2 x %d, %s: %d, want %d", cols, method, r.Lower, want)
		}
	}
}

// TestLongLarger compares the methods on boards that are too large to visit every order of.
func TestLongLarger(t *testing.T) {
	sizes := [][3]int{{2, 5, 108}, {1, 10, 2}}
	if tries.Long() {
		sizes = append(sizes, [3]int{2, 6, 324}, [3]int{1, 12, 2}, [3]int{3, 4, 300}, [3]int{4, 3, 300})
	}
	if tries.Full() {
		sizes = append(sizes, [3]int{3, 5, 1500}, [3]int{4, 4, 2473}, [3]int{3, 6, 7557})
	}
	for _, size := range sizes {
		one := solve(t, size[0], size[1], Options{Method: Layers})
		other := solve(t, size[0], size[1], Options{Method: Orientations})
		should.Hold(t, one.Lower == uint32(size[2]) && other.Lower == one.Lower,
			"%v: layers found %d, orientations %d", size, one.Lower, other.Lower)
		if !slices.Equal(fields(one.Orders), fields(other.Orders)) {
			t.Errorf("%v: layers counts orders %v, orientations %v", size, fields(one.Orders), fields(other.Orders))
		}
	}
}

// small is a job with little memory.
var small = job.Job{Memory: 80 << 20, Workers: 2}

// TestTimeLimit stops each method at once: the bounds must enclose the maximum, and the end of the context is told.
func TestTimeLimit(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, method := range []Method{Classes, Orientations, Layers} {
		r, err := Solve(context.Background(), board(t, 4, 4), Options{Job: small, Method: method, Time: time.Millisecond})
		should.Hold(t, err == nil && r.Lower <= 2473 && r.Upper >= 2473 && !r.Exact() && len(r.Solutions) == 1,
			"%s: %+v, %v", method, r, err)
		if r != nil && slices.Max(r.Solutions[0].Grid) != r.Lower {
			t.Errorf("%s: lower bound %d of the order %v", method, r.Lower, r.Solutions[0])
		}
		should.Be(t, must.Err(Solve(done, board(t, 4, 4), Options{Job: small, Method: method})), context.Canceled, "%s", method)
	}
}

func TestOptions(t *testing.T) {
	for _, opts := range []Options{{Job: small, Method: "other"}, {Job: small, Method: Classes, Dir: "x"}} {
		should.Be(t, must.Err(Solve(context.Background(), board(t, 2, 2), opts)), ErrOption, "%+v", opts)
	}
	for _, little := range []uint64{0, 1, runs.LeastMemory(3) - 1} {
		_, err := Solve(context.Background(), board(t, 2, 2), Options{Job: job.Job{Memory: little, Workers: 3}, Method: Layers})
		refused, ok := errors.AsType[*memory.Error](err)
		should.Hold(t, ok && refused.Need == runs.LeastMemory(3) && refused.Allowed == little, "%d bytes: %v", little, err)
	}
}
