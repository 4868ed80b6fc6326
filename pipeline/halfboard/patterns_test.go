package halfboard

import (
	"reflect"
	"slices"
	"testing"

	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// play is a half and a pit of it that make a certain move.
type play struct {
	half half
	pit  int
}

// plays returns an example of every move of g, with as few seeds as can be.
func (g *geometry) plays() map[halves.Move]play {
	plays := map[halves.Move]play{}
	for _, h := range g.pits {
		for pit, seeds := range h[:g.q] {
			if seeds == 0 {
				continue
			}
			left := h
			move := halves.Sow(left[:g.q], pit)
			if _, known := plays[move]; !known { // halves come by their seeds
				plays[move] = play{h, pit}
			}
		}
	}
	return plays
}

// eachPattern calls check for every pattern that a layer of g could need, with
// an example of its move.
func (g *geometry) eachPattern(check func(sum int, move halves.Move, p *pattern, example play)) {
	for move, example := range g.plays() {
		for sum := 0; sum+example.half.sum() <= g.n; sum++ {
			check(sum, move, g.newPattern(sum, move), example)
		}
	}
}

// TestImagesAreReachMasks compares the masks with those that package colex
// defines, where a sum is one slab.
func TestImagesAreReachMasks(t *testing.T) {
	for q := 2; q <= maxHalf; q++ {
		g := mustGeometry(t, q, 24-2*q, 1<<20)
		g.eachPattern(func(sum int, move halves.Move, p *pattern, _ play) {
			for class := range classes {
				want := g.reachMask(t, sum, move, class)
				if images := p.images[class][0]; want == nil && images != nil {
					t.Fatalf("%d pits, sum %d, %+v: there is no quiet move", q, sum, move)
				} else if want != nil && (len(images) != 1 || images[0].slab != 0 || !reflect.DeepEqual(images[0].mask, want)) {
					t.Fatalf("%d pits, sum %d, %+v, class %d: %+v, want %+v", q, sum, move, class, images, want)
				}
			}
		})
	}
}

// reachMask returns the mask of the children of all halves of a class with sum
// seeds, nil if the move captures from all of them.
func (g *geometry) reachMask(t *testing.T, sum int, move halves.Move, class rowClass) *compress.Mask {
	t.Helper()
	add := make([]uint8, g.q)
	for i := range add {
		add[i] = move.Gain(i)
	}
	ofClass := func(child []uint8) bool {
		open := false
		for i, x := range child {
			open = open || x == add[i]
		}
		return open == (class == openRows)
	}
	anyQuiet := false
	ofQuiet := func(child []uint8) bool {
		quiet := ofClass(child) && (move.Last < 0 || child[move.Last] != 2 && child[move.Last] != 3)
		anyQuiet = anyQuiet || quiet
		return quiet
	}
	reach, err := g.halves.Half().ReachMask(sum+move.Seeds(g.q), add, ofClass)
	if err != nil {
		t.Fatal(err)
	}
	quiet, err := g.halves.Half().ReachMask(sum+move.Seeds(g.q), add, ofQuiet)
	if err != nil || !anyQuiet {
		return nil
	}
	return compress.NewMask(reach, quiet)
}

// TestPatternsFollowTheRules plays every move on every half by the rules of
// package awari, however sums are cut.
func TestPatternsFollowTheRules(t *testing.T) {
	for q := 2; q <= maxHalf; q++ {
		game := mustGame(t, 2*q, awari.Awari)
		for _, size := range []int{1, 5, 30, 1000} {
			g := mustGeometry(t, q, 24-2*q, size)
			g.eachPattern(func(sum int, move halves.Move, p *pattern, example play) {
				for class := range classes {
					w := wanted{geometry: g, game: game, sum: sum, class: class, captures: map[int][]pair{}}
					w.play(example)
					w.compare(t, move, p)
				}
			})
		}
	}
}

// wanted is what a pattern should hold for one class of rows.
type wanted struct {
	*geometry
	game     awari.Game
	sum      int
	class    rowClass
	quiet    []bool
	children []half // of all rows, sown
	captures map[int][]pair
}

// play plays the move of the example on all rows.
func (w *wanted) play(example play) {
	for row, code := range w.rows[w.sum][w.class] {
		var board awari.Board
		copy(board[:w.q], example.half[:w.q])
		copy(board[w.q:], w.pits[code][:w.q])
		sown := w.game.Sow(board, example.pit)
		w.quiet = append(w.quiet, sown.Captured == 0)
		var child half
		copy(child[:], sown.Board[w.q:w.game.Pits()])
		if sown.Captured > 0 && !sown.Starves { // a grand slam is left to the rules
			rank := w.halves.Half().Rank(child[:w.q])
			w.captures[sown.Captured] = append(w.captures[sown.Captured], pair{uint32(row), uint32(rank)})
		}
		w.children = append(w.children, child)
	}
}

func (w *wanted) compare(t *testing.T, move halves.Move, p *pattern) {
	t.Helper()
	for row, quiet := range w.quiet {
		if p.quiet[w.class][row/64]>>(row%64)&1 == 1 != quiet {
			t.Fatalf("%d pits, sum %d, %+v: row %d is quiet: %v", w.q, w.sum, move, row, quiet)
		}
	}
	got := map[int][]pair{}
	for _, c := range p.captures[w.class] {
		got[c.seeds] = c.pairs
	}
	if !reflect.DeepEqual(got, w.captures) {
		t.Fatalf("%d pits, sum %d, %+v: captures %v, want %v", w.q, w.sum, move, got, w.captures)
	}
	for i := range w.slabs[w.sum] {
		w.compareSlab(t, move, i, p.images[w.class][i])
	}
}

// compareSlab picks the children of the rows of a slab and looks where they
// stand.
func (w *wanted) compareSlab(t *testing.T, move halves.Move, slab int, images []image) {
	t.Helper()
	s := &w.slabs[w.sum][slab]
	rows := w.rowCodes(w.sum, s, w.class)
	quiet := w.quiet[s.above[w.class]:][:len(rows)]
	if !slices.Contains(quiet, true) {
		if images != nil {
			t.Fatalf("%d pits, sum %d, %+v: slab %d has no quiet move", w.q, w.sum, move, slab)
		}
		return
	}
	children := w.pick(w.slabs[w.sum+move.Seeds(w.q)], images, len(rows))
	for row, got := range children {
		if !quiet[row] {
			if got != nobody {
				t.Fatalf("%d pits, sum %d, %+v: row %d of slab %d is not quiet", w.q, w.sum, move, row, slab)
			}
			continue
		}
		want := w.children[s.above[w.class]+row]
		if got != w.code(&want) {
			t.Fatalf("%d pits, sum %d, %+v: row %d of slab %d has another child than %v", w.q, w.sum, move, row, slab, want)
		}
	}
}

// nobody stands for a child that a mask blocks.
const nobody = 1<<32 - 1

// pick returns the codes that images pick from slabs. A score holds less than a
// code, so codes are picked digit by digit.
func (w *wanted) pick(slabs []slab, images []image, rows int) []uint32 {
	const base = 100
	codes := make([]uint32, rows)
	for digit := uint32(1); digit <= uint32(len(w.pits)); digit *= base {
		column := compress.Column{
			Dst: make([]int8, rows), Offers: slices.Repeat([]int8{compress.Blocked}, rows), Picks: len(images),
		}
		var picks []compress.Pick
		for i, image := range images {
			src := make([]int8, slabs[image.slab].size)
			for col := range src {
				src[col] = int8(slabs[image.slab].code(col) / digit % base)
			}
			picks = append(picks, compress.Pick{Src: src, Mask: image.mask, First: i == 0})
		}
		compress.LeastFor(cpu.Generic)([]compress.Column{column}, picks, make([]int8, compress.Scratch(rows, 1)))
		for row, x := range column.Dst {
			if x == compress.Blocked {
				codes[row] = nobody
			} else {
				codes[row] += uint32(x) * digit
			}
		}
	}
	return codes
}

// TestPatternsAreKept: the same pattern is given to all who ask.
func TestPatternsAreKept(t *testing.T) {
	g, move := mustGeometry(t, 3, 8, 10), halves.Move{Ones: 2, Last: 1}
	kept := &patterns{}
	first := kept.get(g, 4, move)
	if kept.get(mustGeometry(t, 3, 5, 10), 4, move) != first {
		t.Error("the pattern was computed again")
	}
	if kept.get(g, 3, move) == first || kept.get(g, 4, halves.Move{Ones: 3, Last: 2}) == first {
		t.Error("a pattern stands for another one")
	}
}
