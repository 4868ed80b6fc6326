package serve

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
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
		want := score(b)
		must.Hold(t, got.Lower <= want && want <= got.Upper && got.Exact == (got.Lower == got.Upper) && got.Seeds == more,
			"%s is worth %d: %+v", game.Text(b), want, got)
		plays := game.Plays(b)
		for pit, play := range plays[:game.Half()] {
			m := got.Moves[pit]
			must.Hold(t, m.Legal == play.Legal && m.Legal == (m.Lower != nil), "%s, pit %d: %+v", game.Text(b), pit, m)
			if m.Legal {
				want := play.Captured - score(play.Child)
				must.Hold(t, *m.Lower <= want && want <= *m.Upper, "%s, pit %d is worth %d: %d to %d", game.Text(b), pit, want, *m.Lower, *m.Upper)
			}
		}
	}
	r.wantProblem(r.get("/api/search?pits=1"), http.StatusBadRequest, "expected 6 pits")
}

// TestLine compares answers about all boards of a layer with the best lines of package line, and the distances of their moves with
// where those capture or end.
func TestLine(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	r := start(t, Options{Tables: openTables(t, game), Rate: 1e6})
	space, forced := testrun.Space(t, game, seeds), 0
	for rank := range space.Size(seeds) {
		b := space.Unrank(seeds, rank)
		var got lineReport
		r.ask("/api/line?pits="+query(b, game.Pits()), &got)
		best := must.Get(line.Best(t.Context(), r.server.tables, b, line.Options{}))(t)
		want := lineReport{game.Rules().String(), game.Numbers(b), best.Value, []lineMove{}, best.End.String()}
		for _, m := range best.Moves {
			want.Moves = append(want.Moves, lineMove{m.Pit, m.Captured, m.Value})
		}
		must.Equal(t, text(t, got), text(t, want), "%s", game.Text(b))
		var far distancesReport
		r.ask("/api/distances?pits="+query(b, game.Pits()), &far)
		plays := game.Plays(b)
		for pit, play := range plays[:game.Half()] {
			var want *int
			if play.Legal {
				want = r.pliesOf(t, play)
			}
			must.Equal(t, show(far.Plies[pit]), show(want), "%s, pit %d: plies", game.Text(b), pit)
			if want != nil && *want > 1 {
				forced++
			}
		}
	}
	should.Not(t, forced == 0, "no distance is greater than 1")
	for _, path := range []string{"line", "distances"} {
		r.wantProblem(r.get("/api/"+path+"?pits=9,9,9,0,0,0"), http.StatusUnprocessableEntity, "more seeds than are solved")
		r.wantProblem(r.get("/api/"+path+"?pits=9"), http.StatusBadRequest, "expected 6 pits")
	}
}

// pliesOf returns the plies to the next capture or the end from a move on, by the best line after it; nil if nothing is forced.
func (r *running) pliesOf(t *testing.T, play awari.Play) *int {
	plies := 1
	if play.Captured > 0 {
		return &plies
	}
	after := must.Get(line.Best(t.Context(), r.server.tables, play.Child, line.Options{}))(t)
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
			for _, e := range must.XML(t, svg) {
				forbidden := slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") })
				should.Not(t, forbidden || e.Name.Local == "script" || e.Name.Local == "style", "%s: %+v", c.Name, e)
			}
		}
		should.Hold(t, strings.Contains(c.Wide, `width="540"`) && strings.Contains(c.Narrow, `width="330"`), "%s has other sizes", c.Name)
	}
}

// TestLineErrors checks the answer when there is no line.
func TestLineErrors(t *testing.T) {
	for _, err := range []error{fmt.Errorf("high: %w", tables.ErrUnsolved), &line.LimitError{}, context.DeadlineExceeded} {
		b, ok := errors.AsType[badRequest](lineError(err))
		should.Hold(t, ok && b.status == http.StatusUnprocessableEntity, "%v: %v", err, lineError(err))
	}
	inside := errors.New("broken")
	should.Be(t, lineError(inside), inside)
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
	should.Hold(t, len(all.idle) == 2 && all.made == 2 && all.idle[0].engine == second, "%d engines are kept of %d", len(all.idle), all.made)
}
