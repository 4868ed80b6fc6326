package halfboard

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"grenier/layers/awari"
)

// TestLayoutIsThatOfTheMatrices adds up what the matrices of layers take, which are
// counted half by half.
func TestLayoutIsThatOfTheMatrices(t *testing.T) {
	for q, most := range map[int]int{2: 30, 3: 25, 4: 18, 5: 14, 6: 12} {
		for n := range most + 1 {
			g := mustGeometry(t, q, n)
			var want layout
			for sum := range n + 1 {
				l := g.newMatrix(sum, side).layout()
				want.scores += l.scores
				want.offers[openRows] += l.offers[openRows]
				want.offers[fullRows] += l.offers[fullRows]
			}
			if got := layoutOf(q, n); got != want || got.total() != want.scores+want.offers[0]+want.offers[1] {
				t.Errorf("%d pits, %d seeds: %+v, want %+v", q, n, got, want)
			}
		}
	}
}

// TestLayoutHoldsEveryPosition: a matrix has a line for each open row and panel,
// and a block for each chunk and panel.
func TestLayoutHoldsEveryPosition(t *testing.T) {
	for _, c := range []struct {
		columns int
		rows    [classes]int
		want    layout
	}{
		{1, [classes]int{1, 0}, layout{scores: 64, offers: [classes]int{64 * 64, 0}}},
		{64, [classes]int{64, 1}, layout{scores: 64 * 64, offers: [classes]int{64 * 64, 64 * 64}}},
		{65, [classes]int{64, 65}, layout{scores: 2 * 64 * 64, offers: [classes]int{2 * 64 * 64, 4 * 64 * 64}}},
		{65, [classes]int{65, 64}, layout{scores: 2 * 65 * 64, offers: [classes]int{4 * 64 * 64, 2 * 64 * 64}}},
	} {
		if got := matrixLayout(c.columns, c.rows); got != c.want {
			t.Errorf("%d columns, rows %v: %+v, want %+v", c.columns, c.rows, got, c.want)
		}
	}
}

// TestColumnsAndRowsAreCounted compares the formulas with the halves there are.
func TestColumnsAndRowsAreCounted(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry) {
		for sum := range g.n + 1 {
			want := [classes]int{len(g.rows[sum][openRows]), len(g.rows[sum][fullRows])}
			if rows := rowsOf(g.q, sum); rows != want || columnsOf(g.q, sum) != want[openRows]+want[fullRows] {
				t.Errorf("%d pits, sum %d: %d columns, rows %v, want %v", g.q, sum, columnsOf(g.q, sum), rows, want)
			}
		}
	})
}

// TestLongMatricesDoNotOverlap looks at where the scores and offers of layers stand:
// in the memory of the layer, at whole lines, apart from each other.
func TestLongMatricesDoNotOverlap(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		c := randomConfig(t, rng)
		c.options.Seeds = rng.IntN(2 * top(c.game.Pits()))
		w := c.begin(t)
		type part struct{ begin, size uintptr }
		var parts []part
		note := func(scores []int8, size int) {
			if len(scores) < size {
				t.Fatalf("%+v: %d bytes, want %d", c, len(scores), size)
			}
			if size > 0 {
				parts = append(parts, part{uintptr(unsafe.Pointer(&scores[0])), uintptr(size)})
			}
		}
		for _, m := range w.grid.matrices {
			l := m.layout()
			note(m.scores, l.scores)
			for class := range classes {
				note(m.offers[class], l.offers[class])
			}
		}
		slices.SortFunc(parts, func(a, b part) int { return int(a.begin) - int(b.begin) })
		memory := uintptr(unsafe.Pointer(&w.memory.mapping[0]))
		end := memory
		for _, p := range parts {
			if p.begin < end || p.begin%64 != 0 {
				t.Fatalf("%+v: %d bytes at %d after %d", c, p.size, p.begin-memory, end-memory)
			}
			end = p.begin + p.size
		}
		if end > memory+uintptr(len(w.memory.mapping)) || len(w.memory.mapping) < int(w.stats.Bytes) {
			t.Fatalf("%+v: %d bytes of memory, %d in use, %d counted", c, len(w.memory.mapping), end-memory, w.stats.Bytes)
		}
	}
}

// TestTakeDividesMemory: what is taken is in order, and cannot grow into what
// follows; reset takes it back.
func TestTakeDividesMemory(t *testing.T) {
	r := mustRegion(t, 1000)
	for range 2 {
		a, b := r.take(128), r.take(872)
		if len(a) != 128 || cap(a) != 128 || len(b) != 872 || uintptr(unsafe.Pointer(&b[0])) != uintptr(unsafe.Pointer(&a[0]))+128 {
			t.Fatalf("%d of %d and %d bytes", len(a), cap(a), len(b))
		}
		a[127], b[0], b[871] = 1, 2, 3
		r.reset()
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
}

func mustRegion(t *testing.T, size int) *region {
	t.Helper()
	r, err := newRegion(size)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustGet takes memory from s.
func (s *spare) mustGet(t *testing.T, size int) *region {
	t.Helper()
	r, err := s.get(size)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.rest) < size {
		t.Fatalf("%d bytes, want %d", len(r.rest), size)
	}
	return r
}

func TestSpareReuses(t *testing.T) {
	var s spare
	first := s.mustGet(t, 100_000)
	first.take(100_000)
	second := s.mustGet(t, 100_000)
	if second == first {
		t.Fatal("memory in use is given away")
	}
	for _, r := range []*region{first, second} { // the second one is returned
		if err := s.put(r); err != nil {
			t.Fatal(err)
		}
	}
	if again := s.mustGet(t, 50_000); again != first {
		t.Error("spare memory is not used again")
	} else if err := s.put(again); err != nil {
		t.Fatal(err)
	}
	larger := s.mustGet(t, 200_000)
	if larger == first {
		t.Error("memory has grown")
	}
	if err := s.put(larger); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTooMuchMemory asks for more than any machine has.
func TestTooMuchMemory(t *testing.T) {
	var s spare
	if r, err := s.get(1 << 60); err == nil || r != nil {
		t.Errorf("%v, %v", r, err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
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

// returnsMemory fails if calls of f, which each take size bytes, leave memory
// behind.
func returnsMemory(t *testing.T, size int, f func()) {
	t.Helper()
	calls := 1 + 1<<29/size // what the Go heap grows by is far less
	f()                     // threads begin, each with memory of its own
	before := virtualMemory(t)
	for range calls {
		f()
	}
	if grown := virtualMemory(t) - before; grown > calls*size/4 {
		t.Errorf("%d MiB more after %d calls", grown>>20, calls)
	}
}

func TestSpareReturnsMemory(t *testing.T) {
	const size = 16 << 20
	for name, f := range map[string]func(s *spare) error{
		"replaced by a larger one": func(s *spare) error { return s.put(s.mustGet(t, 2*size)) },
		"two put back":             func(s *spare) error { return s.put(mustRegion(t, size)) },
		"closed":                   func(*spare) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			returnsMemory(t, size, func() {
				var s spare
				if err := s.put(s.mustGet(t, size)); err != nil {
					t.Fatal(err)
				}
				if err := f(&s); err != nil {
					t.Fatal(err)
				}
				if err := s.close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// heapInUse returns the bytes of the Go heap that are in use.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryIsEnough compares the estimate with what layers take, the patterns
// that an engine keeps included. Small layers and small boards may take some more
// than the estimate besides their scores.
func TestMemoryIsEnough(t *testing.T) {
	for _, c := range []config{
		{seeds: 0, game: mustGame(t, 4, awari.Awari)},
		{seeds: 30, game: mustGame(t, 4, awari.Awari)},
		{seeds: 18, game: mustGame(t, 6, awari.Strict)},
		{seeds: 11, game: mustGame(t, 8, awari.Awari)},
		{seeds: 8, game: mustGame(t, 12, awari.Awari)},
	} {
		before := heapInUse()
		w := c.begin(t)
		all := w.stats.Bytes + heapInUse() - before
		runtime.KeepAlive(w)
		estimate := Memory(c.game, c.seeds)
		if w.stats.Bytes < w.ranking().Size(c.seeds) || w.stats.Bytes > estimate || c.game.Pits() == awari.MaxPits && all > estimate {
			t.Errorf("%v, %d seeds: %d bytes taken, %d of them for scores, %d estimated",
				c.game.Name(), c.seeds, all, w.stats.Bytes, estimate)
		}
	}
}

// TestMemoryGrows: who has enough for a layer has enough for those below.
func TestMemoryGrows(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		game := mustGame(t, pits, awari.Awari)
		for n := range awari.MaxSeeds {
			if Memory(game, n) > Memory(game, n+1) {
				t.Errorf("%d pits: layer %d needs %d bytes, the next one %d", pits, n, Memory(game, n), Memory(game, n+1))
			}
		}
	}
}

// TestMemoryOfWindowsGrows with the seeds, the workers and the bits, and is what form
// decides by.
func TestMemoryOfWindowsGrows(t *testing.T) {
	for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
		game := mustGame(t, pits, awari.Awari)
		for n := range awari.MaxSeeds + 1 {
			for workers := 1; workers <= 64; workers *= 4 {
				least := Least(game, n, workers)
				if n < awari.MaxSeeds && Least(game, n+1, workers) < least || Least(game, n, 4*workers) < least {
					t.Errorf("%d pits, layer %d, %d workers: %d bytes, the next layer takes %d, more workers %d",
						pits, n, workers, least, Least(game, n+1, workers), Least(game, n, 4*workers))
				}
				if whole := Whole(game, n, workers); whole < least || whole < Memory(game, n) {
					t.Errorf("%d pits, layer %d, %d workers: %d bytes, %d in one piece", pits, n, workers, least, whole)
				}
				for i, codes := range widths[1:] {
					if wider := widths[i]; narrow(game, n, workers, codes) > narrow(game, n, workers, wider) {
						t.Errorf("%d pits, layer %d, %d workers: %d bits take more than %d", pits, n, workers, codes.Bits, wider.Bits)
					}
				}
			}
		}
	}
}

// TestFormFollowsMemory: the widest codes that fit, and none if there is less than the
// least.
func TestFormFollowsMemory(t *testing.T) {
	game := mustGame(t, 12, awari.Awari)
	for _, n := range []int{24, 32, 48} {
		for _, workers := range []int{1, 2, 16} {
			memories := map[uint64]int{Whole(game, n, workers): 8, Least(game, n, workers) - 1: -1, 0: 8}
			for _, codes := range slices.Backward(widths) { // they may need the same: then the widest fits
				memories[narrow(game, n, workers, codes)] = codes.Bits
			}
			for memory, want := range memories {
				o := Options{Workers: workers, Memory: memory}
				codes, err := o.form(game, n)
				got := 8
				switch {
				case err != nil:
					got = -1
				case codes != nil:
					got = codes.Bits
				}
				if got != want || err != nil && !errors.Is(err, ErrMemory) {
					t.Errorf("layer %d, %d workers, %d bytes: %d bits, want %d; %v", n, workers, memory, got, want, err)
				}
				if err != nil && !strings.Contains(err.Error(), "layer "+strconv.Itoa(n)) {
					t.Errorf("layer %d: %v", n, err)
				}
			}
			for _, bits := range Widths { // forced
				o := Options{Workers: workers, Memory: 1, Bits: bits}
				if codes, err := o.form(game, n); err != nil || (codes == nil) != (bits == 8) || codes != nil && codes.Bits != bits {
					t.Errorf("layer %d with %d bits: %+v, %v", n, bits, codes, err)
				}
			}
		}
	}
}

// TestTooLittleMemory is refused before anything is read.
func TestTooLittleMemory(t *testing.T) {
	e, err := New(mustGame(t, 12, awari.Awari), Options{Memory: 1 << 20, Work: newDisk().work()})
	if err != nil {
		t.Fatal(err)
	}
	lower := &counting{tower: &tower{}}
	if l, err := e.Solve(t.Context(), 30, testBelow, lower); !errors.Is(err, ErrMemory) || l != nil || lower.closed.Load() != 1 {
		t.Errorf("%v, the layers below are closed %d times", err, lower.closed.Load())
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
