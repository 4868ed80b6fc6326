package halfboard

import (
	"sync"

	"grenier/io/crew"
)

// pieces keeps some pieces of lower layers in memory, for all workers together.
type pieces struct {
	grid   *grid
	lower  Lower
	mu     sync.Mutex
	where  map[pieceName]*kept
	clock  []*kept // those in memory, and memory for more: second chances in turn
	hand   int
	memory *region
	most   int
}

// pieceLength is the number of scores in a piece: a block of a layer file.
const pieceLength = 1 << 16

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

// newPieces keeps pieces in the given memory.
func newPieces(g *grid, lower Lower, memory *region) *pieces {
	return &pieces{grid: g, lower: lower, where: map[pieceName]*kept{}, memory: memory, most: len(memory.rest) / pieceLength}
}

// get returns a piece, which stays until it is put back.
func (p *pieces) get(name pieceName) (*kept, error) {
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

	start := name.number * pieceLength
	k.scores = k.scores[:min(pieceLength, p.grid.halves.Board().Size(name.n)-start)]
	k.err = crew.Run(func() error { return p.lower.Read(name.n, start, k.scores) }) // others wait for ready
	close(k.ready)
	return k, k.err
}

// vacant returns memory for a piece that nobody holds. The mutex is held.
func (p *pieces) vacant() *kept {
	for range 2 * len(p.clock) {
		if len(p.clock) < p.most {
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
	if len(p.clock) < p.most {
		k.scores = p.memory.take(pieceLength)
	} else {
		k.scores = make([]int8, pieceLength) // too many are held: one more
	}
	p.clock = append(p.clock, k)
	return k
}

// put gives a piece back.
func (p *pieces) put(k *kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.refs--
}

// rows reads rows of lower layers out of pieces, for one goroutine.
type rows struct {
	*pieces
	held *kept
	join []int8 // a row of several pieces
}

// row implements rowReader. The row is valid until the next call.
func (r *rows) row(n int, code uint32) ([]int8, error) {
	start := r.grid.rowStart(n, code)
	end := start + uint64(columnsOf(r.grid.q, n-r.grid.pits[code].sum()))
	first, last := start/pieceLength, (end-1)/pieceLength
	if err := r.hold(pieceName{n, first}); err != nil {
		return nil, err
	}
	if first == last {
		return r.held.scores[start%pieceLength:], nil
	}
	r.join = append(r.join[:0], r.held.scores[start%pieceLength:]...)
	for number := first + 1; number <= last; number++ {
		if err := r.hold(pieceName{n, number}); err != nil {
			return nil, err
		}
		r.join = append(r.join, r.held.scores...)
	}
	return r.join, nil
}

// hold keeps a piece until another one is held, or none: the zero name.
func (r *rows) hold(name pieceName) error {
	if r.held != nil {
		if r.held.name == name {
			return nil
		}
		r.put(r.held)
	}
	var err error
	r.held, err = r.get(name)
	return err
}

// close lets go what is held.
func (r *rows) close() {
	if r.held != nil {
		r.put(r.held)
		r.held = nil
	}
}
