package chemin

import (
	"fmt"
	"testing"

	"grenier/internal/testkit/conformance"
	"grenier/internal/testkit/must"
	"grenier/layers"
)

// space is the canonical states of a small board as a layered space: layer k has
// k empty cells, a move earns the number written. It is here to have the states
// checked by the suite; the scores of the contract, for two players in turn, mean
// nothing in this game.
type space struct {
	b      *Board
	states [][]State
	ranks  map[State]uint64
}

func newSpace(b *Board) *space {
	s := &space{b: b, states: make([][]State, b.Cells()+1), ranks: map[State]uint64{}}
	s.add(State{})
	for k := b.Cells(); k > 0; k-- {
		for _, from := range s.states[k] {
			for _, m := range s.Successors(nil, from) {
				s.add(m.To)
			}
		}
	}
	return s
}

func (s *space) add(state State) {
	if _, known := s.ranks[state]; !known {
		k := s.empty(state)
		s.ranks[state] = uint64(len(s.states[k]))
		s.states[k] = append(s.states[k], state)
	}
}

func (s *space) empty(state State) int {
	n := 0
	for rest := s.b.Full() &^ state.Filled; rest != 0; rest &= rest - 1 {
		n++
	}
	return n
}

func (s *space) Name() string                              { return fmt.Sprintf("chemin, %d x %d", s.b.Rows(), s.b.Cols()) }
func (s *space) Layers() int                               { return len(s.states) }
func (s *space) Size(layer int) uint64                     { return uint64(len(s.states[layer])) }
func (s *space) Rank(state State) (int, uint64)            { return s.empty(state), s.ranks[state] }
func (s *space) Unrank(layer int, rank uint64) State       { return s.states[layer][rank] }
func (s *space) Predecessors(dst []State, _ State) []State { return dst }
func (s *space) Terminal(State) int                        { return 0 }

func (s *space) Successors(dst []layers.Move[State], state State) []layers.Move[State] {
	for cell := range s.b.Cells() {
		if state.Filled>>cell&1 == 0 {
			next, value := s.b.Fill(&state, cell)
			next, _ = s.b.Canonical(&next)
			dst = append(dst, layers.Move[State]{To: next, Reward: int(value)})
		}
	}
	return dst
}

func TestConformance(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 5}, {2, 3}, {3, 3}} {
		conformance.Run[State](t, newSpace(must.Get(New(size[0], size[1]))(t)), conformance.Options{})
	}
}
