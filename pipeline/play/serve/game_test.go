package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

// TestGame walks through games: each position must agree with a probe of it.
func TestGame(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	r := start(t, Options{})
	for _, begin := range []awari.Board{
		{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
		{1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1},
	} {
		var moves []string
		boards := []awari.Board{begin}
		for range 40 {
			plays := game.Plays(boards[len(boards)-1])
			pit := slices.IndexFunc(plays[:], func(p awari.Play) bool { return p.Legal })
			if pit < 0 {
				break
			}
			moves = append(moves, fmt.Sprint(pit))
			boards = append(boards, plays[pit].Child)
		}
		var got gameReport
		r.ask("/api/game?pits="+query(begin, 12)+"&moves="+strings.Join(moves, ","), &got)
		must.Hold(t, len(got.Positions) == len(boards) && got.Illegal == nil,
			"%d positions, want %d; illegal: %+v", len(got.Positions), len(boards), got.Illegal)
		for i, board := range boards {
			var want probeReport
			r.ask("/api/probe?pits="+query(board, 12), &want)
			should.Equal(t, text(t, got.Positions[i]), text(t, &want), "position %d", i)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b := must.Get(encode(v))(t)
	return string(b)
}

// TestIllegalGame names the first move that cannot be played.
func TestIllegalGame(t *testing.T) {
	r := start(t, Options{})
	for _, c := range []struct {
		query     string
		positions int
		want      *illegalMove
	}{
		{"pits=4,4,4,4,4,4,4,4,4,4,4,4", 1, nil},
		{"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=", 1, nil},
		{"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=2,0,2,1", 3, &illegalMove{2, 2, false}},
		{"pits=1,0,0,0,0,1,0,0,0,0,0,0&moves=0", 1, &illegalMove{0, 0, true}},
	} {
		var got gameReport
		r.ask("/api/game?"+c.query, &got)
		should.Not(t, len(got.Positions) != c.positions || fmt.Sprint(got.Illegal != nil) != fmt.Sprint(c.want != nil) ||
			c.want != nil && *got.Illegal != *c.want,
			"%s: %d positions, illegal %+v; want %d, %+v", c.query, len(got.Positions), got.Illegal, c.positions, c.want)
	}
	for query, word := range map[string]string{
		"moves=1":                                                          "pits is missing",
		"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=6":                             "must be a pit, 0 to 5",
		"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=-1":                            "must be a pit, 0 to 5",
		"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=1,,2":                          "move 2 is",
		"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=0" + strings.Repeat(",0", 1e3): "at most 1000",
		"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=0&turn=south":                  "unknown parameter",
	} {
		if got := r.get("/api/game?" + query); got.status != http.StatusBadRequest || !strings.Contains(got.body, word) {
			t.Errorf("%.80s: status %d, %s; want a word about %q", query, got.status, got.body, word)
		}
	}
}
