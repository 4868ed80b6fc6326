package serve

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/pipeline/play/puzzle"
)

// TestPuzzles asks for puzzles, and for each of them again by its board.
func TestPuzzles(t *testing.T) {
	r := startFinding(t)
	var got puzzlesReport
	r.ask("/api/puzzles?seeds=4..5&random=7&count=8&rating=10..90", &got)
	want, err := puzzle.Draw(t.Context(), r.server.tables, puzzle.Options{From: 4, To: 5, Seed: 7, Count: 8, Least: 10, Most: 90})
	must.Hold(t, err == nil && len(got.Puzzles) == 8 && got.Rules == "awari" && text(t, got.Puzzles) == text(t, want),
		"%s, want %s (%v)", text(t, got), text(t, want), err)
	for _, z := range got.Puzzles {
		var one puzzlesReport
		r.ask("/api/puzzles?pits="+strings.ReplaceAll(strings.Trim(fmt.Sprint(z.Pits), "[]"), " ", ","), &one)
		if text(t, one.Puzzles) != text(t, []puzzle.Puzzle{z}) {
			t.Errorf("%s, want %s", text(t, one), text(t, z))
		}
	}
	for _, pits := range []string{"1,0,0,0,0,0,1,0,0,0,0,0", "4,4,4,4,4,4,4,4,4,4,4,4"} {
		r.ask("/api/puzzles?pits="+pits, &got)
		should.Hold(t, len(got.Puzzles) == 0, "%s: %s", pits, text(t, got))
	}
	for query, want := range map[string]string{
		"":                                    "seeds is",
		"seeds=6":                             "0 to 5",
		"seeds=5&theme=beauty":                "there is no theme",
		"seeds=5&rating=40":                   "rating is",
		"seeds=5&rating=a..b":                 "rating is",
		"seeds=5&rating=50..40":               "ratings 50 to 40",
		"seeds=5&rating=0..101":               "ratings 0 to 101",
		"seeds=5&count=51":                    "1 to 50",
		"seeds=5&random=-1":                   "random is",
		"seeds=5&pits=1":                      "give it alone",
		"pits=1":                              "pit",
		"pits=4,4,4,4,4,4,4,4,4,4,4,5":        "seeds",
		"seeds=5&where=only-win":              "unknown parameter",
		"pits=0,0,0,0,0,0,0,0,0,0,0,0&seed=1": "unknown parameter",
	} {
		if got := r.get("/api/puzzles?" + query); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: status %d, %s; want a word about %q", query, got.status, got.body, want)
		}
	}
}
