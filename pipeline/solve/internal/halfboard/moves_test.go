package halfboard

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"grenier/kernels/compress"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// same reports whether two slices are the same memory.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// columns lists the columns of the set bits of mask.
func columns(mask uint64) (all []int) {
	for ; mask != 0; mask &= mask - 1 {
		all = append(all, bits.TrailingZeros64(mask))
	}
	return all
}

// sowing is a move and the open row of the half that it leaves.
type sowing struct {
	move halves.Move
	row  uint32
}

func compareSowings(a, b sowing) int {
	return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.move.Laps, b.move.Laps),
		cmp.Compare(a.move.Ones, b.move.Ones), cmp.Compare(a.move.Last, b.move.Last))
}

// sowings plays every pit of h.
func (g *geometry) sowings(t *testing.T, h half) (all []sowing) {
	t.Helper()
	for pit, seeds := range h[:g.q] {
		if seeds == 0 {
			continue
		}
		left := h
		move := halves.Sow(left[:g.q], pit)
		at := g.place(g.code(&left))
		if at.class != openRows || left.sum()+move.Seeds(g.q) != h.sum() {
			t.Fatalf("pit %d of %v leaves %v", pit, h, left)
		}
		all = append(all, sowing{move, at.row})
	}
	slices.SortFunc(all, compareSowings)
	return all
}

// TestLongProgramsListTheMoves sows every pit of every column of random layers: it is in
// one group of its panel, with the row of what is left.
func TestLongProgramsListTheMoves(t *testing.T) {
	rng := newRand(t)
	for range runs(150) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid.layer
		for _, m := range g.matrices {
			if len(m.programs) != m.panels {
				t.Fatalf("%+v: %d programs of %d panels", c, len(m.programs), m.panels)
			}
			for panel := range m.programs {
				got := m.played(&m.programs[panel])
				for col := range side {
					var want []sowing
					if col < m.width(panel) {
						want = g.sowings(t, g.pits[int(m.first)+panel*side+col])
					}
					slices.SortFunc(got[col], compareSowings)
					if !slices.Equal(got[col], want) {
						t.Fatalf("%+v: %d seeds, panel %d, column %d: %+v, want %+v", c, m.sum, panel, col, got[col], want)
					}
				}
			}
		}
	}
}

// played lists what the columns of a program play.
func (m *matrix) played(p *compress.Program) (all [side][]sowing) {
	for _, group := range p.Groups {
		for i, col := range columns(group.Columns) {
			all[col] = append(all[col], sowing{m.routes[group.Route].move, p.Rows[int(group.First)+i]})
		}
	}
	return all
}

// TestLongRowsAscend: in a group the rows ascend with the columns, and the groups
// share no rows of the program.
func TestLongRowsAscend(t *testing.T) {
	rng := newRand(t)
	for range runs(150) {
		c := randomConfig(t, rng)
		for _, m := range c.begin(t).grid.matrices {
			for panel, p := range m.programs {
				next := 0
				for i, group := range p.Groups {
					count := bits.OnesCount64(group.Columns)
					if int(group.First) != next || count == 0 {
						t.Fatalf("%+v: %d seeds, panel %d: group %d is %+v, want first %d", c, m.sum, panel, i, group, next)
					}
					next += count
					for k, row := range p.Rows[group.First+1 : next] {
						if row <= p.Rows[int(group.First)+k] {
							t.Fatalf("%+v: %d seeds, panel %d: rows %v of a group", c, m.sum, panel, p.Rows[group.First:next])
						}
					}
				}
				if next != len(p.Rows) {
					t.Fatalf("%+v: %d seeds, panel %d: %d rows, want %d", c, m.sum, panel, len(p.Rows), next)
				}
			}
		}
	}
}

// TestLongRoutesAreShared: there is one route for each move of the halves of a sum,
// and it aims at the scores that the move leads to.
func TestLongRoutesAreShared(t *testing.T) {
	rng := newRand(t)
	for range runs(150) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid.layer
		for _, m := range g.matrices {
			seen := map[halves.Move]bool{}
			for i, r := range m.routes {
				if seen[r.move] || r.seeds != r.move.Seeds(g.q) {
					t.Fatalf("%+v: %d seeds: route %d is %+v, of all %+v", c, m.sum, i, r, m.routes)
				}
				seen[r.move] = true
				child := g.matrices[g.n-m.sum+r.seeds]
				for class := range classes {
					to := &m.targets[class][i]
					if !same(to.Scores, child.scores) || to.Stride != child.stride() ||
						!same(to.Words, r.pattern.words[class]) || !same(to.First, r.pattern.first[class]) {
						t.Fatalf("%+v: %d seeds: route %d aims somewhere else than at %d seeds", c, m.sum, i, child.sum)
					}
				}
			}
		}
	}
}

// TestLongRoutesHaveTheirPattern builds patterns again.
func TestLongRoutesHaveTheirPattern(t *testing.T) {
	rng := newRand(t)
	for range runs(30) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid.layer
		for range 20 {
			m := g.matrices[rng.IntN(len(g.matrices))]
			if len(m.routes) == 0 {
				continue
			}
			r := m.routes[rng.IntN(len(m.routes))]
			want := g.newPattern(g.n-m.sum, r.move)
			for class := range classes {
				if !slices.Equal(r.pattern.words[class], want.words[class]) {
					t.Fatalf("%+v: %d seeds: %+v has the pattern of another move", c, m.sum, r.move)
				}
			}
		}
	}
}

// trace is a move of one half: the index of its link, its column, and the row of what is left.
type trace struct{ link, column, row uint32 }

func compareTraces(a, b trace) int {
	return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.column, b.column), cmp.Compare(a.row, b.row))
}

// programTraces lists the moves that programs make, by the sum of what they leave.
func (g *layer) programTraces() [][]trace {
	all := make([][]trace, g.n+1)
	for _, m := range g.matrices {
		for panel, p := range m.programs {
			for _, group := range p.Groups {
				left := m.sum - m.routes[group.Route].seeds
				for i, col := range columns(group.Columns) {
					all[left] = append(all[left], trace{m.links + group.Route, uint32(panel*side + col), p.Rows[int(group.First)+i]})
				}
			}
		}
	}
	return all
}

// traces lists the moves that o, of g, holds.
func (o *origins) traces(g *layer) (all []trace) {
	index := map[*link]uint32{}
	for i := range g.links {
		index[&g.links[i]] = uint32(i)
	}
	for row := range len(o.first) - 1 {
		for _, s := range o.steps[o.first[row]:o.first[row+1]] {
			all = append(all, trace{index[o.link(s)], s.column(), uint32(row)})
		}
	}
	return all
}

// TestLongOriginsAreInversePrograms: every move of a program is one step of origins,
// and there are no others.
func TestLongOriginsAreInversePrograms(t *testing.T) {
	rng := newRand(t)
	for range runs(150) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid.layer
		for sum, want := range g.programTraces() {
			o := g.origins[sum]
			if rows := len(g.rows[sum][openRows]); len(o.first) != rows+1 || o.first[0] != 0 || int(o.first[rows]) != len(o.steps) {
				t.Fatalf("%+v: sum %d: the steps of %d rows are %v of %d", c, sum, rows, o.first, len(o.steps))
			}
			got := o.traces(g)
			slices.SortFunc(got, compareTraces)
			slices.SortFunc(want, compareTraces)
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: sum %d: %d steps, want %d", c, sum, len(got), len(want))
			}
		}
	}
}

// TestStepsFit: the columns of any matrix and the links of any origins have room in a step.
func TestStepsFit(t *testing.T) {
	if columns := columnsOf(maxHalf, awari.MaxSeeds); columns > 1<<columnBits {
		t.Errorf("%d columns", columns)
	}
	// A pit and the seeds in it say what the opponent receives, hence which matrix of an
	// origins a link is of.
	if links := maxHalf * awari.MaxSeeds; links > 1<<(32-columnBits) {
		t.Errorf("%d links", links)
	}
}

// TestLongLinksFindTheMovers: a link has the words of its route and the marks of its
// matrix.
func TestLongLinksFindTheMovers(t *testing.T) {
	rng := newRand(t)
	for range runs(150) {
		c := randomConfig(t, rng)
		g := c.begin(t).grid.layer
		next := 0
		for _, m := range g.matrices {
			if int(m.links) != next {
				t.Fatalf("%+v: %d seeds: links begin at %d, want %d", c, m.sum, m.links, next)
			}
			for i, r := range m.routes {
				l := g.links[next]
				if !same(l.words, r.pattern.words[openRows]) || !same(l.byPanel, r.pattern.byPanel) ||
					!same(l.marks, m.marks) || l.chunks != m.chunks[openRows] {
					t.Fatalf("%+v: %d seeds: link of route %d is %+v", c, m.sum, i, l)
				}
				next++
			}
		}
		if len(g.links) != next {
			t.Fatalf("%+v: %d links, want %d", c, len(g.links), next)
		}
	}
}
