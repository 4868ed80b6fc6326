package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grenier/kernels/fault"
)

// MaxParts bounds the parts of a run.
const MaxParts = 10_000

// Part is the share of a run that one of several processes does, perhaps on different machines, in any order: part
// Index, from 1 on, of Of equal shares of what the run goes through. The zero Part is the whole run.
type Part struct {
	Index, Of int
	// All says that the parts were done before: what they have found is added up. Of is 0 if nobody said how many there are.
	All bool
}

// ParsePart reads i/n, all, or all/n, and reports whether there can be such a part.
func ParsePart(text string) (p Part, ok bool) {
	index, of, _ := strings.Cut(text, "/")
	p.All = index == "all"
	p.Index, _ = strconv.Atoi(index)
	p.Of, _ = strconv.Atoi(of)
	return p, text == p.String() && p.Of <= MaxParts && (p.All || p.Index >= 1 && p.Index <= p.Of)
}

// String returns what ParsePart reads, "" for the whole run.
func (p Part) String() string {
	switch {
	case p.All && p.Of > 0:
		return fmt.Sprintf("all/%d", p.Of)
	case p.All:
		return "all"
	case p.Of > 0:
		return fmt.Sprintf("%d/%d", p.Index, p.Of)
	}
	return ""
}

// One reports whether it is one of several parts.
func (p Part) One() bool { return p.Index > 0 }

// Share returns the part of 0..total-1: from to to-1. All are none, since they are done.
func (p Part) Share(total uint64) (from, to uint64) {
	switch {
	case p.All:
		return 0, 0
	case p.One():
		i, n := uint64(p.Index-1), uint64(p.Of)
		return i * total / n, (i + 1) * total / n
	}
	return 0, total
}

// Takes reports whether it is the part that does what cannot be divided of item i.
func (p Part) Takes(i int) bool { return !p.All && (p.Of == 0 || i%p.Of == p.Index-1) }

// List returns numbers in order as text, runs of them in short: 3, 5..9, 12.
func List(numbers []int) string {
	var runs []string
	for all := slices.Compact(slices.Sorted(slices.Values(numbers))); len(all) > 0; {
		n := 1
		for n < len(all) && all[n] == all[0]+n {
			n++
		}
		text := strconv.Itoa(all[0])
		if n > 1 {
			text += ".." + strconv.Itoa(all[n-1])
		}
		runs, all = append(runs, text), all[n:]
	}
	return strings.Join(runs, ", ")
}

// ErrMissing says that parts are missing, so that what they add up to is not known yet.
var ErrMissing = fault.New(fault.Missing, "not complete")

// Missing returns an error that matches ErrMissing and names the parts, of so many, that layers lack; nil if they lack none.
func Missing(of int, layers map[int][]int) error {
	var seeds, parts []int
	for n, missing := range layers {
		if len(missing) > 0 {
			seeds, parts = append(seeds, n), append(parts, missing...)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("%w: missing parts %s of %d, layers %s", ErrMissing, List(parts), of, List(seeds))
}
