package halfboard

import "iter"

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

// Segments of the capture values are files of their own: a kill while they are computed costs
// those of the round in progress, and the one that is being stored. There are at most about
// mostSegments of at least leastSegment positions.
const (
	mostSegments = 64
	leastSegment = 1 << 25
)

// segmentsOf cuts the panels into parts of at least the given number of
// positions.
func segmentsOf(l *layer, least uint64) (segments [][]panelOf) {
	size := max(least, l.halves.Board().Size(l.n)/mostSegments)
	panels := l.panelsInOrder()
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
