package bfs

import "iter"

// states are the states of one block of one parity.
type states struct {
	newest []uint64 // by word, those of the newest depth
	seen   []uint8  // by word, the number of states of all depths so far
}

func newStates(words int) states {
	return states{newest: make([]uint64, words), seen: make([]uint8, words)}
}

// of returns the states of the k-th of several blocks of so many words.
func (s states) of(k, words int) states {
	return states{newest: part(s.newest, k, words), seen: part(s.seen, k, words)}
}

// desk is a worker's part of a store: the states of the block that it changes, and
// buffers for reads and writes.
type desk struct {
	states
	own     states     // room for states, if they are not in memory
	in, out pieces     // of the blocks that are changed
	around  pieces     // of blocks that they are pulled from
	fetched [][]uint64 // newest states of some of these
}

// store keeps the states of all blocks. Its methods are safe for concurrent use
// on different blocks and desks; what newest and fill read does not change
// meanwhile.
type store interface {
	// tiles returns the number of parts, as many blocks each, that are pulled
	// one after another.
	tiles() int
	// enter makes room for the newest states of the tile that begins with a
	// block: it is pulled next. It is not safe for concurrent use.
	enter(parity, first int)
	// recall resumes an interrupted search: it loads the blocks of both parities that
	// stay in memory and checks the others. After all blocks, recalled compares them
	// with the number of states at each depth.
	recall(blocks span, sides *[2]flags, d *desk) error
	recalled(depths []uint64) error
	// fill loads those of some blocks of that tile; busy says which have any.
	fill(blocks span, busy []uint8, d *desk) error
	// newest returns the newest states of a busy block, for reading. They may be
	// in the k-th element of d.fetched.
	newest(parity, block int, d *desk, k int) ([]uint64, error)
	// open prepares some blocks for load and save, and the busy blocks of the
	// other parity that sources lists, some more than once, for newest; shut ends
	// that.
	open(parity int, blocks span, sources iter.Seq[int], d *desk) error
	shut(parity int, d *desk) error
	// load puts the states of one of these blocks on the desk.
	load(parity, block int, d *desk) error
	// save stores them after a change: busy says that there are newest ones, full
	// that all are seen.
	save(parity, block int, d *desk, busy, full bool)
	// commit makes what was saved durable, with the number of states at each
	// depth that is done.
	commit(depths []uint64, sides *[2]flags) error
	// damaged returns the error for stored states that are impossible.
	damaged(err error) error
	close() error
}

// span are the blocks from first up to end.
type span struct{ first, end int }

// resident keeps everything in memory.
type resident struct {
	words int
	sides [2]states
}

func newResident(l *layout) *resident {
	m := &resident{words: int(l.blockWords())}
	for p := range m.sides {
		m.sides[p] = newStates(int(l.words()))
	}
	return m
}

func (*resident) tiles() int                                 { return 1 }
func (*resident) enter(int, int)                             {}
func (*resident) recall(span, *[2]flags, *desk) error        { return nil }
func (*resident) damaged(err error) error                    { return err }
func (*resident) recalled([]uint64) error                    { return nil }
func (*resident) fill(span, []uint8, *desk) error            { return nil }
func (*resident) open(int, span, iter.Seq[int], *desk) error { return nil }
func (*resident) shut(int, *desk) error                      { return nil }
func (*resident) save(int, int, *desk, bool, bool)           {}
func (*resident) commit([]uint64, *[2]flags) error           { return nil }
func (*resident) close() error                               { return nil }

func (m *resident) newest(parity, block int, _ *desk, _ int) ([]uint64, error) {
	return part(m.sides[parity].newest, block, m.words), nil
}

func (m *resident) load(parity, block int, d *desk) error {
	d.states = m.sides[parity].of(block, m.words)
	return nil
}

// part returns the k-th part of so many elements.
func part[T any](list []T, k, size int) []T { return list[k*size : (k+1)*size : (k+1)*size] }
