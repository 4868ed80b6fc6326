package board

import (
	"sync"

	"grenier/io/crew"
)

// Lower gives the scores of solved layers.
type Lower interface {
	// Read fills dst with the scores of layer n from rank start on, in colex
	// order. It is called from several goroutines.
	Read(n int, start uint64, dst []int8) error
	// Ahead says that length scores of layer n from rank start on will be read soon. It is called
	// from several goroutines, and only for layers that are solved window by window.
	Ahead(n int, start uint64, length int)
	// Close is called once, when the engine needs nothing more, before it takes
	// memory for the scores of the layer in progress.
	Close() error
}

// Pieces keeps some pieces of lower layers in memory, for all workers together.
type Pieces struct {
	layer  *Layer
	lower  Lower
	mu     sync.Mutex
	where  map[pieceName]*kept
	clock  []*kept // those in memory, and memory for more: second chances in turn
	hand   int
	memory []int8 // not yet taken
}

// PieceLength is the number of scores in a piece: a block of a layer file.
const PieceLength = 1 << 16

type pieceName struct {
	n      int
	number uint64
}

// kept is a piece of a lower layer.
type kept struct {
	name   pieceName
	scores []int8
	ready  chan struct{} // closed when the scores, or err, are there
	err    error
	refs   int  // readers that hold it
	used   bool // since the hand last passed
}

// NewPieces keeps pieces in the given memory.
func NewPieces(l *Layer, lower Lower, memory []int8) *Pieces {
	return &Pieces{layer: l, lower: lower, where: map[pieceName]*kept{}, memory: memory}
}

// get returns a piece, which stays until it is put back.
func (p *Pieces) get(name pieceName) (*kept, error) {
	p.mu.Lock()
	k := p.where[name]
	if k != nil {
		k.refs++
		k.used = true
		p.mu.Unlock()
		<-k.ready
		return k, k.err
	}
	k = p.vacant()
	*k = kept{name: name, scores: k.scores, ready: make(chan struct{}), refs: 1, used: true}
	p.where[name] = k
	p.mu.Unlock()

	start := name.number * PieceLength
	k.scores = k.scores[:min(PieceLength, p.layer.Halves.Board().Size(name.n)-start)]
	k.err = crew.Run(func() error { return p.lower.Read(name.n, start, k.scores) }) // others wait for ready
	close(k.ready)
	return k, k.err
}

// vacant returns memory for a piece that is not in use. The mutex is held.
func (p *Pieces) vacant() *kept {
	for range 2 * len(p.clock) {
		if len(p.memory) >= PieceLength {
			break
		}
		k := p.clock[p.hand]
		p.hand = (p.hand + 1) % len(p.clock)
		if k.refs == 0 && !k.used {
			delete(p.where, k.name)
			return k
		}
		k.used = false
	}
	k := &kept{}
	if len(p.memory) >= PieceLength {
		k.scores, p.memory = p.memory[:PieceLength:PieceLength], p.memory[PieceLength:]
	} else {
		k.scores = make([]int8, PieceLength) // too many are held: one more
	}
	p.clock = append(p.clock, k)
	return k
}

// put gives a piece back.
func (p *Pieces) put(k *kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.refs--
}

// rows reads rows of lower layers out of pieces, for one goroutine. It holds a piece of each
// layer.
type rows struct {
	*Pieces
	held  []*kept  // by layer
	known [][]int8 // by layer: the rows of the half that was asked for; nil if they were not
	join  [][]int8 // by layer: memory for rows of several pieces
}

func newRows(p *Pieces) *rows {
	layers := p.layer.N + 1
	return &rows{Pieces: p, held: make([]*kept, layers), known: make([][]int8, layers), join: make([][]int8, layers)}
}

// leave forgets the rows of a half.
func (r *rows) leave() { clear(r.known) }

// row returns the row of layer n of a half, the same one for all calls since leave, until when
// it is valid.
func (r *rows) row(n int, code uint32) ([]int8, error) {
	if known := r.known[n]; known != nil {
		return known, nil
	}
	row, err := r.read(n, code)
	r.known[n] = row
	return row, err
}

// read reads a row.
func (r *rows) read(n int, code uint32) ([]int8, error) {
	start, first, last := r.rowPieces(n, code)
	k, err := r.hold(pieceName{n, first})
	if err != nil {
		return nil, err
	}
	if first == last {
		return k.scores[start%PieceLength:], nil
	}
	join := append(r.join[n][:0], k.scores[start%PieceLength:]...)
	for number := first + 1; number <= last; number++ {
		if k, err = r.hold(pieceName{n, number}); err != nil {
			return nil, err
		}
		join = append(join, k.scores...)
	}
	r.join[n] = join
	return join, nil
}

// hold keeps a piece until another one of the same layer is held, or none.
func (r *rows) hold(name pieceName) (*kept, error) {
	held := r.held[name.n]
	if held != nil {
		if held.name == name {
			return held, nil
		}
		r.put(held)
	}
	held, err := r.get(name)
	r.held[name.n] = held
	return held, err
}

// rowPieces returns where the row of a half begins in layer n, and its first and last piece.
func (p *Pieces) rowPieces(n int, code uint32) (start, first, last uint64) {
	start = p.layer.RowStart(n, code)
	end := start + uint64(p.layer.columns(n-p.layer.Pits[code].Sum()))
	return start, start / PieceLength, (end - 1) / PieceLength
}

// ahead announces pieces of layer n, which it may not have all.
func (p *Pieces) ahead(n int, first, last uint64) {
	start := first * PieceLength
	p.lower.Ahead(n, start, int(min((last+1)*PieceLength, p.layer.Halves.Board().Size(n))-start))
}

// close puts back what is held.
func (r *rows) close() {
	for n, held := range r.held {
		if held != nil {
			r.put(held)
			r.held[n] = nil
		}
	}
}
