package board

import (
	"slices"
	"testing"
	"unsafe"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
)

// TestLayoutIsThatOfTheMatrices adds up what the matrices of layers take, which are
// counted half by half.
func TestLayoutIsThatOfTheMatrices(t *testing.T) {
	for q, most := range map[int]int{2: 30, 3: 25, 4: 18, 5: 14, 6: 12} {
		for n := range most + 1 {
			g := must.Get(NewGeometry(q, n))(t)
			var want Layout
			for sum := range n + 1 {
				l := g.newMatrix(sum, Side).layout()
				want.Scores += l.Scores
				want.Offers[OpenRows] += l.Offers[OpenRows]
				want.Offers[FullRows] += l.Offers[FullRows]
			}
			if got := LayoutOf(q, n); got != want || got.Total() != want.Scores+want.Offers[0]+want.Offers[1] {
				t.Errorf("%d pits, %d seeds: %+v, want %+v", q, n, got, want)
			}
		}
	}
}

// TestColumnsAndRowsAreCounted compares the formulas with the halves there are.
func TestColumnsAndRowsAreCounted(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		for sum := range g.N + 1 {
			want := [Classes]int{len(g.Rows[sum][OpenRows]), len(g.Rows[sum][FullRows])}
			if rows := RowsOf(g.Q, sum); rows != want || ColumnsOf(g.Q, sum) != want[OpenRows]+want[FullRows] {
				t.Errorf("%d pits, sum %d: %d columns, rows %v, want %v", g.Q, sum, ColumnsOf(g.Q, sum), rows, want)
			}
		}
	})
}

// TestLongMatricesDoNotOverlap looks at where the scores and offers of layers stand:
// in the memory of the layer, at whole lines, apart from each other.
func TestLongMatricesDoNotOverlap(t *testing.T) {
	rng := tries.Rand(t)
	for range tries.Runs(40) {
		c := randomConfig(t, rng)
		w, size := c.layer(t), LayoutOf(c.game.Half(), c.seeds)
		memory := must.Get(NewRegion(size.Total() + rng.IntN(1<<16)))(t)
		w.Allocate(memory, size)
		type part struct{ begin, size uintptr }
		var parts []part
		note := func(scores []int8, size int) {
			must.Not(t, len(scores) < size, "%+v: %d bytes, want %d", c, len(scores), size)
			if size > 0 {
				parts = append(parts, part{uintptr(unsafe.Pointer(&scores[0])), uintptr(size)})
			}
		}
		for _, m := range w.Matrices {
			l := m.layout()
			note(m.Scores, l.Scores)
			for class := range Classes {
				note(m.offers[class], l.Offers[class])
			}
		}
		slices.SortFunc(parts, func(a, b part) int { return int(a.begin) - int(b.begin) })
		start := uintptr(unsafe.Pointer(&memory.mapping[0]))
		end := start
		for _, p := range parts {
			must.Hold(t, p.begin >= end && p.begin%64 == 0, "%+v: %d bytes at %d after %d", c, p.size, p.begin-start, end-start)
			end = p.begin + p.size
		}
		if end != start+uintptr(size.Total()) || len(memory.mapping) < size.Total() {
			t.Fatalf("%+v: %d bytes of memory, %d in use, %d counted", c, len(memory.mapping), end-start, size.Total())
		}
		must.OK(t, memory.Close())
	}
}

// TestTakeDividesMemory: what is taken is in order, and cannot grow into what
// follows; reset takes it back.
func TestTakeDividesMemory(t *testing.T) {
	r := must.Get(NewRegion(1000))(t)
	for range 2 {
		a, b := r.Take(128), r.Take(872)
		must.Hold(t, len(a) == 128 && cap(a) == 128 && len(b) == 872 && uintptr(unsafe.Pointer(&b[0])) == uintptr(unsafe.Pointer(&a[0]))+128,
			"%d of %d and %d bytes", len(a), cap(a), len(b))
		a[127], b[0], b[871] = 1, 2, 3
		r.Reset()
	}
	must.OK(t, r.Close())
}

// mustGet takes memory from s.
func (s *Spare) mustGet(t *testing.T, size int) *Region {
	t.Helper()
	r := must.Get(s.Get(size))(t)
	must.Not(t, len(r.rest) < size, "%d bytes, want %d", len(r.rest), size)
	return r
}

func TestSpareReuses(t *testing.T) {
	var s Spare
	first := s.mustGet(t, 100_000)
	first.Take(100_000)
	second := s.mustGet(t, 100_000)
	must.Not(t, second == first, "memory in use is given away")
	for _, r := range []*Region{first, second} { // the second one is returned
		must.OK(t, s.Put(r))
	}
	if again := s.mustGet(t, 50_000); again != first {
		t.Error("spare memory is not used again")
	} else if err := s.Put(again); err != nil {
		t.Fatal(err)
	}
	larger := s.mustGet(t, 200_000)
	should.Not(t, larger == first, "memory has grown")
	must.OK(t, s.Put(larger))
	for range 2 { // the second time there is nothing
		must.OK(t, s.Close())
	}
}

// TestTooMuchMemory asks for more than any machine has.
func TestTooMuchMemory(t *testing.T) {
	var s Spare
	r, err := s.Get(1 << 60)
	should.Not(t, err == nil || r != nil, "%v, %v", r, err)
	must.OK(t, s.Close())
}

func TestSpareReturnsMemory(t *testing.T) {
	const size = 16 << 20
	for name, f := range map[string]func(s *Spare) error{
		"replaced by a larger one": func(s *Spare) error { return s.Put(s.mustGet(t, 2*size)) },
		"two put back":             func(s *Spare) error { return s.Put(must.Get(NewRegion(size))(t)) },
		"closed":                   func(*Spare) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			awaritest.ReturnsMemory(t, size, func() {
				var s Spare
				must.OK(t, s.Put(s.mustGet(t, size)))
				must.OK(t, f(&s))
				must.OK(t, s.Close())
			})
		})
	}
}

// TestStepsFit: the columns of any matrix and the links of any origins have room in a step.
func TestStepsFit(t *testing.T) {
	columns := ColumnsOf(maxHalf, awari.MaxSeeds)
	should.Not(t, columns > 1<<columnBits, "%d columns", columns)
	// A pit and the seeds in it say what the opponent receives, hence which matrix of an
	// origins a link is of.
	links := maxHalf * awari.MaxSeeds
	should.Not(t, links > 1<<(32-columnBits), "%d links", links)
}
