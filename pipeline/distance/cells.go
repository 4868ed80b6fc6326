package distance

import (
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

// cells are two bytes for each position of a layer, by rank, in memory or in a file. Each sweep reads what the one before has written: so the page cache is left
// to the system, unlike that of files which are not read again soon (package pagecache).
//
// The first byte is the score as long as the distance is not known. Then the second one is 1 for a winner who will have it in the sweep in progress; for a loser
// it is how many moves keep the score and lead to winners whose distance is not known. After that the first byte is 0, and the second one is the distance, if
// there is any.
type cells struct {
	memory []byte // nil if they are in the file
	file   *vfs.Pending
}

const (
	pageShift = 11 // a page is 2,048 positions
	pageBytes = 2 << pageShift
)

// open makes the cells, in memory if there is so much room, and returns how much of that is left. It fails like package vfs.
func (c *cells) open(dir vfs.Dir, size, room uint64) (rest uint64, err error) {
	if 2*size <= room {
		c.memory = memory.Make[byte](int(2 * size))
		return room - 2*size, nil
	}
	c.file, err = vfs.NewPending(dir, rundir.DistancesName)
	return room, err
}

// read reads the cells from a rank on.
func (c *cells) read(dst []byte, rank uint64) error {
	if c.memory != nil {
		copy(dst, c.memory[2*rank:])
		return nil
	}
	_, err := c.file.ReadAt(dst, 2*int64(rank))
	return err
}

// close removes the file.
func (c *cells) close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Abort()
}

// piece is the cells of the ranks from..to-1, of which pages are read when they are looked at.
type piece struct {
	*cells
	from, to uint64
	bytes    []byte
	there    []bool // pages that were read
}

// pieceBytes returns the memory of a piece of 1 << shift positions.
func pieceBytes(shift int) uint64 { return 2<<shift + 1<<shift>>pageShift }

// newPiece returns a piece of at most size positions, which begins nowhere yet.
func (c *cells) newPiece(size uint64) piece {
	p := piece{cells: c, there: make([]bool, size>>pageShift+1)}
	if c.memory == nil {
		p.bytes = make([]byte, 2*size)
	}
	p.mark(0, len(p.there), c.memory != nil)
	return p
}

// begin makes it another piece.
func (p *piece) begin(from, size uint64) {
	p.from, p.to = from, from+size
	if p.memory != nil {
		p.bytes = p.memory[2*from:]
	}
	p.bytes = p.bytes[:2*size]
}

// set sets a position: one whose distance is not known waits for nobody yet, unless it is a winner who is backed.
func (p *piece) set(at uint32, score int8, plies, backed byte) {
	switch {
	case plies > 0:
		score = 0
	case score > 0:
		plies = backed
	}
	p.there[at>>pageShift] = true
	p.bytes[2*at], p.bytes[2*at+1] = byte(score), plies
}

// fetch reads a page, and, if there are many to come, those behind it that were not read yet.
func (p *piece) fetch(page int, many bool) error {
	end := page + 1
	for many && end*pageBytes < len(p.bytes) && !p.there[end] {
		end++
	}
	p.mark(page, end, true)
	some, rank := p.pages(page, end)
	return p.read(some, rank)
}

// end writes the pages that were read, most of which have changed, and leaves none there.
func (p *piece) end() error {
	for page := 0; page < len(p.there) && p.memory == nil; page++ {
		first := page
		for page < len(p.there) && p.there[page] {
			page++
		}
		if first == page {
			continue
		}
		p.mark(first, page, false)
		some, rank := p.pages(first, page)
		if _, err := p.file.WriteAt(some, 2*int64(rank)); err != nil {
			return err
		}
	}
	return nil
}

// pages returns the bytes of some pages, the last of which may be short, and their first rank.
func (p *piece) pages(first, end int) (some []byte, rank uint64) {
	return p.bytes[first*pageBytes : min(end*pageBytes, len(p.bytes))], p.from + uint64(first)<<pageShift
}

// mark says whether pages are there.
func (p *piece) mark(first, end int, there bool) {
	for ; first < end; first++ {
		p.there[first] = there
	}
}
