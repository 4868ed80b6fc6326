package bfs

import (
	"math"

	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// Amounts is what a search takes on any machine. Depths, visits and bytes are
// estimates, but for the depths of lines and Most.
type Amounts struct {
	States uint64 `json:"states"`
	// Diameter is the number of depths but for depth 0; it is at least Least.
	Diameter int `json:"diameter"`
	Least    int `json:"diameter_at_least"`
	// InMemory and OnDisk are the bytes of memory that a search needs, in memory and
	// at least on disk.
	InMemory uint64 `json:"in_memory_bytes"`
	OnDisk   uint64 `json:"on_disk_memory_bytes"`
	// Visits is how often a word is pulled, over all depths, Steps the instructions
	// that one takes, about.
	Visits uint64 `json:"word_visits"`
	Steps  int    `json:"-"`

	// What follows is on disk, with the memory that is allowed.

	// Held is the share of the blocks that stays in memory, 0 to 1.
	Held float64 `json:"held"`
	// Packed and Unpacked are words of pieces.
	Packed   uint64 `json:"words_packed"`
	Unpacked uint64 `json:"words_unpacked"`
	Read     uint64 `json:"bytes_read"`
	Written  uint64 `json:"bytes_written"`
	// Disk is the bytes on disk, and Most the most that they can be: what a search
	// asks for.
	Disk uint64 `json:"disk_bytes"`
	Most uint64 `json:"disk_bytes_at_most"`
}

// perWord says how often things happen to a word of one parity, over all depths.
// They were counted in searches of 12 cells: visits 13.4 and 15.0 on 3 x 4 and
// 2 x 6, newest 6.1 and 6.2, open 4.1 and 4.2, pieces 14.9 and 17.0; on 1 x 11 and
// 1 x 12 as below. What they depend on is how far the states of a word and of a
// block are apart, much less on the size of the grid: 2 x 5 has 14.6, 6.3, 4.3
// and 17.8.
type perWord struct {
	visits float64 // it is pulled
	newest float64 // it has newest states after a depth
	open   float64 // it is open after a depth
	pieces float64 // its block has a piece that is written
}

var (
	wordOfGrid = perWord{visits: 14.5, newest: 6.2, open: 4.2, pieces: 16.5}
	wordOfLine = perWord{visits: 27.6, newest: 11, open: 9, pieces: 37}
)

// bytes returns the bytes that are written for a word.
func (p perWord) bytes() float64 { return 8*p.newest + p.open + 3./8*p.pieces }

// Predict returns what a search takes, in memory and, whatever Options.Dir says, on
// disk.
func Predict(g *swap.Grid, o Options) (*Amounts, error) {
	l, err := layoutOf(g)
	if err != nil {
		return nil, err
	}
	word := wordOfGrid
	if isLine(g) {
		word = wordOfLine
	}
	words := float64(l.words())
	a := &Amounts{
		States: perm.Factorial(g.Cells()), Diameter: int(math.Round(guessDiameter(g))), Least: leastDiameter(g),
		InMemory: l.memory(o.Workers), OnDisk: l.memoryOnDisk(o.Workers),
		Visits: uint64(word.visits * words), Steps: costWord + l.cost, Most: l.mostOnDisk(),
	}
	if isLine(g) {
		a.Least = a.Diameter
	}
	a.Held = float64(l.held(o.Memory, o.Workers)) / float64(l.blocks())
	// A block is unpacked as one of the tile, as a neighbour of others, and when it
	// is changed.
	reads := float64(2+l.outside()) * (1 - a.Held)
	a.Packed = uint64(word.pieces * words)
	a.Unpacked = uint64(word.pieces * words * reads)
	a.Read = uint64(word.bytes() * words * reads)
	checkpoint := uint64(checkpointBytes(a.Diameter, int(l.blocks())))
	a.Written = uint64(word.bytes()*words) + uint64(a.Diameter)*checkpoint
	a.Disk = min(a.Most, uint64(setsOnDisk(g)*float64(l.blocks()*uint64(mostPiece(int(l.blockWords())))))+2*checkpoint)
	return a, nil
}

// setsOnDisk returns how many sets of states of one parity are on disk at once, if
// all words had newest states and were open: the more depths, the fewer words are
// in each. 2.49 and 2.09 were counted on 3 x 4 and 2 x 6, 1.87, 1.69 and 1.54 on
// 1 x 11 to 1 x 13; between them it is a power.
func setsOnDisk(g *swap.Grid) float64 {
	if isLine(g) {
		return min(3, 1.69*math.Pow(66/max(1, guessDiameter(g)), 0.57))
	}
	return min(3, 2.49*math.Pow(25/guessDiameter(g), 0.9))
}
