package workfile

import "math/rand/v2"

// span is a range of bytes of the file.
type span struct{ offset, length int64 }

func (s span) end() int64 { return s.offset + s.length }

// space knows which bytes of the file are free. No two gaps touch.
type space struct {
	byOffset tree  // the gaps
	byLength tree  // the same gaps, for best fit
	end      int64 // behind which nothing is taken
	free     int64 // bytes in the gaps
}

func newSpace() *space {
	return &space{
		byOffset: tree{less: func(a, b span) bool { return a.offset < b.offset }},
		byLength: tree{less: func(a, b span) bool {
			return a.length < b.length || a.length == b.length && a.offset < b.offset
		}},
	}
}

// mostGaps bounds into how many gaps place divides parts: a gap is worth a write of
// its own if it has room for this share of them. The more gaps, the shorter is the
// file, but the more writes and reads it takes. When parts chosen at random are
// replaced, 100 at once, the file has 2.4 times the bytes in use and they go into
// 10 gaps; without dividing them it would be 5 times.
const mostGaps = 12

// place finds space for extents that have their lengths, and sets their offsets.
func (s *space) place(extents []Extent) {
	total, longest := int64(0), int64(0)
	for _, e := range extents {
		total += int64(e.Length)
		longest = max(longest, int64(e.Length))
	}
	least := max(longest, total/mostGaps)
	for total > 0 {
		room := s.take(total, least)
		total -= room.length
		for len(extents) > 0 && int64(extents[0].Length) <= room.length {
			if e := &extents[0]; e.Length > 0 {
				e.Offset = room.offset
				room = span{e.span().end(), room.length - int64(e.Length)}
			}
			extents = extents[1:]
		}
		if room.length > 0 {
			s.give(room)
			total += room.length
		}
	}
}

// take returns n free bytes, or fewer, but at least as many as least, and marks
// them as taken: in the shortest gap that has room for n, the first one of
// several; else in the longest gap if it has room for least; else at the end.
func (s *space) take(n, least int64) span {
	gap, ok := s.byLength.atLeast(span{0, n})
	if !ok {
		gap, ok = s.byLength.below(span{0, n})
		ok = ok && gap.length >= least
	}
	if !ok {
		s.trim()
		s.end += n
		return span{s.end - n, n}
	}
	s.remove(gap)
	if gap.length > n {
		s.add(span{gap.offset + n, gap.length - n})
		gap.length = n
	}
	return gap
}

// trim forgets the gap at the end, if there is one.
func (s *space) trim() {
	if gap, ok := s.byOffset.below(span{offset: s.end}); ok && gap.end() == s.end {
		s.remove(gap)
		s.end = gap.offset
	}
}

// give marks bytes as free, which must be taken.
func (s *space) give(g span) {
	if before, ok := s.byOffset.below(g); ok && before.end() == g.offset {
		s.remove(before)
		g = span{before.offset, before.length + g.length}
	}
	if after, ok := s.byOffset.atLeast(span{offset: g.end()}); ok && after.offset == g.end() {
		s.remove(after)
		g.length += after.length
	}
	s.add(g)
}

// taken tells whether all bytes of g are taken.
func (s *space) taken(g span) bool {
	before, ok := s.byOffset.below(span{offset: g.end()})
	return g.offset >= 0 && g.end() <= s.end && (!ok || before.end() <= g.offset)
}

func (s *space) add(g span) {
	s.byOffset.insert(g)
	s.byLength.insert(g)
	s.free += g.length
}

func (s *space) remove(g span) {
	s.byOffset.remove(g)
	s.byLength.remove(g)
	s.free -= g.length
}

// tree is a sorted set of spans: a treap, whose shape depends on random
// priorities and is balanced well enough.
type tree struct {
	root *node
	less func(a, b span) bool
}

type node struct {
	span
	priority    uint32
	left, right *node
}

// atLeast returns the first span that is not less than key.
func (t *tree) atLeast(key span) (found span, ok bool) {
	for n := t.root; n != nil; {
		if t.less(n.span, key) {
			n = n.right
		} else {
			found, ok = n.span, true
			n = n.left
		}
	}
	return found, ok
}

// below returns the last span that is less than key.
func (t *tree) below(key span) (found span, ok bool) {
	for n := t.root; n != nil; {
		if t.less(n.span, key) {
			found, ok = n.span, true
			n = n.right
		} else {
			n = n.left
		}
	}
	return found, ok
}

// insert adds a span that is not in the tree.
func (t *tree) insert(s span) {
	added := &node{span: s, priority: rand.Uint32()}
	at := &t.root
	for *at != nil && (*at).priority >= added.priority {
		if t.less(s, (*at).span) {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	added.left, added.right = t.split(*at, s)
	*at = added
}

// split returns the spans below n that are less than key, and the others.
func (t *tree) split(n *node, key span) (less, others *node) {
	if n == nil {
		return nil, nil
	}
	if t.less(n.span, key) {
		n.right, others = t.split(n.right, key)
		return n, others
	}
	less, n.left = t.split(n.left, key)
	return less, n
}

// remove removes a span that is in the tree.
func (t *tree) remove(s span) {
	at := &t.root
	for (*at).span != s {
		if t.less(s, (*at).span) {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	*at = merge((*at).left, (*at).right)
}

// merge joins two trees; every span of a is less than every one of b.
func merge(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority >= b.priority:
		a.right = merge(a.right, b)
		return a
	default:
		b.left = merge(a, b.left)
		return b
	}
}
