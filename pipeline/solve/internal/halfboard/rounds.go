package halfboard

import (
	"context"
	"sync"

	"grenier/io/crew"
	"grenier/kernels/compress"
	"grenier/layers/awari"
)

// A round computes the offers of as many panels as fit into memory, while it goes once through
// what these panels capture: of all panels, if a layer is solved in one piece. All moves that leave the same half read the same rows
// of all lower layers, and halves that agree in their last pits have rows next to each other:
// a round goes from half to half in that order, from each to the columns of the moves that
// leave it (origins), and needs no more of the lower layers at a time than a few pieces of
// each.

// round computes the offers of some panels, and reuses its memory for the next ones.
type round struct {
	layer   *layer
	game    awari.Game
	workers int
	codes   bool // scores will be codes: see endColumn
	pieces  *pieces
	memory  []int8              // for offers
	leaves  [][]uint32          // open halves, in the order of rows: what a worker goes through at a time
	offers  [][][classes][]int8 // by sum and panel: columns; nil of other panels
	locks   [1 << 10]paddedMutex
}

// paddedMutex is a mutex in a line of its own.
type paddedMutex struct {
	sync.Mutex
	_ [56]byte
}

// newRound returns a round of a layer that reads pieces and has the given memory for offers: codes says that scores
// will be codes.
func newRound(l *layer, game awari.Game, workers int, codes bool, pieces *pieces, memory []int8) *round {
	r := &round{layer: l, game: game, workers: workers, codes: codes, pieces: pieces, memory: memory, leaves: l.leaves()}
	for _, m := range l.matrices {
		r.offers = append(r.offers, make([][classes][]int8, m.panels))
	}
	return r
}

// captureAll computes all offers in the place where they stay. Pieces of lower layers are in scores, the memory of the
// scores. It tells which share is done.
func captureAll(ctx context.Context, l *layer, game awari.Game, workers int, lower Lower, scores []int8, share func(float64)) error {
	r, panels := newRound(l, game, workers, false, newPieces(l, lower, scores), nil), l.panelsInOrder()
	for _, p := range panels {
		for class := range classes {
			r.offers[p.matrix.sum][p.panel][class] = p.matrix.panelOffers(class, p.panel)
		}
	}
	if err := r.run(ctx, panels, share); err != nil {
		return err
	}
	part := len(scores) / workers
	err := crew.Each(ctx, workers, len(panels), func(worker, i int) error {
		r.turn(panels[i], scores[worker*part:][:0:part])
		return nil
	})
	share(1)
	return err
}

// turn turns the offers of a panel from columns into blocks. It uses the capacity of scratch.
func (r *round) turn(p panelOf, scratch []int8) {
	for class, offers := range r.offers[p.matrix.sum][p.panel] {
		columns := append(scratch, offers...)
		for chunk := range p.matrix.chunks[class] {
			r.block(p.matrix.block(rowClass(class), p.panel, chunk), p.matrix, rowClass(class), p.panel, chunk, columns)
		}
	}
}

// leafScores is about the number of scores of the highest lower layer that a worker goes
// through at a time: more, and workers do not find the pieces of each other; fewer, and they
// wait for each other.
const leafScores = 4 * pieceLength

// leaves lists the open halves that captures can leave, in the order of rows, cut into parts.
func (g *layer) leaves() (parts [][]uint32) {
	var part []uint32
	scores := 0
	var h half
	var add func(pit, left int)
	add = func(pit, left int) {
		if pit >= 0 {
			for x := left; x >= 0; x-- {
				h[pit] = uint8(x)
				add(pit-1, left-x)
			}
			return
		}
		if !h.hasEmpty(g.q) {
			return
		}
		part = append(part, g.code(&h))
		if scores += g.columns(left); scores >= leafScores {
			parts = append(parts, exact(part))
			part, scores = part[:0], 0
		}
	}
	add(g.q-1, g.n-2)
	return append(parts, exact(part))
}

// panelBytes returns the bytes of the offers of a panel: its columns have whole chunks.
func (m *matrix) panelBytes(panel int) int {
	return m.width(panel) * (m.chunks[openRows] + m.chunks[fullRows]) * side
}

// column returns a column of the offers of a panel.
func (m *matrix) column(offers []int8, class rowClass, c int) []int8 {
	length := m.chunks[class] * side
	return offers[c*length:][:length]
}

// fit gives memory to the first of panels, as many as it is enough for, and returns how many:
// one at least if there is as much as leastOffers says.
func (r *round) fit(panels []panelOf) int {
	for _, offers := range r.offers {
		clear(offers)
	}
	memory := r.memory
	for i, panel := range panels {
		if panel.matrix.panelBytes(panel.panel) > len(memory) {
			return i
		}
		for class := range classes {
			size := panel.matrix.width(panel.panel) * panel.matrix.chunks[class] * side
			r.offers[panel.matrix.sum][panel.panel][class], memory = memory[:size:size], memory[size:]
		}
	}
	return len(panels)
}

// block copies offers of a panel to those of a block and ends games. Columns that the panel does
// not have are blocked.
func (r *round) block(block *compress.Block, m *matrix, class rowClass, panel, chunk int, offers []int8) {
	for c := range m.width(panel) {
		copy(block[c*side:][:side], m.column(offers, class, c)[chunk*side:])
	}
	fill(block[m.width(panel)*side:], r.layer.blocked())
	r.endGames(m, class, panel, chunk, block)
}

// run computes the offers of panels that have memory.
func (r *round) run(ctx context.Context, panels []panelOf, share func(float64)) error {
	err := crew.Each(ctx, r.workers, len(panels), func(_, i int) error {
		panel := panels[i]
		for _, offers := range r.offers[panel.matrix.sum][panel.panel] {
			fill(offers, r.layer.blocked())
		}
		return nil
	})
	if err != nil {
		return err
	}
	lower := make([]*rows, r.workers)
	for i := range lower {
		lower[i] = newRows(r.pieces)
		defer lower[i].close()
	}
	return crew.Each(ctx, r.workers, len(r.leaves), func(worker, i int) error {
		share(float64(i) / float64(len(r.leaves)))
		for _, code := range r.leaves[i] {
			if err := r.captureTo(code, lower[worker]); err != nil {
				return err
			}
		}
		return nil
	})
}

// captureTo applies the captures of all moves that leave a half.
func (r *round) captureTo(code uint32, lower *rows) error {
	from := r.layer.origins[r.layer.pits[code].sum()]
	row := r.layer.place(code).row
	lower.leave()
	for _, s := range from.steps[from.first[row]:from.first[row+1]] {
		l := from.link(s)
		offers := &r.offers[l.matrix.sum][s.column()/side]
		if offers[openRows] == nil {
			continue
		}
		if err := r.captureStep(l, s.column(), offers, code, lower); err != nil {
			return err
		}
	}
	return nil
}

// captureStep applies the captures of a column, of a panel with the given offers, by a move
// that leaves the half code.
func (r *round) captureStep(l *link, column uint32, offers *[classes][]int8, code uint32, lower *rows) error {
	for class := range classes {
		captures := l.pattern.captures[class]
		for k := range captures { // not under the lock
			if _, err := lower.row(r.layer.n-captures[k].seeds, code); err != nil {
				return err
			}
		}
	}
	lock := &r.locks[(l.matrix.first+column)%uint32(len(r.locks))]
	lock.Lock()
	defer lock.Unlock()
	for class := range classes {
		captures := l.pattern.captures[class]
		if len(captures) == 0 {
			continue
		}
		scores := l.matrix.column(offers[class], class, int(column%side))
		for k := range captures {
			captures[k].apply(scores, lower.known[r.layer.n-captures[k].seeds])
		}
	}
	return nil
}
