package classes

import (
	"sync"

	"grenier/io/workfile"
)

// store keeps blocks. Its methods are safe for concurrent use, but for commit and
// close.
type store interface {
	// put keeps blocks that lie one behind the other in data, and get returns such
	// blocks in the memory of dst if that has room.
	put(data []byte, lengths []int) ([]workfile.Extent, error)
	get(extents []workfile.Extent, dst []byte) ([]byte, error)
	// drop says that the blocks of a list are not needed any more.
	drop(l list)
	// cost is the memory that a block takes, its index included.
	cost() uint64
	// damaged says that a block does not hold what it should, or, if it is nil, that
	// all blocks together do not.
	damaged(b *block, err error) error
	// commit makes a checkpoint durable, and all that was put before.
	commit(c *checkpoint) error
	close() error
}

// indexBytes is what a block takes in lists, merges and checkpoints.
const indexBytes = 128

// pageRoom is the number of pages that are allocated at once.
const pageRoom = 256

// memory keeps blocks in pages of memory; the offset of an extent is the number of
// its page.
type memory struct {
	mu    sync.Mutex
	pages [][]byte
	free  []int64
}

func (m *memory) put(data []byte, lengths []int) ([]workfile.Extent, error) {
	extents := make([]workfile.Extent, len(lengths))
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, n := range lengths {
		if len(m.free) == 0 {
			m.grow()
		}
		page := m.free[len(m.free)-1]
		m.free = m.free[:len(m.free)-1]
		copy(m.pages[page], data[:n])
		extents[i] = workfile.Extent{Offset: page, Length: uint32(n)}
		data = data[n:]
	}
	return extents, nil
}

func (m *memory) grow() {
	slab := make([]byte, pageRoom*blockBytes)
	for i := range pageRoom {
		m.free = append(m.free, int64(len(m.pages)))
		m.pages = append(m.pages, slab[i*blockBytes:(i+1)*blockBytes])
	}
}

func (m *memory) get(extents []workfile.Extent, dst []byte) ([]byte, error) {
	dst = dst[:0]
	m.mu.Lock()
	pages := m.pages
	m.mu.Unlock()
	for _, e := range extents {
		dst = append(dst, pages[e.Offset][:e.Length]...)
	}
	return dst, nil
}

func (m *memory) drop(l list) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range l {
		m.free = append(m.free, l[i].at.Offset)
	}
}

func (*memory) cost() uint64                    { return blockBytes + indexBytes }
func (*memory) damaged(_ *block, e error) error { return e }
func (*memory) commit(*checkpoint) error        { return nil }
func (*memory) close() error                    { return nil }
