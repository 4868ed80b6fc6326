package board

import (
	"slices"
	"testing"

	"grenier/internal/testkit/awaritest"
)

// TestCodesNumberTheHalves looks every half up by its code, its place and its
// row.
func TestCodesNumberTheHalves(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		if count := int(g.Halves.Half().First(g.N + 1)); len(g.Pits) != count || len(g.places) != count {
			t.Fatalf("%d pits: %d halves, %d places, want %d", g.Q, len(g.Pits), len(g.places), count)
		}
		for code, h := range g.Pits {
			want := make([]uint8, g.Q)
			sum, err := g.Halves.Half().Decode(uint64(code), want)
			if err != nil || !slices.Equal(h[:g.Q], want) || h.Sum() != sum || g.Code(&h) != uint32(code) {
				t.Fatalf("code %d is %v, want %v (%v)", code, h, want, err)
			}
			class := FullRows
			if slices.Contains(want, 0) {
				class = OpenRows
			}
			if at := g.Place(uint32(code)); at.Class != class || g.Rows[sum][class][at.Row] != uint32(code) {
				t.Fatalf("%v is not in row %d of class %d", want, at.Row, at.Class)
			}
		}
	})
}

// TestRowsAreTheHalvesOfASum: columns, and the rows of each class, are in the
// order of codes, and no half is missing or twice.
func TestRowsAreTheHalvesOfASum(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		for sum := range g.N + 1 {
			all := slices.Concat(g.Rows[sum][OpenRows], g.Rows[sum][FullRows])
			slices.Sort(all)
			for i, code := range all {
				if code != g.first(sum)+uint32(i) {
					t.Fatalf("%d pits, sum %d: half %d is that of code %d", g.Q, sum, i, code)
				}
			}
			if len(all) != g.columns(sum) || g.first(sum)+uint32(len(all)) != g.first(sum+1) {
				t.Fatalf("%d pits, sum %d: %d halves, %d columns", g.Q, sum, len(all), g.columns(sum))
			}
			for class := range Classes {
				rows := g.Rows[sum][class]
				if !slices.IsSorted(rows) || g.chunks(sum, class) != (len(rows)+63)/64 {
					t.Fatalf("%d pits, sum %d: %d chunks of rows %v", g.Q, sum, g.chunks(sum, class), rows)
				}
			}
		}
	})
}

// TestNumbersDoNotDependOnTheLayer: patterns are kept from layer to layer.
func TestNumbersDoNotDependOnTheLayer(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		for n := range g.N {
			small := mustGeometry(t, g.Q, n)
			if !slices.Equal(small.places, g.places[:len(small.places)]) || !slices.Equal(small.Pits, g.Pits[:len(small.Pits)]) {
				t.Fatalf("%d pits: other numbers with %d seeds than with %d", g.Q, n, g.N)
			}
		}
	})
}

func TestBoardJoinsHalves(t *testing.T) {
	g := mustGeometry(t, 3, 6)
	a, b := Half{1, 0, 2}, Half{0, 3, 0}
	board := g.Board(g.Code(&a), g.Code(&b))
	if want := [12]uint8{1, 0, 2, 0, 3, 0}; board != want {
		t.Errorf("%v and %v make %v", a, b, board)
	}
}

// cutSizes are bounds on runs.
var cutSizes = []int{1, 2, 3, 7, 20, 56, 64, 100, 300, 1000, 1 << 20}

// eachCut calls check for every sum of every geometry, cut in many ways. ends
// lists where the runs end.
func eachCut(t *testing.T, check func(g *Geometry, sum, size int, ends []int)) {
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		for sum := range g.N + 1 {
			for _, size := range cutSizes {
				end := 0
				var ends []int
				for _, count := range cut(g.Q, sum, size) {
					end += count
					ends = append(ends, end)
				}
				check(g, sum, size, ends)
			}
		}
	})
}

// like returns the number of halves of a sum that hold the same as a and b behind
// the last pit in which these differ, and there what they hold or something between.
func (g *Geometry) like(sum int, a, b Half) int {
	pit := g.Q - 1
	for pit > 0 && a[pit] == b[pit] {
		pit--
	}
	n := 0
	for _, h := range g.Pits[g.first(sum):][:g.columns(sum)] {
		if h[pit] >= min(a[pit], b[pit]) && h[pit] <= max(a[pit], b[pit]) && slices.Equal(h[pit+1:], a[pit+1:]) {
			n++
		}
	}
	return n
}

// TestRunsAreNatural: runs cover a sum, none is too long, each holds all halves
// with some content of the last pits, and no two neighbours could be one.
func TestRunsAreNatural(t *testing.T) {
	eachCut(t, func(g *Geometry, sum, size int, ends []int) {
		if ends[len(ends)-1] != g.columns(sum) {
			t.Fatalf("%d pits, sum %d, at most %d: runs end at %d of %d", g.Q, sum, size, ends[len(ends)-1], g.columns(sum))
		}
		halves := g.Pits[g.first(sum):]
		begin, before := 0, 0
		for i, end := range ends {
			first, last := halves[begin], halves[end-1]
			if n := g.like(sum, first, last); n != end-begin || n > size {
				t.Fatalf("%d pits, at most %d: %v to %v are %d halves of %d", g.Q, size, first, last, end-begin, n)
			}
			if i > 0 && end-before <= size && g.like(sum, halves[before], last) == end-before {
				t.Fatalf("%d pits, at most %d: %v to %v are two runs", g.Q, size, halves[before], last)
			}
			begin, before = end, begin
		}
	})
}

// shared returns what halves have in common: the last pits in which all agree, and
// of the pit before the least content.
func shared(q int, halves []Half) Half {
	common := halves[0]
	for pit := q - 1; pit >= 0; pit-- {
		same := true
		for _, h := range halves {
			same = same && h[pit] == common[pit]
			common[pit] = min(common[pit], h[pit])
		}
		if !same {
			clear(common[:pit])
			break
		}
	}
	return common
}

func TestSuffixIsWhatHalvesShare(t *testing.T) {
	eachCut(t, func(g *Geometry, sum, size int, ends []int) {
		begin := 0
		for _, end := range ends {
			first := g.first(sum) + uint32(begin)
			want := shared(g.Q, g.Pits[first:][:end-begin])
			if got := g.suffix(first, end-begin); got != want {
				t.Fatalf("%d pits, sum %d: %d halves from %v on share %v, want %v", g.Q, sum, end-begin, g.Pits[first], got, want)
			}
			begin = end
		}
	})
}

// TestRunsCoverPanelsAndChunks: every panel and chunk is in one tile, tiles are not
// larger than asked for by more than a panel, and halves that are not near the ends
// of tiles of some panels agree with the suffix, which sorts the tiles.
func TestRunsCoverPanelsAndChunks(t *testing.T) {
	rng := awaritest.Rand(t)
	eachGeometry(t, func(t *testing.T, g *Geometry) {
		for sum := range g.N + 1 {
			columns := make([]uint32, g.columns(sum))
			for i := range columns {
				columns[i] = g.first(sum) + uint32(i)
			}
			for _, size := range append(cutSizes, 1+rng.IntN(500), 64+rng.IntN(200)) {
				g.checkRuns(t, g.PanelRuns(sum, size), columns, size)
				g.checkRuns(t, g.ChunkRuns(sum, size), g.Rows[sum][OpenRows], size)
			}
		}
	})
}

// checkRuns checks runs of the halves with the given codes.
func (g *Geometry) checkRuns(t *testing.T, runs []Run, codes []uint32, size int) {
	t.Helper()
	at := 0
	for _, r := range runs {
		begin, end := r.Begin*Side, min(r.End*Side, len(codes))
		if r.Begin != at || r.End <= r.Begin || end <= begin || end-begin > size+Side {
			t.Fatalf("%d pits, at most %d of %d: run %+v after %d", g.Q, size, len(codes), r, at)
		}
		at = r.End
		if size < 2*Side {
			continue // a panel may hold several cuts: nothing is sure
		}
		sure := max(end-Side/2, begin) // the halves from here on may be of the next cut
		for _, code := range codes[min(begin+Side/2, sure):sure] {
			if h := g.Pits[code]; !h.agrees(r.Suffix) {
				t.Fatalf("%d pits, at most %d: %v is in the run %+v", g.Q, size, h, r)
			}
		}
	}
	if at != Groups(len(codes)) {
		t.Fatalf("%d pits, at most %d: runs end at %d of %d", g.Q, size, at, Groups(len(codes)))
	}
}

// agrees reports whether h holds what suffix says, or more in its first pit.
func (h Half) agrees(suffix Half) bool {
	pit := 0
	for pit < len(h)-1 && suffix[pit] == 0 {
		pit++
	}
	return h[pit] >= suffix[pit] && slices.Equal(h[pit+1:], suffix[pit+1:])
}
