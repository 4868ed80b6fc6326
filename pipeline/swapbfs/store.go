package swapbfs

// states are the states of one block of one parity.
type states struct {
	newest []uint64 // by word, those of the newest depth
	seen   []uint8  // by word, the number of states of all depths so far
}

// desk is what a worker has of a store: the states of the block that it changes,
// and room for what is on its way from and to the disk.
type desk struct {
	states
	in, out pieces
	fetched []fetched // blocks of other tiles
}

// fetched is a block that was read.
type fetched struct {
	newest []uint64
	packed []byte
}

// store keeps the states of all blocks. Its methods are safe for concurrent use
// on different blocks and desks; nothing that newest or fill are asked for
// changes in the meantime.
type store interface {
	// tiles returns the number of parts, as many blocks each, that are pulled
	// one after another.
	tiles() int
	// enter makes room for the newest states of the tile that begins with a
	// block: it is pulled next. It is not safe for concurrent use.
	enter(parity, first int)
	// fill brings those of some blocks of that tile into memory; busy tells
	// which have any.
	fill(blocks span, busy []uint8, d *desk) error
	// newest returns the newest states of a busy block, for reading. They may be
	// in the k-th element of d.fetched.
	newest(parity, block int, d *desk, k int) ([]uint64, error)
	// open prepares some blocks for load and save, and shut ends that.
	open(parity int, blocks span, d *desk) error
	shut(parity int, d *desk) error
	// load puts the states of one of these blocks on the desk.
	load(parity, block int, d *desk) error
	// save keeps them after they were changed: busy tells whether there are
	// newest ones, full whether all are seen.
	save(parity, block int, d *desk, busy, full bool)
	// commit makes what was saved durable, with the number of states at each
	// depth that is done.
	commit(depths []uint64, sides *[2]flags) error
	close() error
}

// span are the blocks from first up to end.
type span struct{ first, end int }

// memory keeps everything in memory.
type memory struct {
	words int
	sides [2]states
}

func newMemory(l *layout) *memory {
	m := &memory{words: int(l.blockWords())}
	for p := range m.sides {
		m.sides[p] = states{newest: make([]uint64, l.words()), seen: make([]uint8, l.words())}
	}
	return m
}

func (*memory) tiles() int                       { return 1 }
func (*memory) enter(int, int)                   {}
func (*memory) fill(span, []uint8, *desk) error  { return nil }
func (*memory) open(int, span, *desk) error      { return nil }
func (*memory) shut(int, *desk) error            { return nil }
func (*memory) save(int, int, *desk, bool, bool) {}
func (*memory) commit([]uint64, *[2]flags) error { return nil }
func (*memory) close() error                     { return nil }

func (m *memory) newest(parity, block int, _ *desk, _ int) ([]uint64, error) {
	return part(m.sides[parity].newest, block, m.words), nil
}

func (m *memory) load(parity, block int, d *desk) error {
	side := &m.sides[parity]
	d.states = states{newest: part(side.newest, block, m.words), seen: part(side.seen, block, m.words)}
	return nil
}

// part returns the k-th part of so many elements.
func part[T any](list []T, k, size int) []T { return list[k*size : (k+1)*size : (k+1)*size] }
