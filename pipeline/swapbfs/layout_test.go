package swapbfs

import (
	"testing"

	"grenier/layers/swap"
)

// TestLayouts checks that every grid of up to 16 cells can be divided, and that
// each edge is in one list with places in range.
func TestLayouts(t *testing.T) {
	for rows := 1; rows <= swap.MaxCells; rows++ {
		for cols := 1; rows*cols <= swap.MaxCells; cols++ {
			if rows*cols > 13 && testing.Short() {
				continue
			}
			g, err := swap.NewGrid(rows, cols)
			if err != nil {
				t.Fatal(err)
			}
			l, ok := newLayout(g)
			if !ok {
				t.Errorf("%d x %d cannot be divided", rows, cols)
				continue
			}
			checkLayout(t, g, l)
		}
	}
}

func checkLayout(t *testing.T, g *swap.Grid, l *layout) {
	t.Helper()
	if l.upper+l.lower+tail != l.cells || l.cells < g.Cells() || l.lower > middle {
		t.Errorf("%d x %d: %+v", g.Rows(), g.Cols(), l)
	}
	edges := 0
	for _, list := range []struct {
		edges    []edge
		from, to int
	}{{l.uu, l.upper, l.upper}, {l.ul, l.upper, l.lower}, {l.ll, l.lower, l.lower}, {l.ls, l.lower, tail}, {l.ss, tail, tail}} {
		edges += len(list.edges)
		for _, e := range list.edges {
			if e.from < 0 || e.from >= list.from || e.to < 0 || e.to >= list.to {
				t.Errorf("%d x %d: edge %v outside its parts", g.Rows(), g.Cols(), e)
			}
		}
	}
	if edges != len(g.Swaps()) {
		t.Errorf("%d x %d: %d edges, want %d", g.Rows(), g.Cols(), edges, len(g.Swaps()))
	}
}

// TestTails checks that bits and orders of the tail are the same thing.
func TestTails(t *testing.T) {
	for parity := range 2 {
		for b := range tailBits {
			if got := bitOf(tailOf(parity, b)); got != b {
				t.Errorf("parity %d: bit %d becomes %d", parity, b, got)
			}
		}
	}
}

// TestRegroup checks that words are regrouped without loss, and the group of each
// bit is that of the tile in the cell.
func TestRegroup(t *testing.T) {
	for cell := range tail {
		for parity := range 2 {
			to, from := regroup(cell, parity)
			const all = 1<<tailBits - 1
			if got := to.apply(all); got != all {
				t.Errorf("cell %d: all tails become %x", cell, got)
			}
			for b := range tailBits {
				x := to.apply(1 << b)
				if group := uint(tailOf(parity, b)[cell]); x&(groupMask<<(groupBits*group)) == 0 {
					t.Errorf("cell %d: bit %d becomes %x, not of group %d", cell, b, x, group)
				}
				if got := from.apply(x); got != 1<<b {
					t.Errorf("cell %d: bit %d comes back as %x", cell, b, got)
				}
			}
		}
	}
}
