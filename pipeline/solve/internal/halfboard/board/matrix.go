package board

import (
	"sync/atomic"

	"grenier/kernels/compress"
)

// A Matrix holds the positions with one number of seeds in the mover's half A: a
// column for each A, a row for each half B of the opponent.
type Matrix struct {
	Sum     int    // seeds in A
	First   uint32 // code of the A of column 0
	Columns int
	Panels  int
	Rows    [Classes]int
	Chunks  [Classes]int
	line    int // bytes of a line of scores

	Routes   []Route
	Programs []compress.Program        // by panel: the moves of its columns
	Targets  [Classes][]compress.Route // by route: where it leads from the rows of each class

	// Scores of the open rows, a byte each or codes (kernels/window): line r of panel p is
	// at (p*rows + r)*line. Workers write their tile in place while others read.
	Scores []int8

	// Blocks says, if blocks are thin (window.Thin), where they begin, and where
	// the last one ends: chunk k of panel p begins at Blocks[p*chunks + k].
	Blocks []uint64

	// offers holds the values of captures and of the end of the game, negated, in
	// blocks: chunk k of panel p is at (p*chunks + k)*64*64, column by
	// column. An offer is blocked when there is no such move. In the last stage
	// the offers of full rows turn into scores, line by line. There are none if scores
	// are codes.
	offers [Classes][]int8

	// Alive has, if scores are codes, a bit for each column of a block that can still
	// change in this window: chunk k of panel p has Alive[p*chunks + k].
	Alive []uint64

	// Marks says what must be computed again, since a child has changed:
	// chunk k of panel p has Marks[p*chunks + k].
	Marks []Mark

	links uint32 // index of the link of the first route
}

// A Mark lists the columns of a block of open rows that are out of date, and in them rows.
// Others need not be computed, but may be.
//
// Workers add to marks while another one takes them, without a lock. What makes that
// safe: an addition sets the rows before the columns, and during a sweep nobody
// clears rows. So whoever takes a column gets all rows that were added with it.
type Mark struct{ Columns, Rows atomic.Uint64 }

// Add marks columns and rows. The scores that have changed must have been written
// before, with a fence after them: else the addition could find the mark set, and who
// takes it at the same time could miss them.
func (m *Mark) Add(columns, rows uint64) {
	set(&m.Rows, rows)
	set(&m.Columns, columns)
}

func set(word *atomic.Uint64, bits uint64) {
	if word.Load()&bits != bits {
		word.Or(bits)
	}
}

// Take returns the marks and removes the columns. Scores that are read later are read
// after that: on arm64 without an atomic swap it is the load of the rows that sees to it.
func (m *Mark) Take() (columns, rows uint64) {
	if m.Columns.Load() == 0 {
		return 0, 0
	}
	columns = m.Columns.Swap(0)
	return columns, m.Rows.Load()
}

// Settle removes rows that no column needs. Between sweeps only.
func (m *Mark) Settle() {
	if m.Columns.Load() == 0 && m.Rows.Load() != 0 {
		m.Rows.Store(0)
	}
}

// Blocked is the offer of a position that has neither captures nor an end: worse than any.
func (g *Geometry) Blocked() int8 { return int8(g.N) + 1 }

// newMatrix lays out the positions with sum seeds in A, with lines of line bytes.
func (g *Geometry) newMatrix(sum, line int) *Matrix {
	m := &Matrix{Sum: sum, First: g.first(sum), Columns: g.columns(sum), Panels: g.panels(sum), line: line}
	for class := range Classes {
		m.Rows[class] = len(g.Rows[g.N-sum][class])
		m.Chunks[class] = g.chunks(g.N-sum, class)
	}
	m.Marks = make([]Mark, m.Chunks[OpenRows]*m.Panels)
	return m
}

// layout returns the memory that m needs if scores are bytes.
func (m *Matrix) layout() Layout { return matrixLayout(m.Columns, m.Rows) }

// Width returns the number of columns of a panel.
func (m *Matrix) Width(panel int) int { return min(Side, m.Columns-panel*Side) }

// All returns a bit for each column of a panel.
func (m *Matrix) All(panel int) uint64 { return ^uint64(0) >> (Side - m.Width(panel)) }

// Depth returns the number of rows of a chunk.
func (m *Matrix) Depth(class RowClass, chunk int) int {
	return min(Side, m.Rows[class]-chunk*Side)
}

// Block returns the offers of a block.
func (m *Matrix) Block(class RowClass, panel, chunk int) *compress.Block {
	return (*compress.Block)(m.offers[class][(panel*m.Chunks[class]+chunk)*Side*Side:])
}

// panelOffers returns the offers of a panel.
func (m *Matrix) panelOffers(class RowClass, panel int) []int8 {
	size := m.Chunks[class] * Side * Side
	return m.offers[class][panel*size:][:size]
}

// Lines returns the scores of a block, or the thin block.
func (m *Matrix) Lines(panel, chunk int) []int8 {
	if m.Blocks != nil {
		at := panel*m.Chunks[OpenRows] + chunk
		return m.Scores[m.Blocks[at]:m.Blocks[at+1]]
	}
	return m.rowLines(panel, chunk*Side, chunk*Side+m.Depth(OpenRows, chunk))
}

// rowLines returns the scores of the rows from begin to end in a panel.
func (m *Matrix) rowLines(panel, begin, end int) []int8 {
	first := panel * m.Rows[OpenRows]
	return m.Scores[(first+begin)*m.line : (first+end)*m.line]
}

// Row returns the scores of a row from a panel on, if they are bytes, and the distance of those
// in the next panel.
func (m *Matrix) Row(at Place, panel int) (scores []int8, stride int) {
	scores, stride = m.Scores, m.Stride()
	if at.Class == FullRows {
		scores, stride = m.offers[FullRows], m.Chunks[FullRows]*Side*Side
	}
	return scores[panel*stride+int(at.Row)*Side:], stride
}

// Stride is the distance of the same line in consecutive panels, or the number of thin blocks.
func (m *Matrix) Stride() int {
	if m.Blocks != nil {
		return m.Chunks[OpenRows]
	}
	return m.Rows[OpenRows] * m.line
}
