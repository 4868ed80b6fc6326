package line_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
)

// farthest returns the board of greatest distance, and the distance.
func farthest(t *testing.T, m *memory) (far awari.Board, plies int) {
	t.Helper()
	m.every(func(b awari.Board, _ int) {
		move, _, err := line.Next(t.Context(), m, b, line.Options{})
		must.OK(t, err)
		if move.Plies > plies {
			far, plies = b, move.Plies
		}
	})
	return far, plies
}

// TestLimit allows too few positions: an error, never another line.
func TestLimit(t *testing.T) {
	m := solve(t, 8, 6, awari.Awari)
	b, plies := farthest(t, m)
	must.Not(t, plies < 10, "the greatest distance is %d", plies)
	want, _, err := line.Next(t.Context(), m, b, line.Options{})
	must.OK(t, err)
	failed := 0
	for positions := 1; ; positions++ {
		got, ok, err := line.Next(t.Context(), m, b, line.Options{Positions: positions})
		if err == nil {
			should.Hold(t, ok && got == want, "%d positions: %+v, want %+v", positions, got, want)
			break
		}
		limit, typed := errors.AsType[*line.LimitError](err)
		must.Hold(t, typed && limit.Positions == positions && limit.Plies < plies && limit.Board == b, "%d positions: %v", positions, err)
		failed++
	}
	should.Not(t, failed == 0, "one position was enough")
}

// TestUngrounded falsifies a circle of positions that vouch for each other: every score
// follows from its moves, but nothing is ever captured for it.
func TestUngrounded(t *testing.T) {
	m := solve(t, 8, 2, awari.Awari)
	circle := awari.Board{1, 0, 0, 0, 1}
	value := 1
	for b := circle; ; value = -value {
		n, rank := m.Rank(b)
		if m.layers[n][rank] == int8(value) {
			break
		}
		must.Equal(t, m.layers[n][rank], 0, "board %s is worth", m.Text(b))
		m.layers[n][rank] = int8(value)
		moves := m.Successors(nil, b)
		must.Hold(t, len(moves) == 1 && moves[0].Reward == 0, "board %s has moves %v", m.Text(b), moves)
		b = moves[0].To
	}
	_, err := line.Best(t.Context(), m, circle, line.Options{})
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), "no capture ever grounds"),
		"a circle worth 1: %v", err)
}

// TestContradictions changes single scores: a line that meets one says so.
func TestContradictions(t *testing.T) {
	m := solve(t, 4, 8, awari.Strict)
	noticed := 0
	for rank := range m.layers[8] {
		for _, by := range []int8{-3, 3} {
			m.layers[8][rank] += by
			b := m.Unrank(8, uint64(rank))
			_, err := line.Best(t.Context(), m, b, line.Options{})
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Errorf("board %s changed by %d: %v", m.Text(b), by, err)
			} else {
				noticed++
			}
			m.layers[8][rank] -= by
		}
	}
	should.Not(t, noticed == 0, "nothing noticed")
}

func TestCancelled(t *testing.T) {
	m := solve(t, 8, 6, awari.Awari)
	b, _ := farthest(t, m)
	should.Be(t, must.Err(line.Best(must.Ended(t), m, b, line.Options{})), context.Canceled, "cancelled")
}
