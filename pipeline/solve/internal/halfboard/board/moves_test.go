package board

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"grenier/internal/testkit/awaritest"
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
func (g *Geometry) sowings(t *testing.T, h Half) (all []sowing) {
	t.Helper()
	for pit, seeds := range h[:g.Q] {
		if seeds == 0 {
			continue
		}
		left := h
		move := halves.Sow(left[:g.Q], pit)
		at := g.Place(g.Code(&left))
		if at.Class != OpenRows || left.Sum()+move.Seeds(g.Q) != h.Sum() {
			t.Fatalf("pit %d of %v leaves %v", pit, h, left)
		}
		all = append(all, sowing{move, at.Row})
	}
	slices.SortFunc(all, compareSowings)
	return all
}

// TestLongProgramsListTheMoves sows every pit of every column of random layers: it is in
// one group of its panel, with the row of what is left.
func TestLongProgramsListTheMoves(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(150) {
		c := randomConfig(t, rng)
		g := c.layer(t)
		for _, m := range g.Matrices {
			if len(m.Programs) != m.Panels {
				t.Fatalf("%+v: %d programs of %d panels", c, len(m.Programs), m.Panels)
			}
			for panel := range m.Programs {
				got := m.played(&m.Programs[panel])
				for col := range Side {
					var want []sowing
					if col < m.Width(panel) {
						want = g.sowings(t, g.Pits[int(m.First)+panel*Side+col])
					}
					slices.SortFunc(got[col], compareSowings)
					if !slices.Equal(got[col], want) {
						t.Fatalf("%+v: %d seeds, panel %d, column %d: %+v, want %+v", c, m.Sum, panel, col, got[col], want)
					}
				}
			}
		}
	}
}

// played lists what the columns of a program play.
func (m *Matrix) played(p *compress.Program) (all [Side][]sowing) {
	for _, group := range p.Groups {
		for i, col := range columns(group.Columns) {
			all[col] = append(all[col], sowing{m.Routes[group.Route].move, p.Rows[int(group.First)+i]})
		}
	}
	return all
}

// TestLongRowsAscend: in a group the rows ascend with the columns, and the groups
// share no rows of the program.
func TestLongRowsAscend(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(150) {
		c := randomConfig(t, rng)
		for _, m := range c.layer(t).Matrices {
			for panel, p := range m.Programs {
				next := 0
				for i, group := range p.Groups {
					count := bits.OnesCount64(group.Columns)
					if int(group.First) != next || count == 0 {
						t.Fatalf("%+v: %d seeds, panel %d: group %d is %+v, want first %d", c, m.Sum, panel, i, group, next)
					}
					next += count
					for k, row := range p.Rows[group.First+1 : next] {
						if row <= p.Rows[int(group.First)+k] {
							t.Fatalf("%+v: %d seeds, panel %d: rows %v of a group", c, m.Sum, panel, p.Rows[group.First:next])
						}
					}
				}
				if next != len(p.Rows) {
					t.Fatalf("%+v: %d seeds, panel %d: %d rows, want %d", c, m.Sum, panel, len(p.Rows), next)
				}
			}
		}
	}
}

// TestLongRoutesAreShared: there is one route for each move of the halves of a sum,
// and it aims at the scores that the move leads to.
func TestLongRoutesAreShared(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(150) {
		c := randomConfig(t, rng)
		g := c.layer(t)
		for _, m := range g.Matrices {
			seen := map[halves.Move]bool{}
			for i, r := range m.Routes {
				if seen[r.move] || r.seeds != r.move.Seeds(g.Q) {
					t.Fatalf("%+v: %d seeds: route %d is %+v, of all %+v", c, m.Sum, i, r, m.Routes)
				}
				seen[r.move] = true
				child := g.Matrices[g.N-m.Sum+r.seeds]
				for class := range Classes {
					to := &m.Targets[class][i]
					if !same(to.Scores, child.Scores) || to.Stride != child.Stride() ||
						!same(to.Words, r.Pattern.Words[class]) || !same(to.First, r.Pattern.First[class]) {
						t.Fatalf("%+v: %d seeds: route %d aims somewhere else than at %d seeds", c, m.Sum, i, child.Sum)
					}
				}
			}
		}
	}
}

// TestLongRoutesHaveTheirPattern builds patterns again.
func TestLongRoutesHaveTheirPattern(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(30) {
		c := randomConfig(t, rng)
		g := c.layer(t)
		for range 20 {
			m := g.Matrices[rng.IntN(len(g.Matrices))]
			if len(m.Routes) == 0 {
				continue
			}
			r := m.Routes[rng.IntN(len(m.Routes))]
			want := g.newPattern(g.N-m.Sum, r.move)
			for class := range Classes {
				if !slices.Equal(r.Pattern.Words[class], want.Words[class]) {
					t.Fatalf("%+v: %d seeds: %+v has the pattern of another move", c, m.Sum, r.move)
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
func (g *Layer) programTraces() [][]trace {
	all := make([][]trace, g.N+1)
	for _, m := range g.Matrices {
		for panel, p := range m.Programs {
			for _, group := range p.Groups {
				left := m.Sum - m.Routes[group.Route].seeds
				for i, col := range columns(group.Columns) {
					all[left] = append(all[left], trace{m.links + group.Route, uint32(panel*Side + col), p.Rows[int(group.First)+i]})
				}
			}
		}
	}
	return all
}

// traces lists the moves that o, of g, holds.
func (o *origins) traces(g *Layer) (all []trace) {
	index := map[*Link]uint32{}
	for i := range g.links {
		index[&g.links[i]] = uint32(i)
	}
	for row := range len(o.First) - 1 {
		for _, s := range o.Steps[o.First[row]:o.First[row+1]] {
			all = append(all, trace{index[o.Link(s)], s.Column(), uint32(row)})
		}
	}
	return all
}

// TestLongOriginsAreInversePrograms: every move of a program is one step of origins,
// and there are no others.
func TestLongOriginsAreInversePrograms(t *testing.T) {
	rng := awaritest.Rand(t)
	for range awaritest.Runs(150) {
		c := randomConfig(t, rng)
		g := c.layer(t)
		for sum, want := range g.programTraces() {
			o := g.Origins[sum]
			if rows := len(g.Rows[sum][OpenRows]); len(o.First) != rows+1 || o.First[0] != 0 || int(o.First[rows]) != len(o.Steps) {
				t.Fatalf("%+v: sum %d: the steps of %d rows are %v of %d", c, sum, rows, o.First, len(o.Steps))
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
	if columns := ColumnsOf(maxHalf, awari.MaxSeeds); columns > 1<<columnBits {
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
	rng := awaritest.Rand(t)
	for range awaritest.Runs(150) {
		c := randomConfig(t, rng)
		g := c.layer(t)
		next := 0
		for _, m := range g.Matrices {
			if int(m.links) != next {
				t.Fatalf("%+v: %d seeds: links begin at %d, want %d", c, m.Sum, m.links, next)
			}
			for i, r := range m.Routes {
				l := g.links[next]
				if !same(l.Words, r.Pattern.Words[OpenRows]) || !same(l.ByPanel, r.Pattern.byPanel) ||
					!same(l.Marks, m.Marks) || l.Chunks != m.Chunks[OpenRows] {
					t.Fatalf("%+v: %d seeds: link of route %d is %+v", c, m.Sum, i, l)
				}
				next++
			}
		}
		if len(g.links) != next {
			t.Fatalf("%+v: %d links, want %d", c, len(g.links), next)
		}
	}
}
