package board

import (
	"context"
	"math/bits"
	"sync"

	"grenier/io/crew"
	"grenier/kernels/compress"
	"grenier/layers/awari"
)

// A round computes the offers of as many panels as fit into memory, all if the layer is solved in one piece, while it
// goes once through what they capture. All moves that leave the same half read the same rows
// of all lower layers, and halves that agree in their last pits have rows next to each other:
// a round goes from half to half in that order, from each to the columns of the moves that
// leave it (origins), and needs no more of the lower layers at a time than a few pieces of
// each.

// Round computes the offers of some panels, and reuses its memory for the next ones.
type Round struct {
	layer   *Layer
	game    awari.Game
	workers int
	codes   bool // scores will be codes: see endColumn
	pieces  *Pieces
	memory  []int8              // for offers
	leaves  [][]uint32          // open halves, in the order of rows: what a worker goes through at a time
	Offers  [][][Classes][]int8 // by sum and panel: columns; nil of other panels
	locks   [1 << 10]paddedMutex
}

// paddedMutex is a mutex in a line of its own.
type paddedMutex struct {
	sync.Mutex
	_ [56]byte
}

// NewRound returns a round of a layer that reads pieces and has the given memory for offers: codes says that scores
// will be codes.
func NewRound(l *Layer, game awari.Game, workers int, codes bool, pieces *Pieces, memory []int8) *Round {
	r := &Round{layer: l, game: game, workers: workers, codes: codes, pieces: pieces, memory: memory, leaves: l.leaves()}
	for _, m := range l.Matrices {
		r.Offers = append(r.Offers, make([][Classes][]int8, m.Panels))
	}
	return r
}

// CaptureAll computes all offers in the place where they stay. Pieces of lower layers are in scores, the memory of the
// scores. It tells which share is done.
func CaptureAll(ctx context.Context, l *Layer, game awari.Game, workers int, lower Lower, scores []int8, share func(float64)) error {
	r, panels := NewRound(l, game, workers, false, NewPieces(l, lower, scores), nil), l.PanelsInOrder()
	for _, p := range panels {
		for class := range Classes {
			r.Offers[p.Matrix.Sum][p.Panel][class] = p.Matrix.panelOffers(class, p.Panel)
		}
	}
	if err := r.Run(ctx, panels, share); err != nil {
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
func (r *Round) turn(p PanelOf, scratch []int8) {
	for class, offers := range r.Offers[p.Matrix.Sum][p.Panel] {
		columns := append(scratch, offers...)
		for chunk := range p.Matrix.Chunks[class] {
			r.Block(p.Matrix.Block(RowClass(class), p.Panel, chunk), p.Matrix, RowClass(class), p.Panel, chunk, columns)
		}
	}
}

// leafScores is about the number of scores of the highest lower layer that a worker goes
// through at a time: more, and workers do not find the pieces of each other; fewer, and they
// wait for each other.
const leafScores = 4 * PieceLength

// leaves lists the open halves that captures can leave, in the order of rows, cut into parts.
func (g *Layer) leaves() (parts [][]uint32) {
	var part []uint32
	scores := 0
	var h Half
	var add func(pit, left int)
	add = func(pit, left int) {
		if pit >= 0 {
			for x := left; x >= 0; x-- {
				h[pit] = uint8(x)
				add(pit-1, left-x)
			}
			return
		}
		if !h.hasEmpty(g.Q) {
			return
		}
		part = append(part, g.Code(&h))
		if scores += g.columns(left); scores >= leafScores {
			parts = append(parts, exact(part))
			part, scores = part[:0], 0
		}
	}
	add(g.Q-1, g.N-2)
	return append(parts, exact(part))
}

// panelBytes returns the bytes of the offers of a panel: its columns have whole chunks.
func (m *Matrix) panelBytes(panel int) int {
	return m.Width(panel) * (m.Chunks[OpenRows] + m.Chunks[FullRows]) * Side
}

// column returns a column of the offers of a panel.
func (m *Matrix) column(offers []int8, class RowClass, c int) []int8 {
	length := m.Chunks[class] * Side
	return offers[c*length:][:length]
}

// Fit gives memory to the first of panels, as many as it is enough for, and returns how many:
// one at least if there is enough for a whole panel.
func (r *Round) Fit(panels []PanelOf) int {
	for _, offers := range r.Offers {
		clear(offers)
	}
	memory := r.memory
	for i, panel := range panels {
		if panel.Matrix.panelBytes(panel.Panel) > len(memory) {
			return i
		}
		for class := range Classes {
			size := panel.Matrix.Width(panel.Panel) * panel.Matrix.Chunks[class] * Side
			r.Offers[panel.Matrix.Sum][panel.Panel][class], memory = memory[:size:size], memory[size:]
		}
	}
	return len(panels)
}

// Block copies offers of a panel to a block and ends games. Columns that the panel does
// not have are blocked.
func (r *Round) Block(block *compress.Block, m *Matrix, class RowClass, panel, chunk int, offers []int8) {
	for c := range m.Width(panel) {
		copy(block[c*Side:][:Side], m.column(offers, class, c)[chunk*Side:])
	}
	fill(block[m.Width(panel)*Side:], r.layer.Blocked())
	r.endGames(m, class, panel, chunk, block)
}

// Run computes the offers of panels that have memory.
func (r *Round) Run(ctx context.Context, panels []PanelOf, share func(float64)) error {
	err := crew.Each(ctx, r.workers, len(panels), func(_, i int) error {
		panel := panels[i]
		for _, offers := range r.Offers[panel.Matrix.Sum][panel.Panel] {
			fill(offers, r.layer.Blocked())
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
	for i := range min(r.workers, len(r.leaves)) {
		r.announce(i)
	}
	return crew.Each(ctx, r.workers, len(r.leaves), func(worker, i int) error {
		share(float64(i) / float64(len(r.leaves)))
		r.announce(i + r.workers)
		for _, code := range r.leaves[i] {
			if err := r.captureTo(code, lower[worker]); err != nil {
				return err
			}
		}
		return nil
	})
}

// announce announces the pieces of lower layers that a part of the leaves needs, if there is one: reading them from a
// disk takes longer than decoding them.
func (r *Round) announce(leaf int) {
	if !r.codes || leaf >= len(r.leaves) {
		return
	}
	type run struct{ first, last uint64 } // of pieces that follow each other
	var runs [awari.MaxSeeds]*run
	for _, code := range r.leaves[leaf] {
		for left := r.seedsTo(code); left != 0; left &= left - 1 {
			n := r.layer.N - bits.TrailingZeros32(left)
			_, first, last := r.pieces.rowPieces(n, code)
			switch known := runs[n]; {
			case known == nil:
				runs[n] = &run{first, last}
			case first <= known.last+1:
				known.last = max(known.last, last)
			default:
				r.pieces.ahead(n, known.first, known.last)
				*known = run{first, last}
			}
		}
	}
	for n, known := range runs {
		if known != nil {
			r.pieces.ahead(n, known.first, known.last)
		}
	}
}

// seedsTo returns how many seeds the moves of the round capture that leave a half: bit k is for k.
func (r *Round) seedsTo(code uint32) (seeds uint32) {
	from := r.layer.Origins[r.layer.Pits[code].Sum()]
	row := r.layer.Place(code).Row
	for _, s := range from.Steps[from.First[row]:from.First[row+1]] {
		if l := from.Link(s); r.Offers[l.matrix.Sum][s.Column()/Side][OpenRows] != nil {
			seeds |= l.pattern.seeds
		}
	}
	return seeds
}

// captureTo applies the captures of all moves that leave a half.
func (r *Round) captureTo(code uint32, lower *rows) error {
	from := r.layer.Origins[r.layer.Pits[code].Sum()]
	row := r.layer.Place(code).Row
	lower.leave()
	for _, s := range from.Steps[from.First[row]:from.First[row+1]] {
		l := from.Link(s)
		offers := &r.Offers[l.matrix.Sum][s.Column()/Side]
		if offers[OpenRows] == nil {
			continue
		}
		if err := r.captureStep(l, s.Column(), offers, code, lower); err != nil {
			return err
		}
	}
	return nil
}

// captureStep applies the captures of a column, of a panel with the given offers, by a move
// that leaves the half code.
func (r *Round) captureStep(l *Link, column uint32, offers *[Classes][]int8, code uint32, lower *rows) error {
	for class := range Classes {
		captures := l.pattern.captures[class]
		for k := range captures { // not under the lock
			if _, err := lower.row(r.layer.N-captures[k].seeds, code); err != nil {
				return err
			}
		}
	}
	lock := &r.locks[(l.matrix.First+column)%uint32(len(r.locks))]
	lock.Lock()
	defer lock.Unlock()
	for class := range Classes {
		captures := l.pattern.captures[class]
		if len(captures) == 0 {
			continue
		}
		scores := l.matrix.column(offers[class], class, int(column%Side))
		for k := range captures {
			captures[k].apply(scores, lower.known[r.layer.N-captures[k].seeds])
		}
	}
	return nil
}
