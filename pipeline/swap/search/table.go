package search

import (
	"math/bits"
	"slices"

	"grenier/layers/swap"
)

// table remembers states: how many swaps lead there, the last of them, and whether
// the state has been expanded. It is a hash table with open addressing; the state 0
// marks free slots, as only the grid of one cell has it, which is solved.
type table struct {
	s      *search
	states []swap.State
	nodes  []node
	used   int
	shift  uint
	rest   func() uint64 // memory of the search besides the table
}

// node is the knowledge about a state.
type node struct {
	g    uint8 // swaps from where the search began
	move uint8 // index of the last of them in Grid.Swaps, noMove at the beginning
	done bool  // expanded
}

const (
	noMove    = 0xff
	slotBytes = 8 + 3
	leastBits = 10
)

// newTable returns a table with 1<<bits slots at first.
func newTable(s *search, bits uint, rest func() uint64) *table {
	t := &table{s: s, rest: rest}
	t.allocate(bits)
	return t
}

// begin adds the state that a search begins with. It fails with errMemory.
func (t *table) begin(state swap.State) error {
	n, _, err := t.add(state)
	if err == nil {
		n.move = noMove
	}
	return err
}

func (t *table) allocate(bits uint) {
	t.states = make([]swap.State, 1<<bits)
	t.nodes = make([]node, 1<<bits)
	t.shift = 64 - bits
}

// bytes returns the memory of the slots.
func (t *table) bytes() uint64 { return uint64(len(t.states)) * slotBytes }

// slot returns where a state is, or would be.
func (t *table) slot(state swap.State) int {
	hash := uint64(state) * 0x9e3779b97f4a7c15
	hash ^= hash >> 32
	i := int(hash * 0xd6e8feb86659fd93 >> t.shift)
	for t.states[i] != 0 && t.states[i] != state {
		i = (i + 1) & (len(t.states) - 1)
	}
	return i
}

// get returns the node of a state, nil if there is none. It is valid until the next
// add.
func (t *table) get(state swap.State) *node {
	i := t.slot(state)
	if t.states[i] == 0 {
		return nil
	}
	return &t.nodes[i]
}

// add returns the node of a state; added says that it is new, and zero. It fails with errMemory.
func (t *table) add(state swap.State) (n *node, added bool, err error) {
	i := t.slot(state)
	if t.states[i] != 0 {
		return &t.nodes[i], false, nil
	}
	if 4*t.used >= 3*len(t.states) {
		if err := t.grow(); err != nil {
			return nil, false, err
		}
		i = t.slot(state)
	}
	t.used++
	t.states[i] = state
	return &t.nodes[i], true, nil
}

func (t *table) grow() error {
	// The old slots are there until the new ones are filled.
	if err := t.s.allow(3*t.bytes() + t.rest()); err != nil {
		return err
	}
	states, nodes := t.states, t.nodes
	t.allocate(uint(bits.Len(uint(len(states)))))
	for i, state := range states {
		if state != 0 {
			j := t.slot(state)
			t.states[j], t.nodes[j] = state, nodes[i]
		}
	}
	return nil
}

// path returns the moves from where the search began to a state of the table.
func (t *table) path(state swap.State) []swap.Swap { return pathTo(t.s.grid, t.get, state) }

// pathTo is path for a search whose nodes get returns.
func pathTo(g *swap.Grid, get func(swap.State) *node, state swap.State) []swap.Swap {
	var moves []swap.Swap
	for n := get(state); n.move != noMove; n = get(state) {
		m := g.Swaps()[n.move]
		moves = append(moves, m)
		state = g.Apply(state, m)
	}
	slices.Reverse(moves)
	return moves
}
