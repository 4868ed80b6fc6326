package halfboard

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"grenier/io/memory"
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// region is memory for scores outside the Go heap, so that the memory of a layer
// is known and can be returned at once.
type region struct {
	mapping mmap.MMap
	rest    []int8 // not yet taken
}

// newRegion maps size bytes.
func newRegion(size int) (*region, error) {
	mapping, err := mmap.MapRegion(nil, max(size, 1), mmap.COPY, mmap.ANON, 0) // private, so that it can have huge pages
	if err != nil {
		return nil, fmt.Errorf("taking %d bytes of memory: %w", size, err)
	}
	adviseHuge(mapping)
	r := &region{mapping: mapping}
	r.reset()
	return r, nil
}

// reset takes everything back.
func (r *region) reset() {
	r.rest = unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(r.mapping))), len(r.mapping))
}

// take returns the next size bytes. Sizes that are multiples of 64 keep what
// follows aligned to lines.
func (r *region) take(size int) []int8 {
	taken := r.rest[:size:size]
	r.rest = r.rest[size:]
	return taken
}

// close returns the memory to the system.
func (r *region) close() error {
	if err := r.mapping.Unmap(); err != nil {
		return fmt.Errorf("returning memory: %w", err)
	}
	return nil
}

// spare keeps the memory of one layer for the next: pages that are in use
// already cost nothing. It is safe for concurrent use.
type spare struct {
	mu     sync.Mutex
	region *region
}

// get returns memory of size bytes at least, with anything in it.
func (s *spare) get(size int) (*region, error) {
	s.mu.Lock()
	r := s.region
	s.region = nil
	s.mu.Unlock()
	if r != nil && len(r.mapping) >= size {
		r.reset()
		return r, nil
	}
	if r != nil {
		if err := r.close(); err != nil {
			return nil, err
		}
	}
	return newRegion(size)
}

// put takes memory back, to keep or to return.
func (s *spare) put(r *region) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.region != nil {
		return r.close()
	}
	s.region = r
	return nil
}

// close returns what is kept to the system.
func (s *spare) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.region == nil {
		return nil
	}
	err := s.region.close()
	s.region = nil
	return err
}

// layout is the memory for the scores of a layer, or of a matrix of it.
type layout struct {
	scores int
	offers [classes]int
	below  int // the largest layer that captures lead to: it stands in the place of the scores first
}

func (l layout) total() int {
	return max(l.scores, l.below) + l.offers[openRows] + l.offers[fullRows]
}

// layoutOf returns the layout of the layer of n seeds with halves of q pits: that
// of all of its matrices. A paged one has whole chunks and no place for lower layers.
func layoutOf(q, n int, paged bool) (sum layout) {
	if n >= 2 && !paged {
		sum.below = int(binomial(2*q+n-3, 2*q-1))
	}
	for mover := range n + 1 {
		rows := rowsOf(q, n-mover)
		l := matrixLayout(columnsOf(q, mover), heightOf(rows, paged), rows)
		sum.scores += l.scores
		for class := range classes {
			sum.offers[class] += l.offers[class]
		}
	}
	return sum
}

// heightOf returns the number of lines of a panel.
func heightOf(rows [classes]int, paged bool) int {
	if paged {
		return groups(rows[openRows]) * side
	}
	return rows[openRows]
}

// matrixLayout returns the layout of a matrix with the given number of columns, of
// lines of a panel, and of rows. Lines and blocks are whole.
func matrixLayout(columns, height int, rows [classes]int) (l layout) {
	l.scores = groups(columns) * height * side
	for class := range classes {
		l.offers[class] = groups(columns) * groups(rows[class]) * side * side
	}
	return l
}

// columnsOf returns the number of halves of q pits with sum seeds.
func columnsOf(q, sum int) int { return int(binomial(sum+q-1, q-1)) }

// rowsOf returns the same by class: in full ones every pit has a seed.
func rowsOf(q, sum int) (rows [classes]int) {
	if sum >= q {
		rows[fullRows] = int(binomial(sum-1, q-1))
	}
	rows[openRows] = columnsOf(q, sum) - rows[fullRows]
	return rows
}

func binomial(n, k int) uint64 {
	b, err := colex.Binomial(n, k)
	if err != nil {
		panic(err) // far below 64 bits for any game
	}
	return b
}

// Memory returns about the bytes that solving the layer of n seeds takes: the
// scores and offers of the positions and, for each half, its place, its moves
// and its part of the patterns, of which larger layers have more.
func Memory(game awari.Game, n int) uint64 {
	q := game.Half()
	return uint64(layoutOf(q, n, false).total()) + binomial(q+n, q)*uint64(60+10*q+4*n)
}

// tablesBytes returns about the bytes of the Go heap that a layer of n seeds takes: places,
// moves and patterns for each half, and garbage; a mark for each block.
func tablesBytes(q, n int) uint64 {
	const half, mark = 188, 16
	return binomial(q+n, q)*half + uint64(layoutOf(q, n, true).offers[openRows])/(side*side)*mark
}

// fixed is what the program takes besides.
func fixed(workers int) uint64 {
	const perWorker = 2 << 20 // most of it is for those who read and write
	return memory.Base + uint64(max(1, workers))*perWorker
}

// Least returns about the least memory with which an engine with so many workers can
// solve the layer of n seeds, with a work file.
func Least(game awari.Game, n, workers int) uint64 {
	return min(Whole(game, n, workers), fixed(workers)+tablesBytes(game.Half(), n)+leastPaged)
}

// Whole returns about the memory with which an engine with so many workers solves the
// layer of n seeds without a work file.
func Whole(game awari.Game, n, workers int) uint64 { return fixed(workers) + Memory(game, n) }

// leastPaged is what the smallest tiles need.
const leastPaged = 32 << 20
