package halfboard

import (
	"slices"
	"sync"

	"grenier/kernels/compress"
	"grenier/layers/awari/halves"
)

// A pattern is what a move does to the opponent's half B: the same for every A
// that makes the move, and for every layer. Rows are the B of one class and one
// number of seeds.
type pattern struct {
	images   [classes][][]image // by slab of B
	captures [classes][]capture
	quiet    [classes][]uint64 // a bit for each row: the move is quiet
}

// An image says where the children of the rows of one slab stand: in one slab of
// columns, picked by a mask. A slab whose children are spread has several, in
// the order of its rows; one from where every move captures has none.
type image struct {
	slab int
	mask *compress.Mask
}

// A capture lists the rows whose move captures the same number of seeds.
type capture struct {
	seeds int
	pairs []pair
}

// pair is a row, counted through all slabs, and the rank of the half that the
// capture leaves of it among those with as many seeds.
type pair struct{ row, child uint32 }

// patterns computes patterns on demand and keeps them. It is safe for concurrent
// use.
type patterns struct {
	mu    sync.RWMutex
	built map[patternKey]*pattern
}

// patternKey is a move and the seeds of the half B that it sows into.
type patternKey struct {
	sum  int
	move halves.Move
}

// get returns the pattern of move on halves with sum seeds. All geometries that
// it is called with must cut sums alike.
func (p *patterns) get(g *geometry, sum int, move halves.Move) *pattern {
	key := patternKey{sum, move}
	p.mu.RLock()
	built := p.built[key]
	p.mu.RUnlock()
	if built != nil {
		return built
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.built == nil {
		p.built = map[patternKey]*pattern{}
	}
	if p.built[key] == nil {
		p.built[key] = g.newPattern(sum, move)
	}
	return p.built[key]
}

// newPattern plays move on every half with sum seeds.
func (g *geometry) newPattern(sum int, move halves.Move) *pattern {
	p := &pattern{}
	for class := range classes {
		p.quiet[class] = make([]uint64, (len(g.rows[sum][class])+63)/64)
		p.images[class] = make([][]image, len(g.slabs[sum]))
		bySeeds := map[int]*capture{}
		for i := range g.slabs[sum] {
			s := &g.slabs[sum][i]
			p.images[class][i] = g.images(g.rowCodes(sum, s, class), move)
		}
		for row, code := range g.rows[sum][class] {
			g.addRow(p.quiet[class], bySeeds, uint32(row), code, move)
		}
		p.captures[class] = sortCaptures(bySeeds)
	}
	return p
}

// sown returns the half with the given code after move.
func (g *geometry) sown(code uint32, move halves.Move) half {
	h := g.pits[code]
	for pit := range h[:g.q] {
		h[pit] += move.Gain(pit)
	}
	return h
}

// addRow notes whether the move is quiet in a row, or what it captures.
func (g *geometry) addRow(quiet []uint64, bySeeds map[int]*capture, row, code uint32, move halves.Move) {
	left := g.sown(code, move)
	first, seeds := halves.Chain(left[:g.q], int(move.Last))
	if seeds == 0 {
		quiet[row/64] |= 1 << (row % 64)
		return
	}
	if seeds == left.sum() {
		return // a grand slam is no ordinary move
	}
	clear(left[first : move.Last+1])
	c := bySeeds[seeds]
	if c == nil {
		c = &capture{seeds: seeds}
		bySeeds[seeds] = c
	}
	c.pairs = append(c.pairs, pair{row, uint32(g.halves.Half().Rank(left[:g.q]))})
}

func sortCaptures(bySeeds map[int]*capture) []capture {
	captures := make([]capture, 0, len(bySeeds))
	for _, c := range bySeeds {
		c.pairs = slices.Clip(c.pairs)
		captures = append(captures, *c)
	}
	slices.SortFunc(captures, func(a, b capture) int { return a.seeds - b.seeds })
	return captures
}

// images returns where the children of rows, those of a slab, stand.
func (g *geometry) images(rows []uint32, move halves.Move) []image {
	var images []image
	anyQuiet := false
	for len(rows) > 0 {
		i, used, quiet := g.image(rows, move)
		images = append(images, i)
		anyQuiet = anyQuiet || quiet
		rows = rows[used:]
	}
	if !anyQuiet {
		return nil
	}
	return images
}

// image returns where the children of the first rows stand, how many these are,
// and whether any of them is quiet.
func (g *geometry) image(rows []uint32, move halves.Move) (i image, used int, anyQuiet bool) {
	var reach, quiet []uint64
	for _, code := range rows {
		child := g.sown(code, move)
		at := &g.places[g.code(&child)]
		if used == 0 {
			words := (g.slabs[child.sum()][at.slab].size + 63) / 64
			reach, quiet = make([]uint64, words), make([]uint64, words)
			i.slab = int(at.slab)
		} else if int(at.slab) != i.slab {
			break
		}
		reach[at.col/64] |= 1 << (at.col % 64)
		if move.Last < 0 || !halves.Capturable(child[move.Last]) {
			quiet[at.col/64] |= 1 << (at.col % 64)
			anyQuiet = true
		}
		used++
	}
	i.mask = compress.NewMask(reach, quiet)
	return i, used, anyQuiet
}
