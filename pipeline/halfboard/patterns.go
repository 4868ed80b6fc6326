package halfboard

import (
	"slices"
	"sync"

	"grenier/kernels/colex"
	"grenier/layers/awari/halves"
)

// rowClass selects the rows of a slab: those with an empty pit, or the others.
type rowClass uint8

const (
	openRows rowClass = iota
	fullRows
	classes
)

// A lowMove is what a move does to the low pits of the opponent's half B,
// together with the rows that are asked for. Everything that depends on it
// alone is computed once and shared by all tiles and layers.
type lowMove struct {
	seeds int  // in the low pits after the sowing
	laps  int8 // seeds that each low pit received
	ones  int8 // low pits, from the first on, that received one more
	last  int8 // low pit from which captures run backwards, -1 for none
	rows  lowRows
}

// lowRows selects halves by their low pits.
type lowRows uint8

const (
	lowAny  lowRows = iota // every half
	lowOpen                // those with an empty low pit
	lowFull                // those without
)

// holds reports whether low pits, before the sowing, are asked for.
func (r lowRows) holds(low []uint8) bool {
	return r == lowAny || slices.Contains(low, 0) == (r == lowOpen)
}

// A mask picks from a child row the scores that a quiet move reads.
type mask struct {
	reach []uint64 // children whose parent exists and is asked for
	quiet []uint64 // those of them that no capture led to
	out   []uint64 // the quiet bits by parent instead of by child
	rows  int      // parents, quiet or not
}

// A capture lists the parents whose move captures the same number of seeds out
// of the low pits, and where their children stand.
type capture struct {
	seeds int // captured from the low pits
	pairs []pair
}

// pair is a parent's index among the rows asked for, and the rank of its child
// among the low pits left.
type pair struct{ parent, child uint32 }

// patterns computes masks and captures on demand and keeps them. It is safe for
// concurrent use.
type patterns struct {
	ranking  *colex.Ranking // of the low pits
	mu       sync.RWMutex
	masks    map[lowMove]*mask
	captures map[lowMove][]capture
}

func newPatterns(lowPits, seeds int) (*patterns, error) {
	r, err := colex.New(lowPits, seeds)
	if err != nil {
		return nil, err
	}
	return &patterns{ranking: r, masks: map[lowMove]*mask{}, captures: map[lowMove][]capture{}}, nil
}

// mask returns the mask of m.
func (p *patterns) mask(m lowMove) (*mask, error) {
	return lookUp(&p.mu, p.masks, m, p.buildMask)
}

// capture returns the captures of m, by seeds captured.
func (p *patterns) capture(m lowMove) ([]capture, error) {
	return lookUp(&p.mu, p.captures, m, p.buildCaptures)
}

// lookUp returns built[m], building it at the first request.
func lookUp[T any](mu *sync.RWMutex, built map[lowMove]T, m lowMove, build func(lowMove) (T, error)) (T, error) {
	mu.RLock()
	value, ok := built[m]
	mu.RUnlock()
	if ok {
		return value, nil
	}
	mu.Lock()
	defer mu.Unlock()
	if value, ok := built[m]; ok {
		return value, nil
	}
	value, err := build(m)
	if err == nil {
		built[m] = value
	}
	return value, err
}

// gains returns what each low pit received.
func (p *patterns) gains(m lowMove) []uint8 {
	gains := make([]uint8, p.ranking.Pits())
	for i := range gains {
		gains[i] = halves.Move{Laps: m.laps, Ones: m.ones}.Gain(i)
	}
	return gains
}

// parents lists the children of m that have a parent asked for, in order, with
// their ranks.
func (p *patterns) parents(m lowMove, visit func(rank uint64, child []uint8)) error {
	boards, err := p.ranking.Iterate(m.seeds)
	if err != nil {
		return err
	}
	gains, parent := p.gains(m), make([]uint8, p.ranking.Pits())
	for rank, child := range boards {
		if subtract(parent, child, gains) && m.rows.holds(parent) {
			visit(rank, child)
		}
	}
	return nil
}

// subtract sets dst to a-b, unless an entry would be negative.
func subtract(dst, a, b []uint8) bool {
	for i := range dst {
		if a[i] < b[i] {
			return false
		}
		dst[i] = a[i] - b[i]
	}
	return true
}

func (p *patterns) buildMask(m lowMove) (*mask, error) {
	words := (p.ranking.Size(m.seeds) + 63) / 64
	built := &mask{reach: make([]uint64, words), quiet: make([]uint64, words)}
	err := p.parents(m, func(rank uint64, child []uint8) {
		if built.rows%64 == 0 {
			built.out = append(built.out, 0)
		}
		built.reach[rank/64] |= 1 << (rank % 64)
		if m.last < 0 || !halves.Capturable(child[m.last]) {
			built.quiet[rank/64] |= 1 << (rank % 64)
			built.out[built.rows/64] |= 1 << (built.rows % 64)
		}
		built.rows++
	})
	return built, err
}

func (p *patterns) buildCaptures(m lowMove) ([]capture, error) {
	bySeeds := map[int]*capture{}
	parent := uint32(0)
	left := make([]uint8, p.ranking.Pits())
	err := p.parents(m, func(_ uint64, child []uint8) {
		first, seeds := halves.Chain(child, int(m.last))
		copy(left, child)
		clear(left[first : m.last+1])
		c := bySeeds[seeds]
		if c == nil {
			c = &capture{seeds: seeds}
			bySeeds[seeds] = c
		}
		c.pairs = append(c.pairs, pair{parent, uint32(p.ranking.Rank(left))})
		parent++
	})
	captures := make([]capture, 0, len(bySeeds))
	for _, c := range bySeeds {
		captures = append(captures, *c)
	}
	slices.SortFunc(captures, func(a, b capture) int { return a.seeds - b.seeds })
	return captures, err
}
