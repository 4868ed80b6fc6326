package serve

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

// TestSearch compares bounds with the true scores of boards that the server does not have.
func TestSearch(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	const more = seeds + 3
	truth, space := testrun.Solve(t, game, more), testrun.Space(t, game, more)
	r := start(t, Options{Tables: openTables(t, game), Rate: 1e6})
	score := func(b awari.Board) int {
		n, rank := space.Rank(b)
		return int(truth[n][rank])
	}
	for rank := uint64(0); rank < space.Size(more); rank += 7 {
		b := space.Unrank(more, rank)
		var got searchReport
		r.ask("/api/search?ms=4&pits="+query(b, game.Pits()), &got)
		if want := score(b); got.Lower > want || got.Upper < want || got.Exact != (got.Lower == got.Upper) || got.Seeds != more {
			t.Fatalf("%s is worth %d: %+v", game.Text(b), want, got)
		}
		for pit, play := range game.Plays(b) {
			if pit >= game.Half() {
				break
			}
			m := got.Moves[pit]
			if m.Legal != play.Legal || m.Legal == (m.Lower == nil) {
				t.Fatalf("%s, pit %d: %+v", game.Text(b), pit, m)
			}
			if m.Legal && (*m.Lower > play.Captured-score(play.Child) || *m.Upper < play.Captured-score(play.Child)) {
				t.Fatalf("%s, pit %d is worth %d: %d to %d", game.Text(b), pit, play.Captured-score(play.Child), *m.Lower, *m.Upper)
			}
		}
	}
	for query, want := range map[string]string{
		"pits=1,1,1,1,1,1&ms=0": "1 to 5000", "pits=1,1,1,1,1,1&ms=5001": "1 to 5000", "pits=1,1,1,1,1,1&ms=x": "1 to 5000",
		"pits=1,1,1,1,1,1&ms=-1": "1 to 5000", "pits=1,1,1,1,1,1&ms=": "1 to 5000", "ms=1": "pits is missing", "pits=1": "expected 6 pits",
	} {
		r.wantProblem(r.get("/api/search?"+query), http.StatusBadRequest, want)
	}
}

// TestLine plays the best lines of all boards of a layer: they must bring what the board is worth.
func TestLine(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	r := start(t, Options{Tables: openTables(t, game), Rate: 1e6})
	space := testrun.Space(t, game, seeds)
	for rank := range space.Size(seeds) {
		b := space.Unrank(seeds, rank)
		var got lineReport
		r.ask("/api/line?pits="+query(b, game.Pits()), &got)
		worth, sign := 0, 1
		for _, m := range got.Moves {
			play := game.Plays(b)[m.Pit]
			if !play.Legal || play.Captured != m.Captured {
				t.Fatalf("%s: %+v", game.Text(b), got)
			}
			worth += sign * play.Captured
			b, sign = play.Child, -sign
		}
		if got.End == "finished" {
			worth -= sign * b.Seeds()
		}
		score, err := r.server.tables.Score(t.Context(), space.Unrank(seeds, rank))
		must.Hold(t, err == nil && got.Value == int(score) && worth == got.Value && slices.Contains([]string{"finished", "repetition"}, got.End),
			"%s is worth %d (%v), the line brings %d: %+v", game.Text(space.Unrank(seeds, rank)), score, err, worth, got)
	}
	r.wantProblem(r.get("/api/line?pits=9,9,9,0,0,0"), http.StatusUnprocessableEntity, "more seeds than are solved")
	r.wantProblem(r.get("/api/line?pits=9"), http.StatusBadRequest, "expected 6 pits")
}

// TestDistances compares distances of all moves of a layer with where best lines capture or end.
func TestDistances(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	r := start(t, Options{Tables: openTables(t, game), Rate: 1e6})
	space := testrun.Space(t, game, seeds)
	forced := 0
	for rank := range space.Size(seeds) {
		b := space.Unrank(seeds, rank)
		var got distancesReport
		r.ask("/api/distances?pits="+query(b, game.Pits()), &got)
		plays := game.Plays(b)
		for pit, play := range plays[:game.Half()] {
			var want *int
			if play.Legal {
				want = r.pliesOf(t, play)
			}
			if have := got.Plies[pit]; (have == nil) != (want == nil) || have != nil && *have != *want {
				t.Fatalf("%s, pit %d: %v plies, want %v", game.Text(b), pit, show(have), show(want))
			}
			if want != nil && *want > 1 {
				forced++
			}
		}
	}
	should.Not(t, forced == 0, "no distance is greater than 1")
	r.wantProblem(r.get("/api/distances?pits=9,9,9,0,0,0"), http.StatusUnprocessableEntity, "more seeds than are solved")
}

// pliesOf returns the plies to the next capture or the end from a move on, by the best line after it; nil if nothing is forced.
func (r *running) pliesOf(t *testing.T, play awari.Play) *int {
	plies := 1
	if play.Captured > 0 {
		return &plies
	}
	var after lineReport
	r.ask("/api/line?pits="+query(play.Child, r.server.tables.Game().Pits()), &after)
	for i, m := range after.Moves {
		if plies++; m.Captured > 0 && (after.Value != 0 || i == 0) {
			return &plies
		}
	}
	if after.Value == 0 && len(after.Moves) > 0 {
		return nil
	}
	plies++
	return &plies
}

// show returns a number, or a dash for none.
func show(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

// TestBusy checks the answer to a request that does not get its turn.
func TestBusy(t *testing.T) {
	tight := usual
	tight.queue = time.Millisecond
	r := startWith(t, Options{}, tight)
	q := r.server.searches
	must.Hold(t, q.all.TryAcquire(int64(q.most)), "turns are taken")
	for _, target := range []string{"/api/search", "/api/line"} {
		r.wantProblem(r.get(target+"?pits=1,1,0,0,0,0,0,0,0,0,0,0"), http.StatusServiceUnavailable, "busy")
	}
	got := r.get("/api/probe?pits=1,1,0,0,0,0,0,0,0,0,0,0")
	should.Hold(t, got.status == 200, "%+v", got)
	q.all.Release(1)
	got = r.get("/api/line?pits=1,1,0,0,0,0,0,0,0,0,0,0")
	should.Hold(t, got.status == 200, "%+v", got)
}

// TestStopWhileSearching stops a server that is searching: the search ends early.
func TestStopWhileSearching(t *testing.T) {
	r := start(t, Options{})
	answered := make(chan reply)
	go func() { answered <- r.get("/api/search?ms=5000&pits=4,4,4,4,4,4,4,4,4,4,4,4") }()
	waitFor(t, "a search", func() bool { return !r.server.searches.isIdle() })
	r.stop()
	r.wantProblem(<-answered, http.StatusServiceUnavailable, "stopping")
}

// TestCharts checks that drawings are well-formed and have nothing that the policy of the page forbids.
func TestCharts(t *testing.T) {
	r := start(t, Options{})
	var all struct{ Charts []drawnChart }
	r.ask("/api/charts", &all)
	var scores drawnChart
	r.ask("/api/charts/scores?seeds=5", &scores)
	should.Hold(t, len(all.Charts) >= 2 && all.Charts[0].Name == "outcome" && scores.Title == "Scores with 5 seeds",
		"%d charts; %s", len(all.Charts), scores.Title)
	for _, c := range append(all.Charts, scores) {
		for _, svg := range []string{c.Wide, c.Narrow} {
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				must.Hold(t, err == nil, "%s: %v", c.Name, err)
				if e, ok := token.(xml.StartElement); ok {
					forbidden := slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") })
					should.Not(t, forbidden || e.Name.Local == "script" || e.Name.Local == "style", "%s: %+v", c.Name, e)
				}
			}
		}
		should.Hold(t, strings.Contains(c.Wide, `width="540"`) && strings.Contains(c.Narrow, `width="330"`), "%s has other sizes", c.Name)
	}
	for _, query := range []string{"", "?seeds=", "?seeds=6", "?seeds=-1", "?seeds=x", "?layer=1"} {
		r.wantProblem(r.get("/api/charts/scores"+query), http.StatusBadRequest, "")
	}
}

// TestLineErrors checks the answer when there is no line.
func TestLineErrors(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
	}{
		{fmt.Errorf("high: %w", tables.ErrUnsolved), http.StatusUnprocessableEntity},
		{&line.LimitError{}, http.StatusUnprocessableEntity},
		{context.DeadlineExceeded, http.StatusUnprocessableEntity},
	} {
		b, ok := errors.AsType[badRequest](lineError(c.err))
		should.Hold(t, ok && b.status == c.status, "%v: %v", c.err, lineError(c.err))
	}
	inside := errors.New("broken")
	should.Hold(t, lineError(inside) == inside, "%v", lineError(inside))
}

// TestEngines gives a board the engine that searched it last, and otherwise a new one, up to the
// number there may be, or the one that was not used for longest.
func TestEngines(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	blocks := search.NewBlocks(openTables(t, game), 1)
	all := &engines{most: 2}
	x, y, z := awari.Board{1}, awari.Board{2}, awari.Board{3}
	first := all.take(blocks, x)
	all.give(first, x)
	second := all.take(blocks, y)
	should.Not(t, second == first, "no engine of its own for another board")
	all.give(second, y)
	should.Hold(t, all.take(blocks, x) == first, "not the engine that knows the board")
	should.Hold(t, all.take(blocks, z) == second, "more engines than there may be")
	if fourth := all.take(blocks, z); fourth == nil || fourth == first || fourth == second {
		t.Error("no engine although none is there")
	} else {
		for i, e := range []*search.Engine{first, second, fourth} {
			all.give(e, awari.Board{uint8(i)})
		}
	}
	should.Hold(t, len(all.idle) == 2 && all.made == 2 && all.idle[0].engine == second,
		"%d engines are kept of %d", len(all.idle), all.made)
}
