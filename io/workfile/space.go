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

// take returns where n bytes are free, and marks them as taken: in the shortest
// gap that has room, the first one of several; else at the end.
func (s *space) take(n int64) int64 {
	if gap, ok := s.byLength.atLeast(span{0, n}); ok {
		s.remove(gap)
		if gap.length > n {
			s.add(span{gap.offset + n, gap.length - n})
		}
		return gap.offset
	}
	s.trim()
	s.end += n
	return s.end - n
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
