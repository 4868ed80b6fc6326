package find

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grenier/pipeline/internal/chance"
)

// Order says which of the positions that meet the condition are wanted.
type Order struct {
	random bool
	most   fact // facts: none
}

// The orders. Most gives another.
var (
	First  = Order{most: facts}               // by layer and rank
	Random = Order{random: true, most: facts} // a choice that depends on the seed
)

// Most is the order of those for which the fact of that name is largest; the first of equal
// ones. It fails with ErrCondition.
func Most(name string) (Order, error) {
	f, err := parseFact(name)
	if err != nil {
		return Order{}, fmt.Errorf("%w: %w", ErrCondition, err)
	}
	return Order{most: f}, nil
}

// String returns "first", "random" or "most NAME".
func (o Order) String() string {
	switch {
	case o.random:
		return "random"
	case o.most == facts:
		return "first"
	}
	return "most " + names[o.most]
}

// first reports whether positions are wanted as they come.
func (o Order) first() bool { return !o.random && o.most == facts }

// found is a position that meets the condition.
type found struct {
	Key   int64  `json:"key"` // the smallest are wanted
	Seeds int    `json:"seeds"`
	Rank  uint64 `json:"rank"`
}

func compare(a, b found) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seeds, b.Seeds), cmp.Compare(a.Rank, b.Rank))
}

// list keeps the wanted ones of the positions found, at most limit.
type list struct {
	limit int
	all   []found // may be more for a while
	last  found   // of those after prune, if that many were there
	tight bool    // last is known: positions behind it are not wanted
}

func (l *list) add(f found) {
	if l.tight && compare(f, l.last) > 0 {
		return
	}
	l.all = append(l.all, f)
	if len(l.all) >= 2*l.limit+slack {
		l.prune()
	}
}

// slack is how many more than twice the wanted a list may have.
const slack = 256

// prune drops positions that are not wanted, and sorts the rest.
func (l *list) prune() {
	slices.SortFunc(l.all, compare)
	l.all = l.all[:min(len(l.all), l.limit)]
	if l.tight = l.limit > 0 && len(l.all) == l.limit; l.tight {
		l.last = l.all[l.limit-1]
	}
}

// full reports whether more positions cannot change the list, if they come in order.
func (l *list) full() bool { return len(l.all) >= l.limit }

// key returns the key of a hit.
func (s *scanner) key(n int, rank uint64, p *position) (int64, error) {
	o := &s.options.Order
	switch {
	case o.random:
		return int64(chance.Mix(s.options.Seed^chance.Mix(uint64(n)<<48|rank)) >> 1), nil
	case o.most == facts:
		return 0, nil
	}
	x, err := s.judge.fact(o.most, p)
	if x == none {
		return math.MaxInt64, err
	}
	return -int64(x), err
}
