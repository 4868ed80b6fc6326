package stream

import (
	"iter"

	"grenier/pipeline/solve/internal/halfboard/board"
)

// Streams are in the order of strips: panel by panel in the order of captures, and in each
// panel from the first row to the last. Streams of open and of full rows are apart.

// A strip is a run of rows of a panel: what a stage works on at a time.
type strip struct {
	matrix     *board.Matrix
	class      board.RowClass
	panel      int
	begin, end int // rows; begin is the first of a chunk
}

// StripRows is the most rows of a strip.
const StripRows = 16 * board.Side

// stripsOf yields the strips of one class of rows of some panels.
func stripsOf(panels []board.PanelOf, class board.RowClass) iter.Seq[strip] {
	return func(yield func(strip) bool) {
		for _, p := range panels {
			rows := p.Matrix.Rows[class]
			for begin := 0; begin < rows; begin += StripRows {
				if !yield(strip{p.Matrix, class, p.Panel, begin, min(begin+StripRows, rows)}) {
					return
				}
			}
		}
	}
}

// Segments of the capture values are files of their own: a kill while they are computed costs
// the round in progress, and the one that is being stored. There are at most about
// mostSegments of at least leastSegment positions.
const (
	mostSegments = 64
	leastSegment = 1 << 25
)

// segmentsOf cuts the panels into parts of at least the given number of
// positions.
func segmentsOf(l *board.Layer, least uint64) (segments [][]board.PanelOf) {
	size := max(least, l.Halves.Board().Size(l.N)/mostSegments)
	panels := l.PanelsInOrder()
	begin, positions := 0, uint64(0)
	for i, p := range panels {
		positions += uint64(p.Matrix.Rows[board.OpenRows]+p.Matrix.Rows[board.FullRows]) * board.Side
		if positions >= size || i == len(panels)-1 {
			segments = append(segments, panels[begin:i+1])
			begin, positions = i+1, 0
		}
	}
	return segments
}
