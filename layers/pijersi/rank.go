package pijersi

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"

	"grenier/kernels/perm"
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

// headLen is the number of cubes that decide about the stack: b7 b6 b5 b4t b4.
const headLen = Cubes - Bottom

// words numbers the legal line-ups, as words that begin with the last cube. The
// stack is in the head of these words.
var words = sync.OnceValue(func() *perm.Words {
	w, err := perm.NewWords(legalCounts, headLen, func(head uint32) bool {
		return !Lineup(head << (2 * Bottom)).badStack()
	})
	if err != nil {
		panic(err) // it has no input
	}
	return w
})

// Rank returns the number of l among the legal line-ups in the order of their
// codes, 0 to Count-1. It fails with ErrIllegal when l is not legal.
func (l Lineup) Rank() (uint32, error) {
	rank, ok := words().Rank(uint32(l))
	if !ok {
		return 0, l.Check(White)
	}
	return rank, nil
}

// Unrank returns the legal line-up with the given rank. It fails with ErrRank when
// there is none.
func Unrank(rank uint32) (Lineup, error) {
	l, ok := words().Unrank(rank)
	if !ok {
		return 0, fmt.Errorf("%w: %d (0 to %d are possible)", ErrRank, rank, Count-1)
	}
	return Lineup(l), nil
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

// UnrankMirror returns the legal set-up in mirror form with the given rank. It
// fails with ErrRank when there is none.
func UnrankMirror(rank uint64) (Setup, error) {
	if rank >= Count {
		return Setup{}, fmt.Errorf("%w: %d (0 to %d are possible)", ErrRank, rank, Count-1)
	}
	l, err := Unrank(uint32(rank))
	return Setup{l, l, Mirror}, err
}

// UnrankTotal returns the legal set-up in total form with the given rank. It fails
// with ErrRank when there is none.
func UnrankTotal(rank uint64) (Setup, error) {
	if rank >= SetupCount {
		return Setup{}, fmt.Errorf("%w: %d (0 to %d are possible)", ErrRank, rank, uint64(SetupCount-1))
	}
	white, err := Unrank(uint32(rank / Count))
	if err != nil {
		return Setup{}, err
	}
	black, err := Unrank(uint32(rank % Count))
	return Setup{white, black, Total}, err
}

// RandomMirror returns a legal set-up in mirror form, each with the same chance.
func RandomMirror(r *rand.Rand) Setup {
	l := random(r)
	return Setup{l, l, Mirror}
}

// RandomTotal returns a legal set-up in total form, each with the same chance.
func RandomTotal(r *rand.Rand) Setup {
	white := random(r)
	return Setup{white, random(r), Total}
}

// random returns a legal line-up. A shuffle that is put in order would not do: of
// the line-ups with a wise below another cube each comes of two shuffles.
func random(r *rand.Rand) Lineup {
	// Lemire, "Fast random integer generation in an interval", 2019. The
	// method of Rand that does the same gives other numbers on 32-bit machines.
	rank, rest := bits.Mul64(r.Uint64(), Count)
	for rest < 1<<64%Count {
		rank, rest = bits.Mul64(r.Uint64(), Count)
	}
	l, _ := words().Unrank(uint32(rank))
	return Lineup(l)
}
