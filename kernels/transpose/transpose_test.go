package transpose

import (
	"testing"
	"unsafe"

	"grenier/kernels/cpu"
	"grenier/kernels/internal/twins"
)

// aligned returns n scores that start at a multiple of 64 bytes.
func aligned(n int) []int8 {
	s := make([]int8, n+Side)
	s = s[-uintptr(unsafe.Pointer(&s[0]))%Side:]
	return s[:n:n]
}

// TestExample puts two columns of a block into the three lines that there are.
// Score 2 of line 1 stays the same, as it has the value already.
func TestExample(t *testing.T) {
	var block Block
	copy(block[2*Side:], []int8{1, -2, 3, -4, 5}) // column 2
	copy(block[5*Side:], []int8{-10, 20, -30, 40, -50})
	block[6*Side] = 99 // a column not asked for

	twins.Test(t, func(t *testing.T, f cpu.Family) {
		lines := aligned(3 * Side)
		lines[1*Side+2] = 2
		lines[1*Side+5] = 77
		var changes Changes
		For(f)(lines, &block, 1<<2|1<<5, ^uint64(0), &changes)
		want := aligned(3 * Side)
		want[0*Side+2], want[0*Side+5] = -1, 10
		want[1*Side+2], want[1*Side+5] = 2, -20
		want[2*Side+2], want[2*Side+5] = -3, 30
		for i := range want {
			if lines[i] != want[i] {
				t.Errorf("score %d of line %d: got %d, want %d", i%Side, i/Side, lines[i], want[i])
			}
		}
		if changes.Rows != 0b111 {
			t.Errorf("changed lines: %b", changes.Rows)
		}
		for r, want := range []uint64{1<<2 | 1<<5, 1 << 5, 1<<2 | 1<<5} {
			if changes.Columns[r] != want {
				t.Errorf("line %d: changed columns %b, want %b", r, changes.Columns[r], want)
			}
		}
	})
}

// updateNaive follows the definition, score by score. changed is by line, for
// all lines.
func updateNaive(lines []int8, block *Block, columns, rows uint64) (changed [Side]uint64) {
	for r := range len(lines) / Side {
		for c := range Side {
			if rows>>r&1 == 0 || columns>>c&1 == 0 {
				continue
			}
			if x := -block[c*Side+r]; lines[r*Side+c] != x {
				lines[r*Side+c] = x
				changed[r] |= 1 << c
			}
		}
	}
	return changed
}
