package find

import (
	"errors"
	"math"

	"grenier/io/layerfile"
	"grenier/layers/awari/packed"
	bestline "grenier/pipeline/play/line"
)

// Positions are read in pieces, and looked at in batches if all layers are in
// memory: their children stay in the cache of the processor.
const (
	pieceSize = layerfile.MaxBlockSize
	batchSize = 1024
)

// candidate is a position whose children are asked for.
type candidate struct {
	packed.Board
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
	judge *judge
	part  *part
	row   *packed.Row // of the position at hand

	queue    []candidate
	children []packed.Child // of the queue
	values   []int8         // of the moves to them
	sorter   sorter         // of the children in files
	scores   []int8         // memory for a piece that is looked at
	block    []int8         // and for one that has children
}

// resize makes room for some children and drops the queue.
func (s *scanner) resize(children int) {
	s.queue, s.children, s.values, s.sorter = nil, nil, nil, sorter{}
	s.queue = make([]candidate, 0, max(1, children/childrenEach))
	s.children = make([]packed.Child, 0, children)
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
		scores := s.scores[:to-from]
		if held := s.held[s.seeds]; held != nil {
			scores = held[from:to]
		} else if err := s.tables.Read(s.judge.ctx, s.seeds, from, scores); err != nil {
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

// piece looks at the positions with these scores from a rank on.
func (s *scanner) piece(from uint64, scores []int8) error {
	b := s.rules.Pack(s.space.Unrank(s.seeds, from))
	known := false // the row of b is set
	for i, score := range scores {
		if s.keep[uint8(score)] && (len(s.judge.early) == 0 || s.judge.board(b)) {
			if !known {
				s.row.Set(b)
				known = true
			}
			if err := s.add(candidate{Board: b, rank: from + uint64(i), score: score}); err != nil {
				return err
			}
		}
		if b.Own>>8 != 0 {
			b.Own = b.Own.Next()
		} else if i+1 < len(scores) {
			b, known = b.NextRow(s.space.Half()), false
		}
	}
	return nil
}

// add puts a position into the queue.
func (s *scanner) add(c candidate) error {
	if s.blind {
		return s.settle(&c, &position{Board: c.Board, score: c.score})
	}
	if len(s.queue) == cap(s.queue) || len(s.children)+packed.MaxHalf > cap(s.children) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	n := len(s.children)
	n += s.row.Children((*[packed.MaxHalf]packed.Child)(s.children[n:n+packed.MaxHalf]), c.Board)
	s.children = s.children[:n]
	c.end = uint32(n)
	s.queue = append(s.queue, c)
	return nil
}

// flush settles what is in the queue.
func (s *scanner) flush() error {
	if err := s.lookUp(); err != nil {
		return err
	}
	begin := uint32(0)
	for i := range s.queue {
		c := &s.queue[i]
		p := position{Board: c.Board, score: c.score, values: allIllegal}
		for k := begin; k < c.end; k++ {
			x := s.children[k]
			p.values[x.Pit()], p.captured[x.Pit()] = s.values[k], uint8(x.Captured())
		}
		begin = c.end
		if err := s.settle(c, &p); err != nil {
			return err
		}
	}
	s.queue, s.children = s.queue[:0], s.children[:0]
	return nil
}

var allIllegal = [packed.MaxHalf]int8{illegal, illegal, illegal, illegal, illegal, illegal}

// lookUp finds out the values of the moves to all children.
func (s *scanner) lookUp() error {
	missing := 0
	for i, c := range s.children {
		held := s.held[s.seeds-c.Captured()]
		if held == nil {
			missing++
			continue
		}
		s.values[i] = int8(c.Captured()) - held[c.Rank()]
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
