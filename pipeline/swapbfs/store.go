package swapbfs

// states are the states of one block of one parity.
type states struct {
	newest []uint64 // by word, those of the newest depth
	seen   []uint8  // by word, the number of states of all depths so far
	packed []byte   // as they are on disk
}

// buffer has room for the newest states of a block that is not in memory.
type buffer struct {
	newest []uint64
	packed []byte
}

// store keeps the states of all blocks. Its methods are safe for concurrent use
// on different blocks; what newest or fill are asked for does not change in
// the meantime.
type store interface {
	// tiles returns the number of parts, as many blocks each, that are pulled
	// one after another.
	tiles() int
	// enter makes room for the newest states of the tile that begins with a
	// block: it is pulled next. It is not safe for concurrent use.
	enter(parity, first int)
	// fill brings those of a block of that tile into memory, with the help of b;
	// if the block is not busy there are none.
	fill(block int, busy bool, b *buffer) error
	// newest returns the newest states of a busy block, for reading. They may be
	// in b.
	newest(parity, block int, b *buffer) ([]uint64, error)
	// load gets the states of a block, for changing. They may be in the memory
	// that s has.
	load(parity, block int, s *states) error
	// save keeps what load returned and the caller changed: busy tells whether
	// there are newest states, full whether all states are seen.
	save(parity, block int, s *states, busy, full bool) error
	// commit makes what was saved durable, with the number of states at each
	// depth that is done.
	commit(depths []uint64, sides *[2]flags) error
	close() error
}

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

func (*memory) tiles() int                               { return 1 }
func (*memory) enter(int, int)                           {}
func (*memory) fill(int, bool, *buffer) error            { return nil }
func (*memory) save(int, int, *states, bool, bool) error { return nil }
func (*memory) commit([]uint64, *[2]flags) error         { return nil }
func (*memory) close() error                             { return nil }

func (m *memory) newest(parity, block int, _ *buffer) ([]uint64, error) {
	return part(m.sides[parity].newest, block, m.words), nil
}

func (m *memory) load(parity, block int, s *states) error {
	side := &m.sides[parity]
	s.newest, s.seen = part(side.newest, block, m.words), part(side.seen, block, m.words)
	return nil
}

// part returns the k-th part of so many elements.
func part[T any](list []T, k, size int) []T { return list[k*size : (k+1)*size : (k+1)*size] }
