package halfboard

import (
	"sync/atomic"

	"grenier/kernels/compress"
)

// A matrix holds the positions with one number of seeds in the mover's half A: a
// column for each A, a row for each half B of the opponent.
type matrix struct {
	sum     int    // seeds in A
	first   uint32 // code of the A of column 0
	columns int
	panels  int
	rows    [classes]int
	chunks  [classes]int
	line    int // bytes of a line of scores

	routes   []route
	programs []compress.Program        // by panel: the moves of its columns
	targets  [classes][]compress.Route // by route: where it leads from the rows of each class

	// scores of the open rows, a byte each or codes (kernels/window): line r of panel p is
	// at (p*rows + r)*line. Workers write those of their tile in place while others read.
	scores []int8

	// blocks says, if scores are those of thin blocks (window.Thin), where those begin, and where
	// the last one ends: that of chunk k of panel p begins at blocks[p*chunks + k].
	blocks []uint64

	// offers holds what captures and the end of the game are worth, negated, in
	// blocks: that of chunk k of panel p is at (p*chunks + k)*64*64, column by
	// column. An offer is blocked when there is no such move. In the last stage
	// the offers of full rows turn into scores, line by line. There are none if scores
	// are codes.
	offers [classes][]int8

	// alive has, if scores are codes, a bit for each column of a block that can still
	// change in this window: that of chunk k of panel p is alive[p*chunks + k].
	alive []uint64

	// marks says what must be computed again, since a child has changed: that
	// of chunk k of panel p is marks[p*chunks + k].
	marks []mark

	links uint32 // index of the link of the first route
}

// A mark is what is out of date in a block of open rows: columns, and in them rows.
// Others than these need not be computed, but may be.
//
// Workers add to marks while another one takes them, without a lock. What makes that
// safe: an addition sets the rows before the columns, and during a sweep nobody
// clears rows. So whoever takes a column gets all rows that were added with it.
type mark struct{ columns, rows atomic.Uint64 }

// add marks columns and rows. The scores that have changed must have been written
// before, with a fence after them: else the addition could find the mark set, and who
// takes it at the same time could miss them.
func (m *mark) add(columns, rows uint64) {
	set(&m.rows, rows)
	set(&m.columns, columns)
}

func set(word *atomic.Uint64, bits uint64) {
	if word.Load()&bits != bits {
		word.Or(bits)
	}
}

// take returns the marks and removes those of the columns. Scores that are read later are read
// after that: on arm64 without an atomic swap it is the load of the rows that sees to it.
func (m *mark) take() (columns, rows uint64) {
	if m.columns.Load() == 0 {
		return 0, 0
	}
	columns = m.columns.Swap(0)
	return columns, m.rows.Load()
}

// settle removes rows that no column needs. Between sweeps only.
func (m *mark) settle() {
	if m.columns.Load() == 0 && m.rows.Load() != 0 {
		m.rows.Store(0)
	}
}

// blocked is the offer of a position that has neither captures nor an end: worse than any.
func (g *geometry) blocked() int8 { return int8(g.n) + 1 }

// newMatrix lays out the positions with sum seeds in A, with lines of line bytes.
func (g *geometry) newMatrix(sum, line int) *matrix {
	m := &matrix{sum: sum, first: g.first(sum), columns: g.columns(sum), panels: g.panels(sum), line: line}
	for class := range classes {
		m.rows[class] = len(g.rows[g.n-sum][class])
		m.chunks[class] = g.chunks(g.n-sum, class)
	}
	m.marks = make([]mark, m.chunks[openRows]*m.panels)
	return m
}

// layout returns the memory that m needs if scores are bytes.
func (m *matrix) layout() layout { return matrixLayout(m.columns, m.rows) }

// width returns the number of columns of a panel.
func (m *matrix) width(panel int) int { return min(side, m.columns-panel*side) }

// all returns a bit for each column of a panel.
func (m *matrix) all(panel int) uint64 { return ^uint64(0) >> (side - m.width(panel)) }

// depth returns the number of rows of a chunk.
func (m *matrix) depth(class rowClass, chunk int) int {
	return min(side, m.rows[class]-chunk*side)
}

// block returns the offers of a block.
func (m *matrix) block(class rowClass, panel, chunk int) *compress.Block {
	return (*compress.Block)(m.offers[class][(panel*m.chunks[class]+chunk)*side*side:])
}

// panelOffers returns the offers of a panel.
func (m *matrix) panelOffers(class rowClass, panel int) []int8 {
	size := m.chunks[class] * side * side
	return m.offers[class][panel*size:][:size]
}

// lines returns the scores of a block, or the thin block.
func (m *matrix) lines(panel, chunk int) []int8 {
	if m.blocks != nil {
		at := panel*m.chunks[openRows] + chunk
		return m.scores[m.blocks[at]:m.blocks[at+1]]
	}
	return m.rowLines(panel, chunk*side, chunk*side+m.depth(openRows, chunk))
}

// rowLines returns the scores of the rows from begin to end in a panel.
func (m *matrix) rowLines(panel, begin, end int) []int8 {
	first := panel * m.rows[openRows]
	return m.scores[(first+begin)*m.line : (first+end)*m.line]
}

// row returns the scores of a row from a panel on, if they are bytes, and the distance of those
// in the next panel.
func (m *matrix) row(at place, panel int) (scores []int8, stride int) {
	scores, stride = m.scores, m.stride()
	if at.class == fullRows {
		scores, stride = m.offers[fullRows], m.chunks[fullRows]*side*side
	}
	return scores[panel*stride+int(at.row)*side:], stride
}

// stride is the distance of the same line in consecutive panels, or the number of thin blocks.
func (m *matrix) stride() int {
	if m.blocks != nil {
		return m.chunks[openRows]
	}
	return m.rows[openRows] * m.line
}
