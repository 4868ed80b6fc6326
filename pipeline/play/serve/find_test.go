package serve

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

// startFinding starts a server that can search its layers.
func startFinding(t *testing.T) *running {
	t.Helper()
	tab, dir := openRun(t, testrun.Game(t, 12, awari.Awari))
	return start(t, Options{Tables: tab, Dir: dir, Family: cpu.Generic})
}

// TestFind looks for positions with one winning move: what is found must be such, and be
// as many as a look at every position of the layer finds.
func TestFind(t *testing.T) {
	r := startFinding(t)
	var got findReport
	target := "/api/find?seeds=4&random=7&count=100&where=" + url.QueryEscape("only-win moves>=3")
	r.ask(target, &got)
	must.Hold(t, len(got.Found) != 0 && got.From == 4 && got.To == 4 && got.Positions == 1365,
		"%d found in layers %d to %d, %d positions", len(got.Found), got.From, got.To, got.Positions)
	for _, p := range got.Found {
		should.Hold(t, isPuzzle(p), "%+v", p)
	}
	want := 0
	space := r.server.space(t)
	for rank := range space.Size(4) {
		p := must.Get(r.server.newProbeReport(t.Context(), space.Unrank(4, rank)))(t)
		if isPuzzle(p) {
			want++
		}
	}
	should.Hold(t, got.Hits == uint64(want), "%d hits, want %d", got.Hits, want)
	var again findReport
	r.ask(target, &again)
	should.Hold(t, text(t, again) == text(t, got), "asked twice, not the same")
}

func isPuzzle(p *probeReport) bool { return isOnlyWin(p) && countLegal(p) >= 3 }

func countLegal(p *probeReport) int {
	n := 0
	for _, m := range p.Moves {
		if m.Legal {
			n++
		}
	}
	return n
}

// isOnlyWin reports whether one of several moves wins, and no other draws.
func isOnlyWin(p *probeReport) bool {
	moves, winning, drawing := 0, 0, 0
	for _, m := range p.Moves {
		if m.Value == nil {
			continue
		}
		moves++
		if *m.Value > 0 {
			winning++
		}
		if *m.Value == 0 {
			drawing++
		}
	}
	return moves >= 2 && winning == 1 && drawing == 0
}

// space returns the boards that the tables of tests have.
func (s *Server) space(t *testing.T) *awari.Space { return testrun.Space(t, s.tables.Game(), seeds) }

// boardOfReport returns the board that an answer is about.
func boardOfReport(p *probeReport) (b awari.Board) {
	for i, n := range p.Pits {
		b[i] = uint8(n)
	}
	return b
}

// TestFindLines asks for an answer in lines: they must have what the answer has otherwise.
func TestFindLines(t *testing.T) {
	defer func(before time.Duration) { progressInterval = before }(progressInterval)
	progressInterval = 0
	r := startFinding(t)
	const target = "/api/find?seeds=3..5&where=only-win&count=7"
	read := func() (found []*probeReport, report *findReport, progress int) {
		got := r.get(target, "Accept", "application/json;q=0.5, "+linesType)
		must.Hold(t, got.status == 200 && got.header.Get("Content-Type") == linesType, "status %d, %v", got.status, got.header)
		for line := range strings.Lines(got.body) {
			var l findLine
			err := json.Unmarshal([]byte(line), &l)
			must.Hold(t, err == nil && report == nil, "%v in %s, or a line after the last one", err, line)
			switch {
			case l.Progress != nil:
				progress++
			case l.Found != nil:
				found = append(found, l.Found)
			default:
				report = l.Report
			}
		}
		return found, report, progress
	}
	for i := range 2 { // searched, and kept
		found, report, progress := read()
		var want findReport
		r.ask(target, &want)
		should.Hold(t, text(t, found) == text(t, want.Found) && len(found) == 7, "%d found: %s", len(found), text(t, found))
		want.Found = nil
		should.Not(t, report == nil || text(t, report) != text(t, want), "%+v, want %+v", report, want)
		should.Not(t, i == 1 && progress > 0, "%d lines of progress of a search that was over", progress)
	}
	r.wantProblem(r.get("/api/find?seeds=9", "Accept", linesType), http.StatusBadRequest, "0 to 5")
}

// TestFindMost asks for the largest margin: nothing that is found has a smaller one than what follows.
func TestFindMost(t *testing.T) {
	r := startFinding(t)
	var got findReport
	r.ask("/api/find?seeds=3..5&most=margin&count=9", &got)
	must.Hold(t, len(got.Found) == 9 && got.Order == "most margin", "%d found, %s", len(got.Found), got.Order)
	last := 2 * awari.MaxSeeds
	for _, p := range got.Found {
		first, second := -awari.MaxSeeds, -awari.MaxSeeds
		for _, m := range p.Moves {
			if m.Value != nil {
				first, second = max(first, *m.Value), max(second, min(first, *m.Value))
			}
		}
		should.Not(t, first-second > last, "margin %d after %d", first-second, last)
		last = first - second
	}
}

// TestFindNonsense asks for what cannot be searched.
func TestFindNonsense(t *testing.T) {
	r := startFinding(t)
	for query, want := range map[string]string{
		"":                                 "seeds is",
		"seeds=x":                          "seeds is",
		"seeds=6":                          "0 to 5",
		"seeds=3..2":                       "0 to 5",
		"seeds=-1":                         "0 to 5",
		"seeds=2&where=good":               "where:",
		"seeds=2&where=p12%3D1":            "condition",
		"seeds=2&where=line%3E3":           "line takes too long",
		"seeds=2&most=line":                "line takes too long",
		"seeds=2&most=beauty":              "most:",
		"seeds=2&most=value&random=1":      "not both",
		"seeds=2&count=0":                  "1 to 100",
		"seeds=2&count=101":                "1 to 100",
		"seeds=2&random=-1":                "random is",
		"seeds=2&dir=/etc":                 "unknown parameter",
		"seeds=2&state=/tmp/x":             "unknown parameter",
		"seeds=2&seeds=3":                  "given 2 times",
		"seeds=" + strings.Repeat("9", 99): "seeds is",
	} {
		if got := r.get("/api/find?" + query); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: status %d, %s; want a word about %q", query, got.status, got.body, want)
		}
	}
	got := start(t, Options{}).get("/api/find?seeds=2")
	should.Hold(t, got.status == http.StatusNotFound, "without a directory: status %d, %s", got.status, got.body)
}

// TestFindLimit refuses layers that are too large.
func TestFindLimit(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	space := must.Get(awari.NewSpace(game, awari.MaxSeeds))(t)
	should.Not(t, space.Size(16) > findPositions || space.Size(17) < findPositions,
		"layer 16 has %d positions, layer 17 %d: docs/serve.md says that 16 is the largest", space.Size(16), space.Size(17))
}
