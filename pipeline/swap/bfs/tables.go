package bfs

import (
	"iter"
	"slices"

	"grenier/kernels/perm"
)

// tables say where the bits of a word come from. The words of a block are the
// arrangements of the lower cells, numbered by lexicographic rank among the
// tiles that the upper cells leave; so the tables are the same for all blocks,
// but for the parity of the block.
type tables struct {
	words  int     // in a block
	parity []uint8 // of the arrangement of each word

	// inner[e][w] is the word that edge e of layout.ll leads to.
	inner [][]uint16
	// cross are the edges of layout.ul.
	cross []crossing
	// outer are the edges of layout.ls by cell of the tail.
	outer []regrouping
	// turn[p] maps tails of parity p along the edges of layout.ss, nil if there
	// are none.
	turn [2]*bitMap
}

// crossing is an edge between an upper and a lower cell.
type crossing struct {
	// tile[w] is the tile in the lower cell of word w, numbered among the tiles
	// that are not in upper cells.
	tile []uint8
	// to[t][w] is the word w with tile t there instead, which came from the
	// upper cell; t is numbered among those that then are not in upper cells.
	to [][]uint16
}

// regrouping are the edges between one cell of the tail and lower cells.
type regrouping struct {
	to, from [2]*bitMap // by parity of the tails
	// exchanges[k][w][t] is the effect of edge k when it brings tile t of the
	// tail of word w to a lower cell.
	exchanges [][][tail]exchange
}

// exchange is a word, and the first bit of the group of the tile that came to its
// tail.
type exchange struct{ word, shift uint16 }

func newTables(l *layout) *tables {
	t := &tables{words: int(perm.Arrangements(l.rest(), l.lower))}
	t.parity = make([]uint8, t.words)
	for w := range t.words {
		t.parity[w] = rankParity(l.arrangement(w))
	}
	for _, e := range l.ll {
		t.inner = append(t.inner, l.innerTable(t.words, e))
	}
	for _, e := range l.ul {
		t.cross = append(t.cross, l.crossing(t.words, e))
	}
	for cell := range tail {
		if r := l.regrouping(t.words, cell); len(r.exchanges) > 0 {
			t.outer = append(t.outer, r)
		}
	}
	if len(l.ss) > 0 {
		t.turn = [2]*bitMap{swapTails(l.ss, 0), swapTails(l.ss, 1)}
	}
	return t
}

// bytes returns the size of the tables of a layout, at most.
func (l *layout) bytes() uint64 {
	words := perm.Arrangements(l.rest(), l.lower)
	perWord := 1 + 2*len(l.ll) + len(l.ul)*(1+2*l.rest()) + len(l.ls)*tail*4
	return words*uint64(perWord) + 2*(1+2*tail)*8*256*8
}

// arrangement returns the tiles of the lower cells of a word, numbered among
// those that are not in upper cells.
func (l *layout) arrangement(word int) []uint8 {
	a := make([]uint8, l.lower)
	perm.UnrankArrangement(a, l.rest(), uint64(word))
	return a
}

// word is the inverse of arrangement.
func (l *layout) word(a []uint8) uint16 { return uint16(perm.RankArrangement(a, l.rest())) }

// rankParity returns the parity of a list that begins with a and continues with
// the other items in order.
func rankParity(a []uint8) uint8 {
	digits := 0
	for i, x := range a {
		digits += int(x)
		for _, earlier := range a[:i] {
			if earlier < x {
				digits--
			}
		}
	}
	return uint8(digits & 1)
}

func (l *layout) innerTable(words int, e edge) []uint16 {
	table := make([]uint16, words)
	for w := range table {
		a := l.arrangement(w)
		a[e.from], a[e.to] = a[e.to], a[e.from]
		table[w] = l.word(a)
	}
	return table
}

func (l *layout) crossing(words int, e edge) crossing {
	c := crossing{tile: make([]uint8, words), to: make([][]uint16, l.rest())}
	for t := range c.to {
		c.to[t] = make([]uint16, words)
	}
	for w := range words {
		a := l.arrangement(w)
		c.tile[w] = a[e.to]
		for t := range c.to {
			c.to[t][w] = l.word(renumbered(a, e.to, uint8(t)))
		}
	}
	return c
}

// renumbered returns the arrangement after the tile at a place was exchanged for
// one from outside that has number t after that: the other tiles are renumbered
// in the same order.
func renumbered(a []uint8, place int, t uint8) []uint8 {
	b := slices.Clone(a)
	for i, x := range a {
		if x > a[place] {
			x--
		}
		if x >= t {
			x++
		}
		b[i] = x
	}
	b[place] = t
	return b
}

func (l *layout) regrouping(words, cell int) regrouping {
	var r regrouping
	for _, e := range l.ls {
		if e.to != cell {
			continue
		}
		table := make([][tail]exchange, words)
		for w := range table {
			table[w] = l.exchanges(w, e.from)
		}
		r.exchanges = append(r.exchanges, table)
	}
	if len(r.exchanges) > 0 {
		r.to[0], r.from[0] = regroup(cell, 0)
		r.to[1], r.from[1] = regroup(cell, 1)
	}
	return r
}

// exchanges returns the effects of exchanging the tile in a lower cell of a word
// for each tile of the tail.
func (l *layout) exchanges(word, place int) (list [tail]exchange) {
	a := l.arrangement(word)
	t := 0
	for x := range uint8(l.rest()) {
		if slices.Contains(a, x) {
			continue
		}
		b := slices.Clone(a)
		b[place] = x
		// The tile that moved to the tail has as many before it there as are
		// smaller and in no lower cell.
		before := a[place]
		for _, y := range b {
			if y < a[place] {
				before--
			}
		}
		list[t] = exchange{word: l.word(b), shift: groupBits * uint16(before)}
		t++
	}
	return list
}

// block is the number of a block and the common data of its words.
type block struct {
	number int
	parity uint8
	upper  []uint8 // the tiles in the upper cells
	// across[e] is the block that edge e of layout.uu leads to.
	across []int
	// cross[e][t] is the effect of edge e of layout.ul when the tile t of a lower
	// cell moves up.
	cross [][]landing
}

// landing is a block, and the number there of the tile that moved down.
type landing struct{ block, tile int }

func newBlock(l *layout) block {
	b := block{upper: make([]uint8, l.upper), across: make([]int, len(l.uu)), cross: make([][]landing, len(l.ul))}
	for e := range b.cross {
		b.cross[e] = make([]landing, l.rest())
	}
	return b
}

// find sets b to the block with a number.
func (b *block) find(l *layout, number int) {
	b.number = number
	perm.UnrankArrangement(b.upper, l.cells, uint64(number))
	b.parity = rankParity(b.upper)
	for k, e := range l.uu {
		b.upper[e.from], b.upper[e.to] = b.upper[e.to], b.upper[e.from]
		b.across[k] = int(perm.RankArrangement(b.upper, l.cells))
		b.upper[e.from], b.upper[e.to] = b.upper[e.to], b.upper[e.from]
	}
	for k, e := range l.ul {
		b.land(l, b.cross[k], e.from)
	}
}

// around yields the blocks that edges lead to.
func (b *block) around() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, other := range b.across {
			if !yield(other) {
				return
			}
		}
		for _, landings := range b.cross {
			for _, l := range landings {
				if !yield(l.block) {
					return
				}
			}
		}
	}
}

// land finds where the exchanges of the tile at a place of the upper cells for
// each other tile lead.
func (b *block) land(l *layout, landings []landing, place int) {
	down, t := b.upper[place], 0
	for x := range uint8(l.cells) {
		if x == down || slices.Contains(b.upper, x) {
			continue
		}
		b.upper[place] = x
		tile := int(down)
		for _, y := range b.upper {
			if y < down {
				tile--
			}
		}
		landings[t] = landing{int(perm.RankArrangement(b.upper, l.cells)), tile}
		b.upper[place] = down
		t++
	}
}
