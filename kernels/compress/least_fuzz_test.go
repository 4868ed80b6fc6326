package compress

import (
	"fmt"
	"slices"
	"testing"

	"grenier/kernels/cpu"
)

// plainColumn is a column to be computed and what it should become, score by
// score.
type plainColumn struct {
	offers, want []int8
	picks        []Pick
}

// dice deals numbers from the bytes of a fuzzer, over and over.
type dice struct {
	bytes []byte
	next  int
}

func (d *dice) byte() byte {
	if len(d.bytes) == 0 {
		return 0
	}
	d.next++
	return d.bytes[(d.next-1)%len(d.bytes)]
}

// scores returns n scores.
func (d *dice) scores(n int) []int8 {
	s := make([]int8, n)
	for i := range s {
		s[i] = int8(d.byte())
	}
	return s
}

// column deals a column of n scores.
func (d *dice) column(n int) plainColumn {
	c := plainColumn{offers: d.scores(n)}
	c.want = slices.Clone(c.offers)
	for range d.byte() % 7 {
		var move []int8
		for first := true; first || len(move) < n; first = false {
			pick, scores := d.pick(n - len(move))
			pick.First = first
			c.picks, move = append(c.picks, pick), append(move, scores...)
		}
		for i, x := range move {
			c.want[i] = min(c.want[i], x)
		}
	}
	return c
}

// pick deals a row and a mask that picks at most room scores, and says which.
// Of room scores at least one is picked, so that moves come to an end.
func (d *dice) pick(room int) (Pick, []int8) {
	width := min(int(d.byte())*int(d.byte()%8), 3*room+70)
	reach, quiet := make([]uint64, (width+64)/64), make([]uint64, (width+64)/64)
	row := d.scores(width + 1)
	var picked []int8
	for p, x := range row {
		odds := d.byte()
		last := p == width && len(picked) == 0
		if len(picked) == room || odds%4 == 0 && !last {
			continue
		}
		reach[p/64] |= 1 << (p % 64)
		if odds%5 == 0 {
			x = Blocked
		} else {
			quiet[p/64] |= 1 << (p % 64)
		}
		picked = append(picked, x)
	}
	m := NewMask(reach, quiet)
	if odds := d.byte(); odds%2 == 0 {
		row = row[:m.width] // not one score more than needed
	}
	return Pick{Src: row, Mask: m}, picked
}

// FuzzLeast holds every family against the plain computation.
func FuzzLeast(f *testing.F) {
	f.Add(uint16(0), []byte{})
	f.Add(uint16(0), []byte{3, 2, 1})
	f.Add(uint16(1), []byte{0x80, 0x7f, 0, 1, 2, 3, 4, 5})
	f.Add(uint16(63), []byte("short rows that are picked from in several pieces"))
	f.Add(uint16(64), []byte{1, 254, 3, 7, 129, 6, 200, 5, 64, 11, 13})
	f.Add(uint16(65), []byte{255, 255, 255, 7, 254, 253, 251, 6})
	f.Add(uint16(500), []byte("long rows, with enough scores for several registers and a rest"))
	f.Fuzz(func(t *testing.T, size uint16, bytes []byte) {
		n, d := int(size)%1100, &dice{bytes: bytes}
		var plain []plainColumn
		for range 1 + d.byte()%3 {
			plain = append(plain, d.column(n))
		}
		for _, family := range cpu.Available() {
			if err := computePlain(LeastFor(family), n, plain); err != nil {
				t.Errorf("%v: %v", family, err)
			}
		}
	})
}

// computePlain computes the columns, written between canaries, and compares.
func computePlain(least LeastFunc, n int, plain []plainColumn) error {
	var columns []Column
	var picks []Pick
	memory := slices.Repeat([]int8{canary}, len(plain)*(n+border)+border)
	for i, c := range plain {
		dst := memory[border+i*(n+border):][:n]
		columns = append(columns, Column{Dst: dst, Offers: c.offers, Picks: len(c.picks)})
		picks = append(picks, c.picks...)
	}
	scratch := slices.Repeat([]int8{canary}, Scratch(n, 7)+border)
	least(columns, picks, scratch[:Scratch(n, 7)])
	for i, c := range plain {
		if !slices.Equal(columns[i].Dst, c.want) {
			return fmt.Errorf("column %d of %d: %v, want %v", i, len(plain), columns[i].Dst, c.want)
		}
		fill(columns[i].Dst, canary)
	}
	notCanary := func(x int8) bool { return x != canary }
	if slices.ContainsFunc(memory, notCanary) || slices.ContainsFunc(scratch[Scratch(n, 7):], notCanary) {
		return fmt.Errorf("%d scores: written outside", n)
	}
	return nil
}
