package halfboard

import (
	"slices"
	"testing"

	"grenier/kernels/colex"
)

// eachGeometry calls check for halves of all sizes, cut in many ways.
func eachGeometry(t *testing.T, check func(t *testing.T, g *geometry, size int)) {
	for q := 1; q <= maxHalf; q++ {
		for _, size := range []int{1, 2, 3, 7, 20, 56, 100, 1000} {
			n := min(14, 20-2*q)
			check(t, mustGeometry(t, q, n, size), size)
		}
	}
}

// TestSlabsPartitionEverySum follows the slabs of each sum through all codes.
func TestSlabsPartitionEverySum(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry, size int) {
		code := uint32(0)
		for sum := range g.n + 1 {
			for i := range g.slabs[sum] {
				s := &g.slabs[sum][i]
				if s.first != code || s.size < 1 || s.size > size {
					t.Fatalf("%d pits, at most %d: slab %d of sum %d has %d halves from code %d on, want from %d on",
						g.q, size, i, sum, s.size, s.first, code)
				}
				code += uint32(s.size)
			}
			if uint64(code) != g.halves.Half().First(sum+1) {
				t.Fatalf("%d pits: the slabs of sum %d end at code %d", g.q, sum, code)
			}
		}
		if len(g.pits) != int(code) || len(g.places) != int(code) {
			t.Fatalf("%d halves, %d places, want %d", len(g.pits), len(g.places), code)
		}
	})
}

// TestPlacesSayWhereHalvesStand looks every half up by its code.
func TestPlacesSayWhereHalvesStand(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry, size int) {
		for code := range g.pits {
			h, at := g.pits[code], g.places[code]
			want := make([]uint8, g.q)
			sum, err := g.halves.Half().Decode(uint64(code), want)
			if err != nil || !slices.Equal(h[:g.q], want) || h.sum() != sum || g.code(&h) != uint32(code) {
				t.Fatalf("code %d is %v, want %v (%v)", code, h, want, err)
			}
			s := &g.slabs[sum][at.slab]
			if s.code(int(at.col)) != uint32(code) {
				t.Fatalf("%v is not in column %d of slab %d", want, at.col, at.slab)
			}
			class := fullRows
			if slices.Contains(want, 0) {
				class = openRows
			}
			if at.class != class || g.rowCodes(sum, s, class)[at.row] != uint32(code) {
				t.Fatalf("%v is not in row %d of class %d of slab %d", want, at.row, class, at.slab)
			}
			if g.rows[sum][class][s.above[class]+int(at.row)] != uint32(code) {
				t.Fatalf("%v is not in row %d of its sum", want, s.above[class]+int(at.row))
			}
		}
	})
}

// TestRowsAreAllHalvesOfASum counts the rows by slab and by sum.
func TestRowsAreAllHalvesOfASum(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry, size int) {
		for sum := range g.n + 1 {
			var above [classes]int
			for _, s := range g.slabs[sum] {
				if s.above != above || s.rows[openRows]+s.rows[fullRows] != s.size {
					t.Fatalf("slab %+v of sum %d: %v rows come before", s, sum, above)
				}
				above[openRows] += s.rows[openRows]
				above[fullRows] += s.rows[fullRows]
			}
			for class := range classes {
				if len(g.rows[sum][class]) != above[class] || !slices.IsSorted(g.rows[sum][class]) {
					t.Fatalf("sum %d, class %d: rows %v, want %d in order", sum, class, g.rows[sum][class], above[class])
				}
			}
		}
	})
}

// run returns the number of halves that agree with first and last behind their
// last difference, and hold there what they hold or something between.
func (g *geometry) run(first, last half) int {
	pit := g.q - 1
	for pit > 0 && first[pit] == last[pit] {
		pit--
	}
	if pit == 0 {
		return 1 // they are the same
	}
	left, size := 0, 0
	for _, x := range first[:pit+1] {
		left += int(x)
	}
	for x := last[pit]; x <= first[pit]; x++ {
		count, err := colex.Binomial(left-int(x)+pit-1, pit-1)
		if err != nil {
			panic(err)
		}
		size += int(count)
	}
	return size
}

// TestSlabsAreNatural checks that a slab holds all halves with some content of
// the last pits, and that no two neighbours could be one slab.
func TestSlabsAreNatural(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry, size int) {
		for sum := range g.n + 1 {
			for i, s := range g.slabs[sum] {
				last := g.pits[s.code(s.size-1)]
				if n := g.run(g.pits[s.first], last); n != s.size {
					t.Fatalf("%d pits, at most %d: %v to %v are %d halves of %d",
						g.q, size, g.pits[s.first], last, s.size, n)
				}
				if i == 0 {
					continue
				}
				before := &g.slabs[sum][i-1]
				if both := before.size + s.size; both <= size && g.run(g.pits[before.first], last) == both {
					t.Fatalf("%d pits, at most %d: %v to %v are two slabs", g.q, size, g.pits[before.first], last)
				}
			}
		}
	})
}

// TestCutDoesNotDependOnTheLayer: patterns are kept from layer to layer.
func TestCutDoesNotDependOnTheLayer(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry, size int) {
		for n := range g.n {
			small := mustGeometry(t, g.q, n, size)
			for sum := range n + 1 {
				if !slices.Equal(small.slabs[sum], g.slabs[sum]) {
					t.Fatalf("%d pits, at most %d: sum %d is cut otherwise with %d seeds", g.q, size, sum, n)
				}
			}
			if !slices.Equal(small.places, g.places[:len(small.places)]) {
				t.Fatalf("%d pits, at most %d: other places with %d seeds", g.q, size, n)
			}
		}
	})
}

func TestBoardJoinsHalves(t *testing.T) {
	g := mustGeometry(t, 3, 6, 5)
	a, b := half{1, 0, 2}, half{0, 3, 0}
	board := g.board(g.code(&a), g.code(&b))
	if want := [12]uint8{1, 0, 2, 0, 3, 0}; board != want {
		t.Errorf("%v and %v make %v", a, b, board)
	}
}
