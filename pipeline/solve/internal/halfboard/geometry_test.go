package halfboard

import (
	"slices"
	"testing"
)

// TestCodesNumberTheHalves looks every half up by its code, its place and its
// row.
func TestCodesNumberTheHalves(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry) {
		if count := int(g.halves.Half().First(g.n + 1)); len(g.pits) != count || len(g.places) != count {
			t.Fatalf("%d pits: %d halves, %d places, want %d", g.q, len(g.pits), len(g.places), count)
		}
		for code, h := range g.pits {
			want := make([]uint8, g.q)
			sum, err := g.halves.Half().Decode(uint64(code), want)
			if err != nil || !slices.Equal(h[:g.q], want) || h.sum() != sum || g.code(&h) != uint32(code) {
				t.Fatalf("code %d is %v, want %v (%v)", code, h, want, err)
			}
			class := fullRows
			if slices.Contains(want, 0) {
				class = openRows
			}
			if at := g.place(uint32(code)); at.class != class || g.rows[sum][class][at.row] != uint32(code) {
				t.Fatalf("%v is not in row %d of class %d", want, at.row, at.class)
			}
		}
	})
}

// TestRowsAreTheHalvesOfASum: columns, and the rows of each class, are in the
// order of codes, and no half is missing or twice.
func TestRowsAreTheHalvesOfASum(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry) {
		for sum := range g.n + 1 {
			all := slices.Concat(g.rows[sum][openRows], g.rows[sum][fullRows])
			slices.Sort(all)
			for i, code := range all {
				if code != g.first(sum)+uint32(i) {
					t.Fatalf("%d pits, sum %d: half %d is that of code %d", g.q, sum, i, code)
				}
			}
			if len(all) != g.columns(sum) || g.first(sum)+uint32(len(all)) != g.first(sum+1) {
				t.Fatalf("%d pits, sum %d: %d halves, %d columns", g.q, sum, len(all), g.columns(sum))
			}
			for class := range classes {
				rows := g.rows[sum][class]
				if !slices.IsSorted(rows) || g.chunks(sum, class) != (len(rows)+63)/64 {
					t.Fatalf("%d pits, sum %d: %d chunks of rows %v", g.q, sum, g.chunks(sum, class), rows)
				}
			}
		}
	})
}

// TestNumbersDoNotDependOnTheLayer: patterns are kept from layer to layer.
func TestNumbersDoNotDependOnTheLayer(t *testing.T) {
	eachGeometry(t, func(t *testing.T, g *geometry) {
		for n := range g.n {
			small := mustGeometry(t, g.q, n)
			if !slices.Equal(small.places, g.places[:len(small.places)]) || !slices.Equal(small.pits, g.pits[:len(small.pits)]) {
				t.Fatalf("%d pits: other numbers with %d seeds than with %d", g.q, n, g.n)
			}
		}
	})
}

func TestBoardJoinsHalves(t *testing.T) {
	g := mustGeometry(t, 3, 6)
	a, b := half{1, 0, 2}, half{0, 3, 0}
	board := g.board(g.code(&a), g.code(&b))
	if want := [12]uint8{1, 0, 2, 0, 3, 0}; board != want {
		t.Errorf("%v and %v make %v", a, b, board)
	}
}

// cutSizes are bounds on runs.
var cutSizes = []int{1, 2, 3, 7, 20, 56, 64, 100, 300, 1000, 1 << 20}

// eachCut calls check for every sum of every geometry, cut in many ways. ends
// lists where the runs end.
func eachCut(t *testing.T, check func(g *geometry, sum, size int, ends []int)) {
	eachGeometry(t, func(t *testing.T, g *geometry) {
		for sum := range g.n + 1 {
			for _, size := range cutSizes {
				end := 0
				var ends []int
				for _, count := range cut(g.q, sum, size) {
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
func (g *geometry) like(sum int, a, b half) int {
	pit := g.q - 1
	for pit > 0 && a[pit] == b[pit] {
		pit--
	}
	n := 0
	for _, h := range g.pits[g.first(sum):][:g.columns(sum)] {
		if h[pit] >= min(a[pit], b[pit]) && h[pit] <= max(a[pit], b[pit]) && slices.Equal(h[pit+1:], a[pit+1:]) {
			n++
		}
	}
	return n
}

// TestRunsAreNatural: runs cover a sum, none is too long, each holds all halves
// with some content of the last pits, and no two neighbours could be one.
func TestRunsAreNatural(t *testing.T) {
	eachCut(t, func(g *geometry, sum, size int, ends []int) {
		if ends[len(ends)-1] != g.columns(sum) {
			t.Fatalf("%d pits, sum %d, at most %d: runs end at %d of %d", g.q, sum, size, ends[len(ends)-1], g.columns(sum))
		}
		halves := g.pits[g.first(sum):]
		begin, before := 0, 0
		for i, end := range ends {
			first, last := halves[begin], halves[end-1]
			if n := g.like(sum, first, last); n != end-begin || n > size {
				t.Fatalf("%d pits, at most %d: %v to %v are %d halves of %d", g.q, size, first, last, end-begin, n)
			}
			if i > 0 && end-before <= size && g.like(sum, halves[before], last) == end-before {
				t.Fatalf("%d pits, at most %d: %v to %v are two runs", g.q, size, halves[before], last)
			}
			begin, before = end, begin
		}
	})
}

// shared returns what halves have in common: the last pits in which all agree, and
// of the pit before the least content.
func shared(q int, halves []half) half {
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
	eachCut(t, func(g *geometry, sum, size int, ends []int) {
		begin := 0
		for _, end := range ends {
			first := g.first(sum) + uint32(begin)
			want := shared(g.q, g.pits[first:][:end-begin])
			if got := g.suffix(first, end-begin); got != want {
				t.Fatalf("%d pits, sum %d: %d halves from %v on share %v, want %v", g.q, sum, end-begin, g.pits[first], got, want)
			}
			begin = end
		}
	})
}

// TestLongRunsCoverPanelsAndChunks: every panel and chunk is in one tile, tiles are not
// larger than asked for by more than a panel, and halves that are not near the ends
// of tiles of some panels agree with the suffix, which sorts the tiles.
func TestLongRunsCoverPanelsAndChunks(t *testing.T) {
	rng := newRand(t)
	eachGeometry(t, func(t *testing.T, g *geometry) {
		for sum := range g.n + 1 {
			columns := make([]uint32, g.columns(sum))
			for i := range columns {
				columns[i] = g.first(sum) + uint32(i)
			}
			for _, size := range append(cutSizes, 1+rng.IntN(500), 64+rng.IntN(200)) {
				g.checkRuns(t, g.panelRuns(sum, size), columns, size)
				g.checkRuns(t, g.chunkRuns(sum, size), g.rows[sum][openRows], size)
			}
		}
	})
}

// checkRuns checks runs of the halves with the given codes.
func (g *geometry) checkRuns(t *testing.T, runs []run, codes []uint32, size int) {
	t.Helper()
	at := 0
	for _, r := range runs {
		begin, end := r.begin*side, min(r.end*side, len(codes))
		if r.begin != at || r.end <= r.begin || end <= begin || end-begin > size+side {
			t.Fatalf("%d pits, at most %d of %d: run %+v after %d", g.q, size, len(codes), r, at)
		}
		at = r.end
		if size < 2*side {
			continue // a panel may hold several cuts: nothing is sure
		}
		sure := max(end-side/2, begin) // the halves from here on may be of the next cut
		for _, code := range codes[min(begin+side/2, sure):sure] {
			if h := g.pits[code]; !h.agrees(r.suffix) {
				t.Fatalf("%d pits, at most %d: %v is in the run %+v", g.q, size, h, r)
			}
		}
	}
	if at != groups(len(codes)) {
		t.Fatalf("%d pits, at most %d: runs end at %d of %d", g.q, size, at, groups(len(codes)))
	}
}

// agrees reports whether h holds what suffix says, or more in its first pit.
func (h half) agrees(suffix half) bool {
	pit := 0
	for pit < len(h)-1 && suffix[pit] == 0 {
		pit++
	}
	return h[pit] >= suffix[pit] && slices.Equal(h[pit+1:], suffix[pit+1:])
}
