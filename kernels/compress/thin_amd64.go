//go:build !purego

package compress

import (
	"math/bits"

	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// ForThin returns the kernel of the family f, which must be supported, for thin blocks.
func ForThin(f cpu.Family) LeastFunc {
	switch f {
	case cpu.AVX512:
		return leastThinAVX512
	case cpu.BMI2:
		return leastThinBMI2
	}
	return leastThin
}

func leastThinAVX512(dst, _ *Block, columns uint64, p *Program, routes []Route, chunk int, _ []int8) {
	if columns == 0 {
		return
	}
	fillColumns(dst, columns, window.None)
	if len(p.Groups) != 0 {
		leastThinGroups(dst, columns, p, &routes[0], chunk, int8(window.Eight.Zero))
	}
}

// leastThinGroups applies all groups of p, at least one, to columns, at least one, with lines of
// thin blocks. zero is the code of positions that they lack.
//
//go:noescape
func leastThinGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk int, zero int8)

// leastThinBMI2 expands the lines that a word reads to bytes, one behind the other, and applies the
// word to these.
func leastThinBMI2(dst, _ *Block, columns uint64, p *Program, routes []Route, chunk int, _ []int8) {
	begin(dst, nil, columns)
	var lines [Side * Side]int8
	for i := range p.Groups {
		g := &p.Groups[i]
		asked := g.Columns & columns
		if asked == 0 {
			continue
		}
		r, rows := &routes[g.Route], p.Rows[g.First:]
		for _, word := range r.Words[r.First[chunk]:r.First[chunk+1]] {
			blocks := r.Blocks[int(word.Panel)*r.Stride:]
			for n, left := 0, asked; left != 0; n, left = n+1, left&(left-1) {
				row := rows[bits.OnesCount64(g.Columns&(left&-left-1))]
				expandThin(&lines[n%Side*Side], &r.Scores[blocks[row/Side]], int(row%Side), int8(window.Eight.Zero), &byteMask)
			}
			word.Panel = 0
			leastWords(dst, asked, asked, &inOrder[0], &lines[0], 0, []Word{word}, Side, 0, 0, &byteMask)
		}
	}
}

// inOrder are rows one behind the other.
var inOrder = func() (rows [Side]uint32) {
	for i := range rows {
		rows[i] = uint32(i)
	}
	return rows
}()

// expandThin sets 64 bytes to the codes of a line of a thin block. zero is the code of positions
// that it lacks, masks is byteMask.
//
//go:noescape
func expandThin(dst, block *int8, line int, zero int8, masks *[256]uint64)
