package serve

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/puzzle"
)

// await asks for the hardest positions of a layer until they are there.
func (r *running) await(target string) (got hardestReport) {
	r.t.Helper()
	for r.get(target).status == http.StatusAccepted {
		rest(r.t.Context(), 50*time.Millisecond) // below the rate that a client may have
	}
	r.ask(target, &got)
	return got
}

// TestHardest compares what is found in the background with a look at each position of a layer.
func TestHardest(t *testing.T) {
	r := startFinding(t)
	first := r.get("/api/hardest?seeds=4")
	must.Not(t, first.status != http.StatusAccepted && first.status != http.StatusOK, "status %d, %s", first.status, first.body)
	r.get("/api/hardest?seeds=3") // after it
	got := r.await("/api/hardest?seeds=4")
	space := r.server.space(t)
	puzzles, longest := uint64(0), []int{}
	for rank := range space.Size(4) {
		board := space.Unrank(4, rank)
		p := must.Get(r.server.newProbeReport(t.Context(), board))(t)
		if !isOnlyWin(p) {
			continue
		}
		best := must.Get(line.Best(t.Context(), r.server.tables, board, line.Options{}))(t)
		puzzles++
		longest = append(longest, len(best.Moves))
	}
	must.Hold(t, got.Complete && got.Hits == puzzles && got.Done == space.Size(4) && got.Positions == space.Size(4) && got.Unmeasured == 0 && len(got.Found) == hardestCount,
		"%+v, want %d hits of %d", got, puzzles, space.Size(4))
	for i, p := range got.Found {
		longer := 0
		for _, plies := range longest {
			if plies > p.Line {
				longer++
			}
		}
		best, err := line.Best(t.Context(), r.server.tables, boardOfReport(&p.probeReport), line.Options{})
		should.Hold(t, err == nil && len(best.Moves) == p.Line && longer <= i && isOnlyWin(&p.probeReport),
			"place %d: %d plies, a line of %d (%v); %d positions have more", i, p.Line, len(best.Moves), err, longer)
	}
	got = r.await("/api/hardest?seeds=3")
	should.Hold(t, got.Complete && got.Seeds == 3, "the next layer: %+v", got)
}

// TestHardestNonsense asks for what is not searched.
func TestHardestNonsense(t *testing.T) {
	r := startFinding(t)
	for query, want := range map[string]string{
		"": "seeds is", "seeds=6": "0 to 5", "seeds=-1": "0 to 5", "seeds=1..2": "expected one layer", "seeds=1&count=3": "unknown parameter",
	} {
		r.wantProblem(r.get("/api/hardest?"+query), http.StatusBadRequest, want)
	}
	r.wantProblem(start(t, Options{}).get("/api/hardest?seeds=2"), http.StatusNotFound, "nothing here")
}

// TestHardestFails lets a search fail: who asks learns it, and the next one begins another.
func TestHardestFails(t *testing.T) {
	s, log := newServer(t, Options{Dir: "nowhere"})
	empty := hardestReport{Seeds: 2}
	must.OK(t, must.Err(s.hardest.ask(empty)))
	n := <-s.hardest.wanted
	must.Hold(t, n == 2, "layer %d is wanted", n)
	err := s.seekHardestOf(t.Context(), 2)
	must.Not(t, err == nil, "a directory that is not there was searched")
	s.hardest.fail(2, err)
	should.Be(t, must.Err(s.hardest.ask(empty)), err)
	_, err = s.hardest.ask(empty)
	should.Hold(t, err == nil && len(s.hardest.wanted) == 1, "asked again: %v, %d are wanted", err, len(s.hardest.wanted))
	should.Hold(t, log.String() == "", "%v", log)
}

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
		should.Hold(t, text(t, one.Puzzles) == text(t, []puzzle.Puzzle{z}), "%s, want %s", text(t, one), text(t, z))
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
