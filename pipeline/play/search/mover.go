package search

import (
	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// mover plays, ranks and appraises boards. It is immutable.
type mover struct {
	*packed.Rules
	first     [awari.MaxSeeds + 2]uint64 // by seeds, how many boards have fewer
	appraisal appraisal
}

func newMover(game awari.Game) *mover {
	m := &mover{Rules: packed.New(game), appraisal: newAppraisal(game)}
	for n := range m.first {
		m.first[n] = colex.MustBinomial(game.Pits()+n-1, game.Pits())
	}
	return m
}

// code numbers boards with any number of seeds n.
func (m *mover) code(p packed.Board, n int) uint64 { return m.first[n] + m.Rank(p) }

// size is the number of boards with n seeds.
func (m *mover) size(n int) uint64 { return m.first[n+1] - m.first[n] }
