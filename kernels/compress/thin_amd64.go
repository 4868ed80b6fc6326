//go:build !purego

package compress

import (
	"grenier/kernels/cpu"
	"grenier/kernels/internal/swar"
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

func leastThinAVX512(_ *Scratch, dst, _ *Block, columns uint64, p *Program, routes []Route, chunk int, _ []int8) {
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

func leastThinBMI2(_ *Scratch, dst, _ *Block, columns uint64, p *Program, routes []Route, chunk int, _ []int8) {
	begin(dst, nil, columns)
	for i := range p.Groups {
		g := &p.Groups[i]
		asked := g.Columns & columns
		if asked == 0 {
			continue
		}
		r := &routes[g.Route]
		words := r.Words[r.First[chunk]:r.First[chunk+1]]
		if len(words) == 0 {
			continue
		}
		leastThinWords(dst, asked, g.Columns, &p.Rows[g.First], &r.Scores[0], &r.Blocks[0], r.Stride, words, uint64(window.Eight.Zero)*swar.Ones, &byteMask)
	}
}

// leastThinWords applies words, at least one, to columns, at least one, out of the columns of a group, with lines of thin
// blocks. Each byte of zero is the code of positions that they lack, masks is byteMask.
//
//go:noescape
func leastThinWords(dst *Block, columns, of uint64, rows *uint32, scores *int8, blocks *uint64, stride int, words []Word, zero uint64, masks *[256]uint64)
