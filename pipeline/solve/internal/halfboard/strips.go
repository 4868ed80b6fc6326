package halfboard

import (
	"cmp"
	"iter"
	"slices"
)

// Streams are in the order of strips: panel by panel in the order of captures, and in each
// panel from the first row to the last. Streams of open and of full rows are apart.

// A strip is a run of rows of a panel: what a stage works on at a time.
type strip struct {
	matrix     *matrix
	class      rowClass
	panel      int
	begin, end int // rows; begin is the first of a chunk
}

// stripRows is the most rows of a strip.
const stripRows = 16 * side

// stripsOf yields the strips of one class of rows of some panels.
func stripsOf(panels []panelOf, class rowClass) iter.Seq[strip] {
	return func(yield func(strip) bool) {
		for _, p := range panels {
			rows := p.matrix.rows[class]
			for begin := 0; begin < rows; begin += stripRows {
				if !yield(strip{p.matrix, class, p.panel, begin, min(begin+stripRows, rows)}) {
					return
				}
			}
		}
	}
}

// panelOf is a panel of a matrix.
type panelOf struct {
	matrix *matrix
	panel  int
}

// captureRun is about the number of halves in what captures go through together.
const captureRun = 1024

// panelsInOrder lists all panels in the order of captures. What a panel captures stands in
// rows of lower layers that begin like the halves of the panel, so those that agree in
// their last pits follow each other: they read the same blocks.
func (g *grid) panelsInOrder() (panels []panelOf) {
	type part struct {
		matrix *matrix
		run    run
	}
	var parts []part
	for sum, m := range g.matrices {
		for _, r := range g.panelRuns(sum, captureRun) {
			parts = append(parts, part{m, r})
		}
	}
	slices.SortStableFunc(parts, func(x, y part) int {
		for pit := g.q - 1; pit >= 0; pit-- {
			if c := cmp.Compare(y.run.suffix[pit], x.run.suffix[pit]); c != 0 {
				return c
			}
		}
		return 0
	})
	for _, p := range parts {
		for panel := p.run.begin; panel < p.run.end; panel++ {
			panels = append(panels, panelOf{p.matrix, panel})
		}
	}
	return panels
}

// Segments of the capture values are files of their own: a kill while they are computed costs
// those of the round in progress, and the one that is being stored. There are at most about
// mostSegments of at least leastSegment positions.
const (
	mostSegments = 64
	leastSegment = 1 << 25
)

// segments cuts the panels into parts of at least the given number of
// positions.
func (g *grid) segments(least uint64) (segments [][]panelOf) {
	size := max(least, g.halves.Board().Size(g.n)/mostSegments)
	panels := g.panelsInOrder()
	begin, positions := 0, uint64(0)
	for i, p := range panels {
		positions += uint64(p.matrix.rows[openRows]+p.matrix.rows[fullRows]) * side
		if positions >= size || i == len(panels)-1 {
			segments = append(segments, panels[begin:i+1])
			begin, positions = i+1, 0
		}
	}
	return segments
}
