package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/play/find"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/puzzle"
)

func startFinding(t *testing.T) *running {
	t.Helper()
	tab, dir := openRun(t, testrun.Game(t, 12, awari.Awari))
	return start(t, Options{Tables: tab, Dir: dir, Family: cpu.Generic})
}

// found searches the layers of a server beside it.
func (r *running) found(from, to int, where string, order find.Order, seed uint64, count int) *find.Result {
	r.t.Helper()
	o := find.Options{From: from, To: to, Condition: must.Get(find.Parse(where))(r.t), Order: order, Seed: seed, Count: count}
	return must.Get(find.Run(r.t.Context(), r.server.dir, o))(r.t)
}

func most(t *testing.T, name string) find.Order { t.Helper(); return must.Get(find.Most(name))(t) }

// TestFind compares answers with what package find finds; what is asked twice is answered as before.
func TestFind(t *testing.T) {
	r := startFinding(t)
	for target, want := range map[string]*find.Result{
		"seeds=4&random=7&count=100&where=only-win+moves>%3D3": r.found(4, 4, "only-win moves>=3", find.Random, 7, 100),
		"seeds=3..5&most=margin&count=9":                       r.found(3, 5, "", most(t, "margin"), 0, 9),
		"seeds=5":                                              r.found(5, 5, "", find.First, 0, 20),
	} {
		for range 2 {
			var got findReport
			r.ask("/api/find?"+target, &got)
			should.Hold(t, got.From == want.From && got.To == want.To && got.Order == want.Order && got.Where == want.Condition &&
				got.Rules == want.Rules && got.Positions == want.Positions && got.Hits == want.Hits && len(got.Found) == len(want.Found) && got.Hits > 0,
				"%s: %+v, want %+v", target, got, want)
			for i, p := range got.Found {
				own := must.Get(r.server.newProbeReport(t.Context(), want.Found[i].Board))(t)
				should.Equal(t, text(t, p), text(t, own), "%s: position %d", target, i)
			}
		}
	}
}

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

// TestFindLimit refuses layers that are too large.
func TestFindLimit(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	space := must.Get(awari.NewSpace(game, awari.MaxSeeds))(t)
	should.Not(t, space.Size(16) > findPositions || space.Size(17) < findPositions,
		"layer 16 has %d positions, layer 17 %d: docs/serve.md says that 16 is the largest", space.Size(16), space.Size(17))
}

// await asks for the hardest positions of a layer until they are there.
func (r *running) await(target string) (got hardestReport) {
	r.t.Helper()
	for r.get(target).status == http.StatusAccepted {
		rest(r.t.Context(), 50*time.Millisecond) // below the rate that a client may have
	}
	r.ask(target, &got)
	return got
}

// TestHardest compares what is found in the background with what package find finds; the next layer follows.
func TestHardest(t *testing.T) {
	r := startFinding(t)
	first := r.get("/api/hardest?seeds=4")
	must.Not(t, first.status != http.StatusAccepted && first.status != http.StatusOK, "status %d, %s", first.status, first.body)
	r.get("/api/hardest?seeds=3") // after it
	for _, n := range []int{4, 3} {
		want, got := r.found(n, n, "only-win", most(t, "line"), 0, hardestCount), r.await(fmt.Sprint("/api/hardest?seeds=", n))
		must.Hold(t, got.Complete && got.Seeds == n && got.Rules == "awari" && got.Hits == want.Hits && got.Done == want.Positions &&
			got.Positions == want.Positions && got.Unmeasured == 0 && len(got.Found) == len(want.Found) && got.Hits > 0, "%+v, want %+v", got, want)
		for i, p := range got.Found {
			best := must.Get(line.Best(t.Context(), r.server.tables, want.Found[i].Board, line.Options{}))(t)
			should.Hold(t, boardOfReport(&p.probeReport) == want.Found[i].Board && p.Line == len(best.Moves), "place %d: %+v", i, p)
		}
	}
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
}
