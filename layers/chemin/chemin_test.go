package chemin

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// TestReference compares what needs no search with values from elsewhere.
func TestReference(t *testing.T) {
	for _, r := range must.Rows(t, "testdata/small.csv") {
		var n [16]uint64
		for i := range n {
			n[i] = must.Get(strconv.ParseUint(r[i], 10, 64))(t)
		}
		b := must.Get(New(int(n[0]), int(n[1])))(t)
		orders, orderClasses := b.Orders()
		orientations, classes := b.Orientations()
		got := []uint64{uint64(len(b.Symmetries())), orders, orderClasses, orientations, classes}
		should.List(t, got, n[2:7], "%d x %d: symmetries, orders, orientations", n[0], n[1])
	}
	for _, size := range [][2]int{{0, 3}, {3, 0}, {-1, -1}, {26, 1}, {1, 26}, {4, 7}, {1 << 62, 4}} {
		should.Be(t, must.Err(New(size[0], size[1])), ErrBoard, "New%v", size)
	}
}

// TestPlay replays orders of document 002.
func TestPlay(t *testing.T) {
	for _, tt := range []struct {
		order []int
		want  []uint32
	}{
		{[]int{0, 4, 1, 2, 5, 8, 7, 6, 3}, []uint32{1, 2, 3, 33, 1, 6, 15, 14, 7}},  // the example: 33
		{[]int{0, 6, 3, 7, 4, 8, 5, 2, 1}, []uint32{1, 57, 27, 2, 7, 20, 1, 3, 10}}, // solution 1: 57
	} {
		should.List(t, must.Get(must.Get(New(3, 3))(t).Play(tt.order))(t), tt.want, "Play(%v)", tt.order)
	}
	for _, order := range [][]int{nil, {0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 4}, {0, 1, -1, 2}} {
		should.Be(t, must.Err(must.Get(New(2, 2))(t).Play(order)), ErrOrder, "Play(%v)", order)
	}
}

// TestSymmetry plays random orders and their images: grids, orientations and canonical states must correspond at every step. The least
// order of an orientation has it, and comes before any other.
func TestSymmetry(t *testing.T) {
	random := tries.Rand(t)
	for _, size := range [][2]int{{1, 1}, {1, 5}, {2, 2}, {2, 4}, {3, 3}, {4, 4}, {3, 5}} {
		b := must.Get(New(size[0], size[1]))(t)
		order := random.Perm(b.Cells())
		for i := range b.Symmetries() {
			by := &b.Symmetries()[i]
			var s, moved State
			image := make([]int, len(order))
			for k, cell := range order {
				image[k] = int(by[cell])
				var v, w uint32
				s, v = b.Fill(&s, cell)
				moved, w = b.Fill(&moved, image[k])
				must.Not(t, v != w || moved != s.Move(by), "%v %v: step %d of %v and %v differ", size, *by, k, order, image)
				one, way := b.Canonical(&s)
				other, _ := b.Canonical(&moved)
				must.Hold(t, one == other && one == s.Move(way), "%v: canonical states of step %d of %v and %v differ", size, k, order, image)
			}
			o := b.Orient(order)
			must.Hold(t, o.Move(b, by) == b.Orient(image), "%v: orientations of %v and %v do not correspond", size, order, image)
		}
	}
	b := must.Get(New(3, 4))(t)
	for range 200 {
		order := random.Perm(b.Cells())
		o := b.Orient(order)
		least := o.Order(b)
		must.Hold(t, b.Orient(least) == o && slices.Compare(least, order) <= 0, "%v for the orientation of %v", least, order)
	}
}

// TestExtensions counts orders by orientation: they must add up to all orders.
func TestExtensions(t *testing.T) {
	b := must.Get(New(2, 3))(t)
	const last = Cells(0b100_010)
	orders, ending := map[Orientation]uint64{}, map[Orientation]uint64{}
	for order := range tries.Orders(6) {
		o := b.Orient(order)
		orders[o]++
		if last>>order[5]&1 != 0 {
			ending[o]++
		}
	}
	should.Equal(t, len(orders), 288, "orientations")
	for o, want := range orders {
		got, end, ok := o.Extensions(b, last, 1<<6)
		should.Hold(t, ok && got == want && end == ending[o], "Extensions of %v = %d, %d, %v, want %d, %d", o, got, end, ok, want, ending[o])
	}
	var none Orientation
	_, _, ok := none.Extensions(b, 0, 10)
	should.Not(t, ok, "Extensions found room for 20 sets where 10 are allowed")
}

func TestComponent(t *testing.T) {
	b := must.Get(New(3, 3))(t)
	for set, want := range map[Cells]Cells{
		0: 0, 1: 1, 0b100_000_101: 0b1, 0b101_010_101: 0b101_010_101, 0b111_000_111: 0b111, 0b001_100_011: 0b100_011, b.Full(): b.Full(),
	} {
		should.Equal(t, b.Component(set), want, "Component(%b)", set)
	}
}

// TestDraw: a drawing as SVG is well formed and has a grid for each step.
func TestDraw(t *testing.T) {
	b := must.Get(New(2, 2))(t)
	want := ` step 1   step 2
[1] .     1  .
 .  .     . [1]

 step 3   step 4
 1 [2]    1  2
 .  1    [4] 1
`
	should.Equal(t, must.Get(b.DrawSteps([]int{0, 3, 1, 2}, 24))(t), want)
	should.Equal(t, b.Draw([]uint32{1, 10, 0, 3}), "  1  10\n  .   3", "Draw")
	should.Be(t, must.Err(b.DrawSteps([]int{0}, 80)), ErrOrder, "DrawSteps")
	should.Be(t, must.Err(b.SVG(nil)), ErrOrder, "SVG")

	svg := must.Get(must.Get(New(3, 3))(t).SVG([]int{0, 6, 3, 7, 4, 8, 5, 2, 1}))(t)
	count := map[string]int{}
	for _, e := range must.XML(t, svg) {
		count[e.Name.Local]++
	}
	should.Hold(t, count["svg"] == 1 && count["g"] == 9 && count["rect"] == 81 && count["text"] == 9+45, "elements: %v", count)
	should.Hold(t, strings.Count(svg, `class="new"`) == 9 && strings.Contains(svg, ">57</text>"), "the steps are not marked")
}

// TestLongLastCell plays all orders of small boards: on those with two rows and columns or more the last cell of every
// best order, and no other cell, has the score (docs/sources.md), on longer lines not.
func TestLongLastCell(t *testing.T) {
	shapes := [][2]int{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {5, 1}, {1, 7}, {2, 2}, {2, 3}, {3, 2}, {2, 4}, {3, 3}}
	for _, shape := range shapes[:tries.More(len(shapes)-1, len(shapes))] {
		b := must.Get(New(shape[0], shape[1]))(t)
		best, elsewhere, shared := uint32(0), false, false
		for order := range tries.Orders(b.Cells()) {
			grid := must.Get(b.Play(order))(t)
			score := slices.Max(grid)
			if score > best {
				best, elsewhere, shared = score, false, false
			}
			if score == best {
				elsewhere = elsewhere || grid[order[len(order)-1]] != score
				shared = shared || slices.Contains(grid[slices.Index(grid, score)+1:], score)
			}
		}
		line := min(shape[0], shape[1]) == 1
		should.Not(t, !line && (elsewhere || shared) || line && b.Cells() > 3 && !elsewhere,
			"%v, score %d: a best order ends elsewhere: %v; has it twice: %v", shape, best, elsewhere, shared)
	}
}
