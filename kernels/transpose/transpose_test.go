package transpose

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
)

// TestExample puts two columns of a block into the three lines that there are.
// Score 2 of line 1 stays the same, as it has the value already.
func TestExample(t *testing.T) {
	var block Block
	copy(block[2*Side:], []int8{1, -2, 3, -4, 5}) // column 2
	copy(block[5*Side:], []int8{-10, 20, -30, 40, -50})
	block[6*Side] = 99 // a column not asked for

	twins.Test(t, func(t *testing.T, f cpu.Family) {
		lines := twins.Aligned(3 * Side)
		lines[1*Side+2] = 2
		lines[1*Side+5] = 77
		var changes Changes
		For(f, 8)(lines, &block, 1<<2|1<<5, ^uint64(0), &changes)
		want := twins.Aligned(3 * Side)
		want[0*Side+2], want[0*Side+5] = -1, 10
		want[1*Side+2], want[1*Side+5] = 2, -20
		want[2*Side+2], want[2*Side+5] = -3, 30
		for i := range want {
			should.Equal(t, lines[i], want[i], "score %d of line %d", i%Side, i/Side)
		}
		should.Equal(t, changes.Rows, 0b111, "changed lines")
		for r, want := range []uint64{1<<2 | 1<<5, 1 << 5, 1<<2 | 1<<5} {
			should.Equal(t, changes.Columns[r], want, "line %d: changed columns", r)
		}
	})
}

// codesOf returns the codes of the given bits, nil for scores.
func codesOf(bits int) *window.Codes {
	return map[int]*window.Codes{2: window.Two, 3: window.Three, 4: window.Four, 6: window.Six}[bits]
}

// updateNaive follows the definition, score by score or code by code. changed is by
// line, for all lines.
func updateNaive(bits int, lines []int8, block *Block, columns, rows uint64) (changed [Side]uint64) {
	codes := codesOf(bits)
	for r := range len(lines) / (Side * bits / 8) {
		line := lines[r*Side*bits/8:][:Side*bits/8]
		for c := range Side {
			if rows>>r&1 == 0 || columns>>c&1 == 0 {
				continue
			}
			if x := block[c*Side+r]; codes == nil && line[c] != -x {
				line[c] = -x
				changed[r] |= 1 << c
			} else if codes != nil {
				old := codes.Get(line, c)
				next := codes.Next(old, uint8(x))
				codes.Put(line, c, next)
				if next != old {
					changed[r] |= 1 << c
				}
			}
		}
	}
	return changed
}

func TestOtherBitsPanic(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) { must.Panic(t, func() { For(f, 5) }) })
}
