package find

import (
	"errors"
	"math"

	"grenier/io/layerfile"
	bestline "grenier/pipeline/play/line"
)

// Positions are read in pieces of so many, and looked at so many at a time if all layers are in
// memory: their children stay in the cache of the processor.
const (
	pieceSize = layerfile.MaxBlockSize
	batchSize = 1024
)

// candidate is a position whose children are asked for.
type candidate struct {
	place
	rank  uint64
	end   uint32 // of its children
	score int8
}

// part is a part of a layer, and what was found in it.
type part struct {
	from, to  uint64
	list      list
	hits      uint64
	undecided uint64
	// Hits whose place in the order was too hard to find.
	unmeasured uint64
}

// scanner looks at parts of a layer, for one goroutine.
type scanner struct {
	*search
	judge   *judge
	part    *part
	effects effects

	queue    []candidate
	children []child // of the queue
	values   []int8  // of the moves to them
	sorter   sorter  // of the children in files
	scores   []int8  // memory for a piece that is looked at
	block    []int8  // and for one that has children
}

// resize makes room for so many children; it drops what was there.
func (s *scanner) resize(children int) {
	s.queue, s.children, s.values, s.sorter = nil, nil, nil, sorter{}
	s.queue = make([]candidate, 0, max(1, children/childrenEach))
	s.children = make([]child, 0, children)
	s.values = make([]int8, children)
	if s.scores == nil {
		s.scores = make([]int8, pieceSize)
	}
}

// childrenEach is how many children a position has, about.
const childrenEach = 4

// scan looks at a part of the layer.
func (s *scanner) scan(p *part) error {
	s.part = p
	p.hits, p.undecided, p.unmeasured, p.list = 0, 0, 0, list{limit: s.options.Count, all: p.list.all[:0]}
	for from := p.from; from < p.to && !s.enough(); from += pieceSize {
		to := min(from+pieceSize, p.to)
		scores, err := s.stored(from, to)
		if err != nil {
			return err
		}
		if err := s.piece(from, scores); err != nil {
			return err
		}
	}
	return s.flush()
}

// enough reports whether the rest of the part cannot matter.
func (s *scanner) enough() bool {
	return s.ends && s.part.list.full()
}

// stored returns the scores of the ranks from to to-1.
func (s *scanner) stored(from, to uint64) ([]int8, error) {
	if held := s.held[s.seeds]; held != nil {
		return held[from:to], nil
	}
	scores := s.scores[:to-from]
	return scores, s.tables.Read(s.seeds, from, scores)
}

// piece looks at the positions with these scores from a rank on.
func (s *scanner) piece(from uint64, scores []int8) error {
	p := s.rules.place(s.space.Unrank(s.seeds, from))
	known := false // the effects of moves in this row
	for i, score := range scores {
		if s.keep[uint8(score)] && (len(s.judge.early) == 0 || s.judge.board(&p)) {
			if !known {
				s.rules.fill(&s.effects, p.row)
				known = true
			}
			if err := s.add(candidate{place: p, rank: from + uint64(i), score: score}); err != nil {
				return err
			}
		}
		if p.step(s.rules.q) {
			known = false
		}
	}
	return nil
}

// add puts a position into the queue.
func (s *scanner) add(c candidate) error {
	if s.blind {
		return s.settle(&c, &position{place: c.place, score: c.score})
	}
	if len(s.queue) == cap(s.queue) || len(s.children)+maxHalf > cap(s.children) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	n := len(s.children)
	dst := (*[maxHalf]child)(s.children[n : n+maxHalf])
	k := s.rules.children(dst, &s.effects, c.own)
	if k == 0 {
		k = s.starving(dst, c.place)
	}
	s.children = s.children[:n+k]
	c.end = uint32(n + k)
	s.queue = append(s.queue, c)
	return nil
}

// starving is children for a position whose moves all leave the opponent without seeds: what
// they do is a matter of the rule set.
func (s *scanner) starving(dst *[maxHalf]child, p place) int {
	k := 0
	for pit, play := range s.space.Plays(s.rules.board(p)) {
		if play.Legal {
			_, rank := s.space.Rank(play.Child)
			dst[k] = newChild(rank, play.Captured, pit)
			k++
		}
	}
	return k
}

// flush settles what is in the queue.
func (s *scanner) flush() error {
	if err := s.lookUp(); err != nil {
		return err
	}
	begin := uint32(0)
	for i := range s.queue {
		c := &s.queue[i]
		p := position{place: c.place, score: c.score, values: allIllegal}
		for k := begin; k < c.end; k++ {
			x := s.children[k]
			p.values[x.pit()], p.captured[x.pit()] = s.values[k], uint8(x.captured())
		}
		begin = c.end
		if err := s.settle(c, &p); err != nil {
			return err
		}
	}
	s.queue, s.children = s.queue[:0], s.children[:0]
	return nil
}

var allIllegal = [maxHalf]int8{illegal, illegal, illegal, illegal, illegal, illegal}

// lookUp finds out the values of the moves to all children.
func (s *scanner) lookUp() error {
	missing := 0
	for i, c := range s.children {
		held := s.held[s.seeds-c.captured()]
		if held == nil {
			missing++
			continue
		}
		s.values[i] = int8(c.captured()) - held[c.rank()]
	}
	if missing == 0 {
		return nil
	}
	return s.gather()
}

// settle takes note of a position if it is wanted.
func (s *scanner) settle(c *candidate, p *position) error {
	if s.over.Load() {
		return errEnough
	}
	if s.enough() {
		return nil
	}
	ok, err := s.judge.moves(p)
	if isLimit(err) {
		s.part.undecided++
		return nil
	}
	if err != nil || !ok {
		return err
	}
	s.part.hits++
	if s.options.Count == 0 {
		return nil
	}
	key, err := s.key(s.seeds, c.rank, p)
	if isLimit(err) {
		s.part.unmeasured++
		key, err = math.MaxInt64, nil
	}
	if err != nil {
		return err
	}
	s.part.list.add(found{Key: key, Seeds: s.seeds, Rank: c.rank})
	return nil
}

// isLimit reports whether a best line was too hard to find.
func isLimit(err error) bool {
	_, ok := errors.AsType[*bestline.LimitError](err)
	return ok
}
