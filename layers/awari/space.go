package awari

import (
	"fmt"

	"grenier/kernels/colex"
	"grenier/layers"
)

// Space is a game with a numbering of its boards: layer n holds the boards with
// n seeds, in the colexicographic order of package colex. It is immutable and
// safe for concurrent use.
type Space struct {
	Game
	ranking *colex.Ranking
}

var _ layers.Space[Board] = (*Space)(nil)

// NewSpace returns the space of the boards with at most seeds seeds. It fails
// with ErrSeeds when that is not in 0..MaxSeeds.
func NewSpace(game Game, seeds int) (*Space, error) {
	if seeds < 0 || seeds > MaxSeeds {
		return nil, fmt.Errorf("%w %d: must be 0 to %d", ErrSeeds, seeds, MaxSeeds)
	}
	ranking, err := colex.New(game.pits, seeds)
	if err != nil {
		return nil, err
	}
	return &Space{Game: game, ranking: ranking}, nil
}

// Layers returns the number of layers, one more than the largest number of
// seeds.
func (s *Space) Layers() int { return s.ranking.MaxSeeds() + 1 }

// Size returns the number of boards with n seeds.
func (s *Space) Size(n int) uint64 { return s.ranking.Size(n) }

// Rank returns the number of seeds of b and its rank among the boards with as
// many.
func (s *Space) Rank(b Board) (n int, rank uint64) {
	return b.Seeds(), s.ranking.Rank(b[:s.pits])
}

// Unrank returns the board with n seeds that has the given rank. It panics when
// there is none.
func (s *Space) Unrank(n int, rank uint64) Board {
	var b Board
	if err := s.ranking.Unrank(n, rank, b[:s.pits]); err != nil {
		panic(fmt.Sprintf("awari: %v", err))
	}
	return b
}
