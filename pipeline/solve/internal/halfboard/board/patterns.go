package board

import (
	"slices"
	"sync"

	"grenier/kernels/compress"
	"grenier/layers/awari"
	"grenier/layers/awari/halves"
)

// A pattern says what a move does to the opponent's half B: the same for every A
// that makes the move, and for every layer. Rows are the B of one class and one
// number of seeds. Whether a move is quiet depends on B and on what it sows there, not on A', under
// all rule sets: a capture stops at the end of B, and takes all seeds of the opponent if
// it empties B.
type pattern struct {
	rules    awari.Rules
	Words    [Classes][]compress.Word // of all chunks, in order: where the quiet children stand
	First    [Classes][]uint32        // chunk i has words[first[i]:first[i+1]]
	byPanel  []uint32                 // panel p has the words byPanel[p] to byPanel[p+1] of open rows
	captures [Classes][]capture
	seeds    uint32            // that captures take: bit k is for k
	quiet    [Classes][]uint64 // a bit for each row: the move is quiet
}

// A capture lists the rows whose move captures the same number of seeds.
type capture struct {
	seeds int
	pairs []pair
}

// pair is a row, and the rank of the half that the capture leaves of it among those with as
// many seeds.
type pair struct{ row, child uint32 }

// Patterns computes patterns of a rule set on demand and keeps them. It is safe for concurrent
// use.
type Patterns struct {
	rules awari.Rules
	mu    sync.Mutex
	built map[patternKey]func() *pattern
}

// NewPatterns returns the patterns of a rule set, none built yet.
func NewPatterns(rules awari.Rules) *Patterns {
	return &Patterns{rules: rules, built: map[patternKey]func() *pattern{}}
}

// patternKey is a move and the seeds of the half B that it sows into.
type patternKey struct {
	sum  int
	move halves.Move
}

// get returns the pattern of move on halves with sum seeds.
func (p *Patterns) get(g *Geometry, sum int, move halves.Move) *pattern {
	key := patternKey{sum, move}
	p.mu.Lock()
	build := p.built[key]
	if build == nil {
		build = sync.OnceValue(func() *pattern { return g.newPattern(p.rules, sum, move) })
		p.built[key] = build
	}
	p.mu.Unlock()
	return build()
}

// newPattern plays move on every half with sum seeds.
func (g *Geometry) newPattern(rules awari.Rules, sum int, move halves.Move) *pattern {
	p := &pattern{rules: rules}
	var gains Half
	for pit := range gains[:g.Q] {
		gains[pit] = move.Gain(pit)
	}
	for class := range Classes {
		p.quiet[class] = make([]uint64, g.chunks(sum, class))
		bySeeds := make([]capture, awari.MaxSeeds+1)
		for row, code := range g.Rows[sum][class] {
			if row%Side == 0 {
				p.First[class] = append(p.First[class], uint32(len(p.Words[class])))
			}
			g.addRow(p, class, bySeeds, uint32(row), g.Pits[code].plus(gains), move)
		}
		p.First[class] = append(p.First[class], uint32(len(p.Words[class])))
		p.Words[class] = slices.Clip(p.Words[class])
		p.captures[class] = exact(slices.DeleteFunc(bySeeds, func(c capture) bool { return c.pairs == nil }))
	}
	p.byPanel = indexPanels(p.Words[OpenRows], g.panels(sum+move.Seeds(g.Q)))
	return p
}

// indexPanels returns the index of the first word of each panel, and after it, in
// words, which are in the order of panels.
func indexPanels(words []compress.Word, panels int) []uint32 {
	index := make([]uint32, panels+1)
	for _, w := range words {
		index[w.Panel+1]++
	}
	for i := range panels {
		index[i+1] += index[i]
	}
	return index
}

// addRow records where the move leads in a row, or what it captures: it has sown and left the given half.
func (g *Geometry) addRow(p *pattern, class RowClass, bySeeds []capture, row uint32, left Half, move halves.Move) {
	if left == (Half{}) {
		return // no ordinary move: it leaves the opponent without seeds
	}
	first, seeds := halves.Chain(left[:g.Q], int(move.Last), p.rules)
	if seeds == 0 {
		p.quiet[class][row/Side] |= 1 << (row % Side)
		p.Words[class] = addChild(p.Words[class], row, uint32(g.Halves.Half().Rank(left[:g.Q])))
		return
	}
	if seeds == left.Sum() {
		return // nor does it if it takes all of his
	}
	clear(left[first : move.Last+1])
	p.seeds |= 1 << seeds
	c := &bySeeds[seeds]
	c.seeds = seeds
	c.pairs = append(c.pairs, pair{row, uint32(g.Halves.Half().Rank(left[:g.Q]))})
}

// addChild adds that the child of row stands in column.
func addChild(words []compress.Word, row, column uint32) []compress.Word {
	panel, chunk := column/Side, row/Side
	if last := len(words) - 1; last < 0 || words[last].Panel != panel || words[last].Chunk != chunk {
		words = append(words, compress.Word{Panel: panel, Chunk: chunk})
	}
	w := &words[len(words)-1]
	w.Pick |= 1 << (column % Side)
	w.Place |= 1 << (row % Side)
	return words
}
