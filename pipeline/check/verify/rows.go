package verify

import (
	"context"

	"grenier/io/crew"
	"grenier/io/layerfile"
	"grenier/kernels/colex"
	"grenier/layers/awari"
)

// row is the positions of a layer with the same half of the opponent: a run of ranks, in the
// order of the ranks of the mover's halves.
type row struct {
	mover    int  // seeds of the mover's half
	opponent half // the other half
	start    uint64
}

// rows lists the rows of a layer in the order of their ranks. The seeds of the mover and the pits of
// the opponent are boards of Q+1 pits in colex order.
type rows struct {
	row
	space *awari.Space
	half  *colex.Ranking
	seeds int
	bits  uint64 // of the board
	board [awari.MaxPits/2 + 1]uint8
}

// newRows begins with the first row that starts at the given rank or behind.
func newRows(space *awari.Space, half *colex.Ranking, seeds int, from uint64) *rows {
	q := space.Half()
	rs := &rows{space: space, half: half, seeds: seeds}
	b := space.Unrank(seeds, from)
	mover := uint8(0)
	for i, x := range b[:q] {
		mover += x
		b[i] = 0
	}
	b[q-1] = mover // the first one of the row
	rs.board[0] = mover
	copy(rs.board[1:], b[q:2*q])
	rs.bits = colex.ListToBV(rs.board[:q+1])
	_, rs.start = space.Rank(b)
	rs.take()
	if rs.start < from {
		rs.next()
	}
	return rs
}

// take makes the board the row.
func (rs *rows) take() {
	rs.mover = int(rs.board[0])
	rs.opponent = pack(rs.board[1 : rs.space.Half()+1])
}

// width returns how many positions the row has.
func (rs *rows) width() uint64 { return rs.half.Size(rs.mover) }

// next goes to the next row. Behind the last one there is none with a start in the layer.
func (rs *rows) next() {
	rs.start += rs.width()
	if rs.start >= rs.space.Size(rs.seeds) {
		return
	}
	rs.bits = colex.NextBV(rs.bits)
	colex.BVToList(rs.bits, rs.seeds, rs.board[:rs.space.Half()+1])
	rs.take()
}

// visitor looks at rows of one layer; it belongs to one goroutine.
type visitor struct {
	*part
	ctx     context.Context // of what is read
	decoder *layerfile.Decoder
	scores  []int8
	steps   []step
	bits    []uint64 // of a column by one pit, see traces.go
	fresh   window   // marks of the positions of a chunk
	// gathered are rows up to a rank whose lines are to be visited, see lines.go.
	gathered []row
	until    uint64
	visit    func(v *visitor, l line) error
	// distanceDecoder reads distances, which are made when they are needed.
	distanceDecoder *layerfile.Decoder
	distances       []int8
	moves           uint64 // that were looked at
	found           found
}

// step is a column from which moves lead to a row.
type step struct {
	column int // seeds of the mover's half
	rank   uint64
	pit    int // that is played
	spans  []span
}

// read returns n scores of the layer from a rank on.
func (v *visitor) read(from, n uint64) ([]int8, error) {
	if uint64(cap(v.scores)) < n {
		v.scores = make([]int8, n)
	}
	scores := v.scores[:n]
	return scores, v.decoder.Read(v.ctx, scores, from)
}

// Chunks of a layer go to goroutines: the rows that begin in a run of ranks of this length.
const (
	largeChunk = 32 * layerfile.MaxBlockSize
	smallChunk = layerfile.MaxBlockSize
	// fewChunks is how many large ones make a layer large.
	fewChunks = 64
)

// chunkOf returns the size of the chunks of a layer.
func chunkOf(size uint64) uint64 {
	if size < fewChunks*largeChunk {
		return smallChunk
	}
	return largeChunk
}

// chunks returns their number.
func chunks(size uint64) int { return int((size + chunkOf(size) - 1) / chunkOf(size)) }

// walk visits all rows of layer m, in several goroutines, and returns the visitors.
func (p *part) walk(ctx context.Context, m int, visit func(v *visitor, rs *rows) error) ([]*visitor, error) {
	file, err := p.run.tables.File(ctx, m)
	if err != nil {
		return nil, err
	}
	size := p.run.space.Size(m)
	chunk := chunkOf(size)
	// A chunk that was begun comes to its end: its marks count.
	all := make([]*visitor, min(p.run.options.Workers, chunks(size)))
	for i := range all {
		all[i] = &visitor{part: p, ctx: context.WithoutCancel(ctx), decoder: file.NewDecoder(p.run.options.Family)}
	}
	return all, crew.Each(ctx, len(all), chunks(size), func(worker, i int) error {
		v := all[worker]
		from := uint64(i) * chunk
		rs, end := newRows(p.run.space, p.run.sowings.half, m, from), min(from+chunk, size)
		if m == p.seeds {
			v.enter(rs.start, end)
		}
		for ; rs.start < end; rs.next() {
			if err := visit(v, rs); err != nil {
				return err
			}
		}
		if err := v.see(); err != nil {
			return err
		}
		p.meter.step()
		return v.leave()
	})
}
