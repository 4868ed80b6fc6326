package pijersi

import (
	"errors"
	"fmt"
	"sync"
)

const (
	// Count is the number of legal line-ups: of the 14!/(4! 4! 4! 2!) =
	// 3,153,150 shuffles, 415,800 have a wise on top of another cube.
	Count = 2_737_350
	// SetupCount is the number of legal set-ups.
	SetupCount = Count * Count
)

// ErrRank reports a rank that nothing legal has.
var ErrRank = errors.New("no such rank")

// rest has the cubes of a player that are left while they are placed from the last one, cube 13,
// down to cube 0: the order in which codes compare.
type rest struct {
	left [4]uint8 // of each kind
	wise bool     // the cube just placed is the one on top, and a wise
}

// newRest returns the rest before anything is placed.
func newRest() (r rest) {
	for kind, n := range legalCounts {
		r.left[kind] = uint8(n)
	}
	return r
}

// place returns the cubes that are left after one of a kind; ok is false if that cannot be legal.
func (r rest) place(kind Cube) (after rest, ok bool) {
	i := r.left[0] + r.left[1] + r.left[2] + r.left[3] - 1 // the number of the cube
	if r.left[kind] == 0 || i == Bottom && r.wise && kind != Wise {
		return r, false
	}
	r.left[kind]--
	r.wise = i == Top && kind == Wise
	return r, true
}

// waysTable has the number of legal ways to place a rest, by the cubes left of each kind, and whether
// a wise is on top.
type waysTable [5][5][5][3][2]uint32

// ways returns the place in the table.
func (t *waysTable) ways(r rest) *uint32 {
	wise := 0
	if r.wise {
		wise = 1
	}
	return &t[r.left[0]][r.left[1]][r.left[2]][r.left[3]][wise]
}

// legalWays fills the table: each rest from those with a cube less.
var legalWays = sync.OnceValue(func() *waysTable {
	var t waysTable
	for n := range 5 * 5 * 5 * 3 {
		left := [4]uint8{uint8(n / 75), uint8(n / 15 % 5), uint8(n / 3 % 5), uint8(n % 3)}
		for _, wise := range []bool{false, true} {
			r := rest{left, wise}
			if n == 0 {
				*t.ways(r) = 1
				continue
			}
			for kind := Rock; kind <= Wise; kind++ {
				if after, ok := r.place(kind); ok {
					*t.ways(r) += *t.ways(after)
				}
			}
		}
	}
	return &t
})

// Rank returns the number of l among the legal line-ups in the order of their
// codes, 0 to Count-1. It fails with ErrIllegal when l is not legal.
func (l Lineup) Rank() (rank uint32, err error) {
	if !l.Legal() {
		return 0, l.Check(White)
	}
	t, r := legalWays(), newRest()
	for i := Cubes - 1; i >= 0; i-- {
		for kind := range l.Cube(i) {
			if after, ok := r.place(kind); ok {
				rank += *t.ways(after)
			}
		}
		r, _ = r.place(l.Cube(i))
	}
	return rank, nil
}

// unrank returns the legal line-up with the given rank, which is below Count.
func unrank(rank uint32) (l Lineup) {
	t, r := legalWays(), newRest()
	for range Cubes {
		for kind := Rock; kind <= Wise; kind++ {
			after, ok := r.place(kind)
			if !ok {
				continue
			}
			if n := *t.ways(after); rank >= n {
				rank -= n
				continue
			}
			l, r = l<<2|Lineup(kind), after
			break
		}
	}
	return l
}

// Rank returns the number of s among the legal set-ups: in a mirror form the rank
// of its line-up; in total form Count times the rank of white's and the rank of
// black's, 0 to SetupCount-1. It fails with ErrIllegal when s is not legal.
func (s Setup) Rank() (uint64, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	white, err := s.White.Rank()
	if err != nil || s.Form != Total {
		return uint64(white), err
	}
	black, err := s.Black.Rank()
	return uint64(white)*Count + uint64(black), err
}

// UnrankSetup returns the legal set-up with the given rank, in mirror form or in total form. It
// fails with ErrRank when there is none.
func UnrankSetup(rank uint64, form Form) (Setup, error) {
	white, black, count := rank, rank, uint64(Count)
	if form == Total {
		white, black, count = rank/Count, rank%Count, SetupCount
	}
	if rank >= count {
		return Setup{}, fmt.Errorf("%w %d: must be 0 to %d", ErrRank, rank, count-1)
	}
	return Setup{unrank(uint32(white)), unrank(uint32(black)), form}, nil
}
