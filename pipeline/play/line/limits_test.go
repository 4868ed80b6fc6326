package line_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"grenier/io/corrupt"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
)

// farthest returns the board of greatest distance, and the distance.
func farthest(t *testing.T, m *memory) (far awari.Board, plies int) {
	t.Helper()
	m.every(func(b awari.Board, _ int) {
		move, _, err := line.Next(t.Context(), m, b, line.Options{})
		if err != nil {
			t.Fatal(err)
		}
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
	if plies < 10 {
		t.Fatalf("the greatest distance is %d", plies)
	}
	want, _, err := line.Next(t.Context(), m, b, line.Options{})
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for positions := 1; ; positions++ {
		got, ok, err := line.Next(t.Context(), m, b, line.Options{Positions: positions})
		if err == nil {
			if !ok || got != want {
				t.Errorf("%d positions: %+v, want %+v", positions, got, want)
			}
			break
		}
		limit, typed := errors.AsType[*line.LimitError](err)
		if !typed || limit.Positions != positions || limit.Plies >= plies || limit.Board != b {
			t.Fatalf("%d positions: %v", positions, err)
		}
		failed++
	}
	if failed == 0 {
		t.Error("one position was enough")
	}
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
		if m.layers[n][rank] != 0 {
			t.Fatalf("board %s is worth %d", m.Text(b), m.layers[n][rank])
		}
		m.layers[n][rank] = int8(value)
		moves := m.Successors(nil, b)
		if len(moves) != 1 || moves[0].Reward != 0 {
			t.Fatalf("board %s has moves %v", m.Text(b), moves)
		}
		b = moves[0].To
	}
	_, err := line.Best(t.Context(), m, circle, line.Options{})
	if !errors.Is(err, corrupt.ErrCorrupt) || !strings.Contains(err.Error(), "no capture ever grounds") {
		t.Errorf("a circle worth 1: %v", err)
	}
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
	if noticed == 0 {
		t.Error("nothing noticed")
	}
}

func TestCancelled(t *testing.T) {
	m := solve(t, 8, 6, awari.Awari)
	b, _ := farthest(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := line.Best(ctx, m, b, line.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
