package halfboard

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/dustin/go-humanize"
	"github.com/edsrzf/mmap-go"

	"grenier/io/memory"
	"grenier/kernels/colex"
	"grenier/kernels/window"
	"grenier/layers/awari"
)

// region is memory for scores outside the Go heap, so that the memory of a layer
// is known and can be returned at once.
type region struct {
	mapping mmap.MMap
	rest    []int8 // not yet taken
	known   func() // tells the Go runtime that it is returned
}

// newRegion maps size bytes.
func newRegion(size int) (*region, error) {
	mapping, err := mmap.MapRegion(nil, max(size, 1), mmap.COPY, mmap.ANON, 0) // private, so that it can have huge pages
	if err != nil {
		return nil, fmt.Errorf("taking %d bytes of memory: %w", size, err)
	}
	memory.Huge(mapping)
	r := &region{mapping: mapping, known: memory.Outside(int64(len(mapping)))}
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
	r.known()
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
}

func (l layout) total() int {
	return l.scores + l.offers[openRows] + l.offers[fullRows]
}

// layoutOf returns the layout of the layer of n seeds with halves of q pits: that
// of all of its matrices.
func layoutOf(q, n int) (sum layout) {
	for mover := range n + 1 {
		l := matrixLayout(columnsOf(q, mover), rowsOf(q, n-mover))
		sum.scores += l.scores
		for class := range classes {
			sum.offers[class] += l.offers[class]
		}
	}
	return sum
}

// matrixLayout returns the layout of a matrix with the given numbers of columns and
// rows. Lines and blocks are whole.
func matrixLayout(columns int, rows [classes]int) (l layout) {
	l.scores = groups(columns) * rows[openRows] * side
	for class := range classes {
		l.offers[class] = groups(columns) * groups(rows[class]) * side * side
	}
	return l
}

// columnsOf returns the number of halves of q pits with sum seeds.
func columnsOf(q, sum int) int { return int(colex.MustBinomial(sum+q-1, q-1)) }

// rowsOf returns the same by class: in full ones every pit has a seed.
func rowsOf(q, sum int) (rows [classes]int) {
	if sum >= q {
		rows[fullRows] = int(colex.MustBinomial(sum-1, q-1))
	}
	rows[openRows] = columnsOf(q, sum) - rows[fullRows]
	return rows
}

// Memory returns about the bytes that solving the layer of n seeds takes: the
// scores and offers of the positions and, for each half, its place, its moves
// and its part of the patterns, of which larger layers have more.
func Memory(game awari.Game, n int) uint64 {
	q := game.Half()
	return uint64(layoutOf(q, n).total()) + colex.MustBinomial(q+n, q)*uint64(36+10*q+4*n)
}

// tablesBytes returns about the bytes of the Go heap that a layer of n seeds takes: places,
// moves and patterns for each half, and garbage; a mark and what is alive for each block; a
// description of each tile.
func tablesBytes(q, n int) uint64 {
	const mark, tile = 24, 500
	half := uint64(90 + n/4) // 82 to 84 were counted for 20 to 26 seeds
	blocks := uint64(layoutOf(q, n).offers[openRows]) / (side * side)
	return colex.MustBinomial(q+n, q)*half + blocks*mark + blocks*(side*side)/(tileSize*tileSize)*tile
}

// fixed is what the program takes besides.
func fixed(workers int) uint64 {
	const perWorker = 2 << 20 // most of it is for those who read and write
	return memory.Base + uint64(max(1, workers))*perWorker
}

// Least returns about the least memory in bytes with which an engine with the given
// workers can solve the layer of n seeds: with two bits a score.
func Least(game awari.Game, n, workers int) uint64 {
	return min(Whole(game, n, workers), narrow(game, n, workers, window.Two))
}

// Whole returns about the memory in bytes with which an engine with the given workers
// solves the layer of n seeds in one piece.
func Whole(game awari.Game, n, workers int) uint64 { return fixed(workers) + Memory(game, n) }

// narrow returns about the memory with which an engine solves the layer of n seeds window
// by window: at first captures need it, then scores, with what stages work on.
func narrow(game awari.Game, n, workers int, codes *window.Codes) uint64 {
	q := game.Half()
	scores := uint64(codesBytes(q, n, codes.Bits)) + streamBytes(workers)
	return fixed(workers) + tablesBytes(q, n) + max(scores, captureBytes(q, n, workers)+pieceBytes(q, workers)+leastOffers(q, n))
}

// codesBytes returns the bytes of the codes of open rows.
func codesBytes(q, n, bits int) int { return layoutOf(q, n).scores * bits / 8 }

// roomForScores returns the bytes that scores can take: what codes of the given bits do, or if that
// is more, what memory leaves. Thin windows take what they need of it.
func (o *Options) roomForScores(q, n, bits int) int {
	taken := fixed(o.Workers) + tablesBytes(q, n) + streamBytes(o.Workers)
	return max(codesBytes(q, n, bits), int(o.Memory)-int(taken))
}

// streamBytes returns about the bytes that stages work on which read and write streams.
func streamBytes(workers int) uint64 {
	const perBlock, perStrip = 33 << 11, stripRows * side * 5 / 2
	return uint64(2*workers+2) * ((allParts+2)*perBlock + perStrip)
}

// captureBytes returns about the bytes that computing captures takes besides offers and
// pieces: the list of halves that captures leave, strips on their way, and for each worker
// rows of lower layers that are in several pieces, and a decoder of each of those layers.
func captureBytes(q, n, workers int) uint64 {
	const perStrip, perHalf, perDecoder = stripRows * side * 5 / 4, 4, 2 * pieceLength
	halves := colex.MustBinomial(n+q, q)
	return uint64(2*workers+2)*perStrip + halves*perHalf + uint64(workers)*(halves+uint64(3*q-1)*perDecoder)
}

// pieceBytes returns the bytes of lower layers that are kept while captures are computed: some
// pieces of each of those that captures lead to, for each worker.
func pieceBytes(q, workers int) uint64 {
	const each = 3
	return uint64(max(1, workers)) * uint64(3*q-1) * each * pieceLength
}

// leastOffers returns the least memory for offers: that for one panel.
func leastOffers(q, n int) uint64 {
	return uint64(columnsOf(q, n)+2*side) * side
}

// roomForPieces returns the bytes that pieces of lower layers take while captures are computed.
func (o *Options) roomForPieces(q, n int) int {
	all := uint64(0)
	for lower := range n {
		all += (colex.MustBinomial(2*q+lower-1, 2*q-1) + pieceLength - 1) / pieceLength * pieceLength
	}
	return int(min(pieceBytes(q, o.Workers), all))
}

// offersBytes returns the bytes of all offers in rounds: columns have whole chunks.
func offersBytes(q, n int) (all int) {
	for mover := range n + 1 {
		rows := rowsOf(q, n-mover)
		all += columnsOf(q, mover) * (groups(rows[openRows]) + groups(rows[fullRows])) * side
	}
	return all
}

// roomForOffers returns the bytes that offers can take while captures are computed.
func (o *Options) roomForOffers(q, n int) int {
	const unbounded = 1 << 30
	all := offersBytes(q, n)
	if o.Memory == 0 {
		return min(unbounded, all)
	}
	taken := fixed(o.Workers) + tablesBytes(q, n) + captureBytes(q, n, o.Workers) + uint64(o.roomForPieces(q, n))
	return min(int(max(o.Memory, taken+leastOffers(q, n))-taken), all)
}

// widths are the codes of all widths, those that need the fewest windows first.
var widths = []*window.Codes{window.Six, window.Four, window.Three, window.Two}

// codes returns those of the bits that are asked for, nil for others.
func (o *Options) codes() *window.Codes {
	for _, codes := range widths {
		if o.Bits == codes.Bits {
			return codes
		}
	}
	return nil
}

// form returns the codes with which a layer is solved, nil if it is solved in one piece. It
// fails with ErrMemory if neither fits.
func (o *Options) form(game awari.Game, n int) (*window.Codes, error) {
	if o.fits(game, n) {
		return nil, nil
	}
	if forced := o.codes(); forced != nil {
		return forced, nil
	}
	for _, codes := range widths {
		if narrow(game, n, o.Workers, codes) <= o.Memory {
			return codes, nil
		}
	}
	return nil, fmt.Errorf("%w: layer %d needs %s bytes and %s are allowed", ErrMemory, n,
		humanize.Comma(int64(Least(game, n, o.Workers))), humanize.Comma(int64(o.Memory)))
}
