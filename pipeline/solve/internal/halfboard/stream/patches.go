package stream

import (
	"fmt"
	"iter"
	"sort"

	"grenier/kernels/crc32c"
	"grenier/pipeline/solve/internal/halfboard/board"
)

// What windows find is cut into parts, which are loaded one at a time: slabs, ranges of ranks
// of whole blocks of a layer file, so that one fits into the memory that two bits a position
// of open rows take; and the sample, which is read before all others.
const (
	slabs      = 8
	SamplePart = slabs
	AllParts   = slabs + 1
)

// SlabSize returns the number of positions in a slab; the last one can have fewer.
func SlabSize(g *board.Layer) uint64 {
	const part = slabs * board.PieceLength
	return (g.Halves.Board().Size(g.N) + part - 1) / part * board.PieceLength
}

// span is a range of rows of a class of a matrix, or of panels.
type span struct{ begin, end int }

func (s span) size() int { return s.end - s.begin }

// A patch is where some rows of a class of a matrix meet some panels.
type patch struct {
	rows, panels span
	scores       []int8 // if they are in memory: panel by panel, line by line
}

// lines returns the number of lines.
func (p *patch) lines() int { return p.rows.size() * p.panels.size() }

// line returns the number of the line of a row in a panel.
func (p *patch) line(panel, row int) int {
	return (panel-p.panels.begin)*p.rows.size() + row - p.rows.begin
}

// patches are the patches of a part of a layer, by class of rows and matrix: none begins or ends before
// the one in front of it.
type patches [][]patch

// placeOf returns the place of the patches of a class of rows of a matrix.
func placeOf(m *board.Matrix, class board.RowClass) int { return m.Sum*int(board.Classes) + int(class) }

// partsOf returns the patches of the slabs, and of the sample: pieces of the given length
// that begin at starts, which ascend.
func partsOf(g *board.Layer, starts []uint64, length uint64) (parts [AllParts]patches) {
	size := SlabSize(g)
	for slab := range slabs {
		parts[slab] = patchesOf(g, []uint64{uint64(slab) * size}, size)
	}
	parts[SamplePart] = patchesOf(g, starts, length)
	return parts
}

func patchesOf(g *board.Layer, starts []uint64, length uint64) patches {
	all := make(patches, len(g.Matrices)*int(board.Classes))
	for _, start := range starts {
		for _, m := range g.Matrices {
			for class := range board.Classes {
				if p := patchOf(g, m, class, start, start+length); p.lines() > 0 {
					own := &all[placeOf(m, class)]
					*own = append(*own, p)
				}
			}
		}
	}
	return all
}

// patchOf returns the patch that has the ranks from begin to end of a class of a matrix, and
// perhaps others.
func patchOf(g *board.Layer, m *board.Matrix, class board.RowClass, begin, end uint64) patch {
	codes := g.Rows[g.N-m.Sum][class]
	start := func(row int) uint64 { return g.RowStart(g.N, codes[row]) }
	from := sort.Search(len(codes), func(row int) bool { return start(row)+uint64(m.Columns) > begin })
	to := sort.Search(len(codes), func(row int) bool { return start(row) >= end })
	p := patch{rows: span{from, to}, panels: span{0, m.Panels}}
	if to-from == 1 {
		first := start(from)
		p.panels = span{int(max(begin, first)-first) / board.Side, board.Groups(int(min(end-first, uint64(m.Columns))))}
	}
	return p
}

// of yields the patches that have lines of a strip, with the rows of these.
func (p patches) of(s strip) iter.Seq2[*patch, span] {
	return func(yield func(*patch, span) bool) {
		own := p[placeOf(s.matrix, s.class)]
		i := sort.Search(len(own), func(i int) bool { return own[i].rows.end > s.begin })
		for ; i < len(own) && own[i].rows.begin < s.end; i++ {
			q := &own[i]
			if s.panel < q.panels.begin || s.panel >= q.panels.end {
				continue
			}
			if !yield(q, span{max(q.rows.begin, s.begin), min(q.rows.end, s.end)}) {
				return
			}
		}
	}
}

// linesOf returns the number of lines that the patches have of a strip.
func (p patches) linesOf(s strip) (lines int) {
	for _, rows := range p.of(s) {
		lines += rows.size()
	}
	return lines
}

// lines returns the number of lines of all patches.
func (p patches) lines() int {
	by := p.linesBy()
	return by[board.OpenRows] + by[board.FullRows]
}

// linesBy returns the number of lines of all patches by class.
func (p patches) linesBy() (lines [board.Classes]int) {
	for at, own := range p {
		for i := range own {
			lines[at%int(board.Classes)] += own[i].lines()
		}
	}
	return lines
}

// whichSample names a sample.
func whichSample(starts []uint64, length uint64) string {
	sum := crc32c.Of(appendLittle(nil, starts))
	return fmt.Sprintf("sample of %d pieces of %d (%08x)", len(starts), length, sum)
}
