package serve

import (
	"context"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/play/find"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/picture"
	"grenier/pipeline/play/puzzle"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

func startFinding(t *testing.T) *running {
	tab, dir := openRun(t, testrun.Game(t, 12, awari.Awari))
	return start(t, Options{Tables: tab, Dir: dir, Family: cpu.Generic, Rate: 1e6})
}

// found searches the layers of a server beside it.
func (r *running) found(from, to int, where string, order find.Order, seed uint64, count int) *find.Result {
	o := find.Options{From: from, To: to, Condition: must.Get(find.Parse(where))(r.t), Order: order, Seed: seed, Count: count}
	return must.Get(find.Run(r.t.Context(), r.server.dir, o))(r.t)
}

// TestFind compares answers with what package find finds, in lines and otherwise; what is asked again is answered as before.
func TestFind(t *testing.T) {
	defer func(before time.Duration) { progressInterval = before }(progressInterval)
	progressInterval = 0
	r, progress := startFinding(t), false
	for target, want := range map[string]*find.Result{
		"seeds=4&random=7&count=100&where=only-win+moves>%3D3": r.found(4, 4, "only-win moves>=3", find.Random, 7, 100),
		"seeds=3..5&most=margin&count=9":                       r.found(3, 5, "", must.Get(find.Most("margin"))(t), 0, 9),
		"seeds=5":                                              r.found(5, 5, "", find.First, 0, 20),
	} {
		report := findReport{want.Rules, want.From, want.To, want.Condition, want.Order, want.Positions, want.Hits, nil}
		for _, hit := range want.Found {
			report.Found = append(report.Found, must.Get(r.server.newProbeReport(t.Context(), hit.Board))(t))
		}
		must.Not(t, len(report.Found) == 0, "%s: nothing is found", target)
		var lines strings.Builder
		for _, p := range report.Found {
			lines.WriteString(text(t, findLine{Found: p}))
		}
		short := report
		short.Found = nil
		lines.WriteString(text(t, findLine{Report: &short}))
		for i := range 2 { // searched, and kept
			got := r.want(200, "/api/find?"+target, "Accept", "application/json;q=0.5, "+linesType)
			should.Equal(t, got.header.Get("Content-Type"), linesType)
			found := regexp.MustCompile(`(?m)^\{"progress".*\n`).ReplaceAllString(got.body, "")
			should.Equal(t, found, lines.String(), "%s", target)
			should.Not(t, i == 1 && found != got.body, "%s: progress of a search that was over", target)
			progress = progress || found != got.body
			whole := ask[findReport](r, "/api/find?"+target)
			should.Equal(t, text(t, whole), text(t, report), "%s", target)
		}
	}
	should.Hold(t, progress, "no search tells how far it is")
	r.wantProblem(r.get("/api/find?seeds=9", "Accept", linesType), http.StatusBadRequest, "0 to 5")
	space := testrun.Space(t, r.server.tables.Game(), awari.MaxSeeds)
	should.Not(t, space.Size(16) > findPositions || space.Size(17) < findPositions, "docs/serve.md says that layer 16 is the largest")
}

// await asks for the hardest positions of a layer until they are there.
func (r *running) await(target string) hardestReport {
	tries.Await(r.t, target, func() bool { return r.get(target).status != http.StatusAccepted })
	return ask[hardestReport](r, target)
}

// TestHardest compares what is found in the background with what package find finds; the next layer follows.
func TestHardest(t *testing.T) {
	r := startFinding(t)
	for _, n := range []int{4, 3} {
		first := r.get(fmt.Sprint("/api/hardest?seeds=", n))
		must.Not(t, first.status != http.StatusAccepted && first.status != http.StatusOK, "status %d, %s", first.status, first.body)
	}
	for _, n := range []int{4, 3} {
		want, got := r.found(n, n, "only-win", must.Get(find.Most("line"))(t), 0, hardestCount), r.await(fmt.Sprint("/api/hardest?seeds=", n))
		must.Hold(t, got.Complete && got.Seeds == n && got.Rules == "awari" && got.Hits == want.Hits && got.Done == want.Positions &&
			got.Positions == want.Positions && got.Unmeasured == 0 && len(got.Found) == len(want.Found) && got.Hits > 0, "%+v, want %+v", got, want)
		for i, p := range got.Found {
			best := must.Get(line.Best(t.Context(), r.server.tables, want.Found[i].Board, line.Options{}))(t)
			should.Hold(t, testrun.BoardOf(p.Pits) == want.Found[i].Board && p.Line == len(best.Moves), "place %d: %+v", i, p)
		}
	}
}

// TestHardestFails lets a search fail: who asks learns it, and the next one begins another.
func TestHardestFails(t *testing.T) {
	s, log := newServer(t, Options{Dir: "nowhere"})
	empty := hardestReport{Seeds: 2}
	must.OK(t, must.Err(s.hardest.ask(empty)))
	must.Equal(t, <-s.hardest.wanted, 2, "layer")
	err := s.seekHardestOf(t.Context(), 2)
	must.Not(t, err == nil, "a directory that is not there was searched")
	s.hardest.fail(2, err)
	should.Be(t, must.Err(s.hardest.ask(empty)), err)
	should.OK(t, must.Err(s.hardest.ask(empty)))
	should.Equal(t, len(s.hardest.wanted), 1, "asked again")
	should.Equal(t, log.String(), "")
}

// TestPuzzles asks for puzzles, and for each of them again by its board.
func TestPuzzles(t *testing.T) {
	r := startFinding(t)
	got := ask[puzzlesReport](r, "/api/puzzles?seeds=4..5&random=7&count=8&rating=10..90")
	want := must.Get(puzzle.Draw(t.Context(), r.server.tables, puzzle.Options{From: 4, To: 5, Seed: 7, Count: 8, Least: 10, Most: 90}))(t)
	must.Equal(t, text(t, got), text(t, puzzlesReport{"awari", want}))
	must.Equal(t, len(want), 8, "puzzles")
	for i, z := range got.Puzzles {
		one := ask[puzzlesReport](r, "/api/puzzles?pits="+query(want[i].Board, 12))
		should.Equal(t, text(t, one.Puzzles), text(t, []puzzle.Puzzle{z}))
	}
	for _, pits := range []string{"1,0,0,0,0,0,1,0,0,0,0,0", "4,4,4,4,4,4,4,4,4,4,4,4"} {
		should.Equal(t, len(ask[puzzlesReport](r, "/api/puzzles?pits="+pits).Puzzles), 0, "%s: puzzles", pits)
	}
}

// TestSearch compares bounds with the true scores of boards that the server does not have.
func TestSearch(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	const more = seeds + 3
	truth := testrun.NewTable(t, game, more)
	r := start(t, Options{Tables: openTables(t, game), Rate: 1e6})
	for rank := uint64(0); rank < truth.Size(more); rank += 7 {
		b := truth.Unrank(more, rank)
		got := ask[searchReport](r, "/api/search?ms=4&pits="+query(b, game.Pits()))
		want := truth.Worth(b)
		must.Hold(t, got.Lower <= want && want <= got.Upper && got.Exact == (got.Lower == got.Upper) && got.Seeds == more,
			"%s is worth %d: %+v", game.Text(b), want, got)
		plays := game.Plays(b)
		for pit, play := range plays[:game.Half()] {
			m := got.Moves[pit]
			must.Hold(t, m.Legal == play.Legal && m.Legal == (m.Lower != nil), "%s, pit %d: %+v", game.Text(b), pit, m)
			if m.Legal {
				want := play.Captured - truth.Worth(play.Child)
				must.Hold(t, *m.Lower <= want && want <= *m.Upper, "%s, pit %d is worth %d: %d to %d", game.Text(b), pit, want, *m.Lower, *m.Upper)
			}
		}
	}
	r.wantProblem(r.get("/api/search?pits=1"), http.StatusBadRequest, "expected 6 pits")
}

// TestLine compares answers about all boards of a layer with the best lines of package line, and distances with where those capture or end.
func TestLine(t *testing.T) {
	game := testrun.Game(t, 6, awari.Awari)
	r := start(t, Options{Tables: openTables(t, game), Rate: 1e6})
	forced := 0
	for _, b := range testrun.Boards(testrun.Space(t, game, seeds), seeds, seeds) {
		got := ask[lineReport](r, "/api/line?pits="+query(b, game.Pits()))
		best := must.Get(line.Best(t.Context(), r.server.tables, b, line.Options{}))(t)
		want := lineReport{game.Rules().String(), game.Numbers(b), best.Value, []lineMove{}, best.End.String()}
		for _, m := range best.Moves {
			want.Moves = append(want.Moves, lineMove{m.Pit, m.Captured, m.Value})
		}
		must.Equal(t, text(t, got), text(t, want), "%s", game.Text(b))
		far := ask[distancesReport](r, "/api/distances?pits="+query(b, game.Pits()))
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
	for _, err := range []error{fmt.Errorf("high: %w", tables.ErrUnsolved), &line.LimitError{}, context.DeadlineExceeded} {
		should.Equal(t, must.As[badRequest](t, lineError(err)).status, http.StatusUnprocessableEntity, "%v: status", err)
	}
	should.Be(t, lineError(io.ErrShortWrite), io.ErrShortWrite)
}

// pliesOf returns the plies to the next capture or the end from a move on, by the best line after it; nil if nothing is forced.
func (r *running) pliesOf(t *testing.T, play awari.Play) *int {
	if play.Captured > 0 {
		return new(1)
	}
	after := must.Get(line.Best(t.Context(), r.server.tables, play.Child, line.Options{}))(t)
	for i, m := range after.Moves {
		if m.Captured > 0 && (after.Value != 0 || i == 0) {
			return new(i + 2)
		}
	}
	if after.Value == 0 && len(after.Moves) > 0 {
		return nil
	}
	return new(len(after.Moves) + 2)
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
	r := start(t, Options{}, func(l *limits) { l.queue = time.Millisecond })
	q := r.server.searches
	must.Hold(t, q.all.TryAcquire(int64(q.most)), "turns are taken")
	const board = "?pits=1,1,0,0,0,0,0,0,0,0,0,0"
	for _, target := range []string{"/api/search", "/api/line"} {
		r.wantProblem(r.get(target+board), http.StatusServiceUnavailable, "busy")
	}
	r.want(200, "/api/probe"+board)
	q.all.Release(1)
	r.want(200, "/api/line"+board)
}

// TestStopWhileSearching stops a server that is searching: the search ends early.
func TestStopWhileSearching(t *testing.T) {
	r := start(t, Options{})
	answered := make(chan reply)
	go func() { answered <- r.get("/api/search?ms=5000&pits=4,4,4,4,4,4,4,4,4,4,4,4") }()
	tries.Await(t, "a search", func() bool { return !r.server.searches.isIdle() })
	r.stop()
	r.wantProblem(<-answered, http.StatusServiceUnavailable, "stopping")
}

// TestCharts checks that drawings are well-formed and have nothing that the policy of the page forbids.
func TestCharts(t *testing.T) {
	r := start(t, Options{})
	all := ask[struct{ Charts []drawnChart }](r, "/api/charts")
	scores := ask[drawnChart](r, "/api/charts/scores?seeds=5")
	should.Not(t, len(all.Charts) < 2 || all.Charts[0].Name != "outcome", "%d charts", len(all.Charts))
	should.Equal(t, scores.Title, "Scores with 5 seeds")
	for _, c := range append(all.Charts, scores) {
		for width, svg := range map[string]string{"540": c.Wide, "330": c.Narrow} {
			for _, e := range must.XML(t, svg) {
				forbidden := slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") })
				should.Not(t, forbidden || e.Name.Local == "script" || e.Name.Local == "style", "%s: %+v", c.Name, e)
			}
			should.Has(t, svg, `width="`+width+`"`)
		}
	}
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
	should.Equal(t, all.take(blocks, x), first, "the engine that knows the board")
	should.Equal(t, all.take(blocks, z), second, "as many engines as there may be")
	fourth := all.take(blocks, z)
	must.Not(t, fourth == nil || fourth == first || fourth == second, "no engine although none is there")
	for i, e := range []*search.Engine{first, second, fourth} {
		all.give(e, awari.Board{uint8(i)})
	}
	should.Hold(t, len(all.idle) == 2 && all.made == 2 && all.idle[0].engine == second, "%d engines are kept of %d", len(all.idle), all.made)
}

// TestPlace reads addresses of the page.
func TestPlace(t *testing.T) {
	s, _ := newServer(t, Options{})
	game := s.tables.Game()
	for _, c := range []struct {
		query, board, title string
		north               bool
		taken               [2]int
	}{
		{"", "4 4 4 4 4 4 4 4 4 4 4 4", "Awari: South to move", false, [2]int{}},
		{"moves=C", "4 4 0 5 5 5 5 4 4 4 4 4", "Awari, after 1 move: North to move", true, [2]int{}},
		{"moves=C(Ab)d", "5 5 0 5 5 5 5 4 4 0 5 5", "", false, [2]int{}},
		{"moves=Cd&at=1", "4 4 0 5 5 5 5 4 4 4 4 4", "", true, [2]int{}},
		{"moves=C&lang=fr", "4 4 0 5 5 5 5 4 4 4 4 4", "Awalé, après 1 coup\u00a0: au tour de Nord", true, [2]int{}},
		{"moves=CdC&lang=fr", "5 5 0 5 5 5 5 4 4 0 5 5", "Awalé, après 2 coups\u00a0: au tour de Sud", false, [2]int{}},
		{"moves=CdC", "5 5 0 5 5 5 5 4 4 0 5 5", "Awari, after 2 moves: South to move", false, [2]int{}},
		{"moves=1.+C+d+{good}+2.+C+*&seats=you,0", "5 5 0 5 5 5 5 4 4 0 5 5", "Awari, after 2 moves: South to move", false, [2]int{}},
		{"moves=CD", "4 4 0 5 5 5 5 4 4 4 4 4", "Awari, after 1 move: North to move", true, [2]int{}},
		{"moves=Cd&at=0", "4 4 4 4 4 4 4 4 4 4 4 4", "Awari: South to move", false, [2]int{}},
		{"pits=1,0,0,0,0,2,1,1,0,0,0,1&turn=south&moves=F&taken=3,1", "1 0 0 0 0 0 0 0 0 0 0 1", "", true, [2]int{7, 1}},
		{"pits=0,0,0,0,0,1,1,0,0,0,0,0&turn=north", "0 0 0 0 0 1 1 0 0 0 0 0", "Awari: North to move", true, [2]int{}},
	} {
		p := must.Get(s.readPlace(c.query))(t)
		board := p.board
		if p.north {
			board = game.Turn(board)
		}
		should.Equal(t, fmt.Sprint(game.Text(board), p.north, p.taken), fmt.Sprint(c.board, c.north, c.taken), "%s", c.query)
		if c.title != "" {
			should.Equal(t, s.title(t.Context(), p), c.title, "%s", c.query)
		}
	}
}

// TestTitle calls a position a puzzle exactly if one of several moves wins and none draws.
func TestTitle(t *testing.T) {
	r := startFinding(t)
	puzzles := map[awari.Board]bool{}
	for _, hit := range r.found(4, 4, "only-win", find.First, 0, 1000).Found {
		puzzles[hit.Board] = true
	}
	must.Not(t, len(puzzles) == 0, "the layer has no puzzle")
	for _, b := range testrun.Boards(testrun.Space(t, r.server.tables.Game(), 4), 4, 4) {
		title := r.server.title(t.Context(), place{board: b, words: Languages["en"]})
		should.Equal(t, strings.Contains(title, "only one move wins"), puzzles[b], "%v", b)
	}
}

// TestPreview asks for pictures and for what links say about pages.
func TestPreview(t *testing.T) {
	r := start(t, Options{Pages: map[string][]byte{"index.html": []byte("<!doctype html><head><title>page</title></head>")}})
	first := r.want(200, "/preview.png")
	must.Hold(t, first.header.Get("Content-Type") == "image/png" && first.header.Get("ETag") != "", "%v", first.header)
	shown := map[string]string{}
	for _, query := range []string{"moves=C", "moves=C&lang=fr", "pits=0,0,0,0,0,1,1,0,0,0,0,0&turn=north", "seats=you,you"} {
		shown[query] = r.want(200, "/preview.png?"+query).body
		img := must.Get(png.DecodeConfig(strings.NewReader(shown[query])))(t)
		should.Equal(t, img.Width, picture.Width, "%s: width", query)
		should.Equal(t, shown[query] == first.body, strings.Contains(query, "seats"), "%s: the first picture", query)
	}
	should.Not(t, shown["moves=C&lang=fr"] == shown["moves=C"], "the French picture is the English one")
	page := r.get("/?moves=C+{%22%3E%3Cscript%3E}&at=1", "X-Forwarded-Proto", "https")
	should.Has(t, page.body, `<meta property="og:title" content="Awari, after 1 move: North to move">`,
		`<meta property="og:image" content="https://`+r.address+`/preview.png?moves=C+{%22%3E%3Cscript%3E}&amp;at=1">`)
	should.Has(t, r.want(200, "/?moves=C&fb=1").body, `content="http://`+r.address+`/preview.png"`) // an address that makes no sense
	should.Has(t, r.get("/?moves=C&lang=fr").body,
		`content="Awalé, après 1 coup`+"\u00a0"+`: au tour de Nord"`, `"og:locale" content="fr_FR"`, `/preview.png?moves=C&amp;lang=fr"`)
	should.Equal(t, r.want(200, "/icon.png").header.Get("Content-Type"), "image/png")
}

// TestBadQueries sends queries that make no sense; one parser refuses those about a board, whatever they ask.
func TestBadQueries(t *testing.T) {
	r := startFinding(t)
	const (
		board                  = "pits=1,0,0,0,0,2,1,1,0,0,0,1"
		begin                  = "pits=4,4,4,4,4,4,4,4,4,4,4,4&"
		many                   = "99999999999999999999"
		numbers, within, taken = "must be 0 to 48", "must be 0 to 1", "two numbers of seeds"
	)
	for paths, queries := range map[string]map[string]string{
		"preview.png api/probe api/line api/search api/game": {
			"pits=": "got 1", "pits=1,2,3": "got 3", board + ",0": "got 13", "pits=%22" + board[5:] + "%22": numbers,
			"pits=x,0,0,0,0,2,1,1,0,0,0,1": numbers, "pits=-1,0,0,0,0,2,1,1,0,0,0,1": numbers, "pits=1.0,0,0,0,0,2,1,1,0,0,0,1": numbers,
			"pits=" + many + ",0,0,0,0,0,0,0,0,0,0,0": numbers, "pits=49,0,0,0,0,0,0,0,0,0,0,0": numbers,
			"pits=40,9,0,0,0,0,0,0,0,0,0,0": "more than 48", "pits=1;0": "cannot be read", "pits=%zz": "cannot be read",
			board + "&" + board: "given 2 times", board + "&PITS=1": "unknown parameter", board + "&fly=1": "unknown parameter",
		},
		"preview.png api/game": {board + "&moves=F&moves=F": "given 2 times"},
		"preview.png": {
			board + "&moves=5": "means nothing", "moves=G": "means nothing", "moves=((": "has no place", "moves=C()": "has no place",
			"moves=C)": "has no place", "moves=C(D": "a ) is missing",
			"moves=" + strings.Repeat("Aa", maxMoves/2) + "A": "1000 moves at most", "turn=up": "must be south or north",
			"turn=": "must be south or north", "taken=1": taken, "taken=1,2,3": taken, "taken=-1,0": taken, "taken=you,0": taken,
			"taken=1,0": "these are 49 seeds", "moves=C&at=2": within, "moves=C&at=-1": within, "moves=C&at=": within, "seats=you": taken,
			"seats=you,they": taken, "seats=49,you": taken, "lang=xx": "must be en or fr",
		},
		"api/game": {
			"moves=1": "pits is missing", begin + "moves=6": "must be a pit, 0 to 5", begin + "moves=-1": "must be a pit, 0 to 5",
			begin + "moves=x": "must be a pit, 0 to 5", begin + "moves=" + many: "must be a pit, 0 to 5", begin + "moves=1,,2": "move 2 is",
			begin + "moves=0" + strings.Repeat(",0", 1e3): "at most 1000", begin + "moves=0&turn=south": "unknown parameter",
		},
		"api/search": {
			board + "&ms=0": "1 to 5000", board + "&ms=5001": "1 to 5000", board + "&ms=x": "1 to 5000", board + "&ms=-1": "1 to 5000",
			board + "&ms=": "1 to 5000", board + "&ms=" + many: "1 to 5000", "ms=1": "pits is missing",
		},
		"api/charts/scores": {"": "", "seeds=": "", "seeds=6": "", "seeds=-1": "", "seeds=x": "", "layer=1": ""},
		"api/find api/hardest api/puzzles": {
			"": "seeds is", "seeds=x": "seeds is", "seeds=" + many: "seeds is", "seeds=6": "0 to 5", "seeds=-1": "0 to 5",
			"seeds=2&dir=/etc": "unknown parameter",
		},
		"api/find": {
			"seeds=3..2": "0 to 5", "seeds=2&where=good": "where:", "seeds=2&where=value%3Dx": "where:",
			"seeds=2&where=p12%3D1": "condition", "seeds=2&where=line%3E3": "line takes too long",
			"seeds=2&most=line": "line takes too long", "seeds=2&most=beauty": "most:", "seeds=2&most=value&random=1": "not both",
			"seeds=2&count=0": "1 to 100", "seeds=2&count=101": "1 to 100", "seeds=2&count=x": "1 to 100", "seeds=2&random=-1": "random is",
			"seeds=2&state=/tmp/x": "unknown parameter", "seeds=2&seeds=3": "given 2 times",
		},
		"api/hardest": {"seeds=1..2": "expected one layer", "seeds=1&count=3": "unknown parameter"},
		"api/puzzles": {
			"seeds=5&theme=beauty": "there is no theme", "seeds=5&rating=40": "rating is", "seeds=5&rating=a..b": "rating is",
			"seeds=5&rating=50..40": "ratings 50 to 40", "seeds=5&rating=0..101": "ratings 0 to 101", "seeds=5&count=51": "1 to 50",
			"seeds=5&random=-1": "random is", "seeds=5&pits=1": "give it alone", "pits=1": "pit", begin[:len(begin)-2] + "5": "seeds",
			"seeds=5&where=only-win": "unknown parameter", "pits=0,0,0,0,0,0,0,0,0,0,0,0&seed=1": "unknown parameter",
		},
	} {
		for path := range strings.FieldsSeq(paths) {
			for query, want := range queries {
				r.wantProblem(r.get("/"+path+"?"+query), http.StatusBadRequest, want)
			}
		}
	}
	for _, path := range []string{"find", "hardest"} {
		r.wantProblem(start(t, Options{}).get("/api/"+path+"?seeds=2"), http.StatusNotFound, "nothing here") // without a directory
	}
}
