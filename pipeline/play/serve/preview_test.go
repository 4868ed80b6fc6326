package serve

import (
	"bytes"
	"errors"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
	"grenier/pipeline/play/picture"
)

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
		if got := game.Text(board); got != c.board || p.north != c.north || p.taken != c.taken {
			t.Errorf("%s: %s, north %v, taken %v; want %s, %v, %v", c.query, got, p.north, p.taken, c.board, c.north, c.taken)
		}
		got := s.title(t.Context(), p)
		should.Not(t, c.title != "" && got != c.title, "%s: %q, want %q", c.query, got, c.title)
	}
}

// TestTitle calls a position a puzzle exactly if one of several moves wins and none draws.
func TestTitle(t *testing.T) {
	s, _ := newServer(t, Options{})
	space := must.Get(awari.NewSpace(s.tables.Game(), seeds))(t)
	puzzles := 0
	for rank := range space.Size(4) {
		board := space.Unrank(4, rank)
		report := must.Get(s.newProbeReport(t.Context(), board))(t)
		want := isOnlyWin(report)
		if want {
			puzzles++
		}
		should.Equal(t, strings.Contains(s.title(t.Context(), place{board: board, words: Languages["en"]}), "only one move wins"), want,
			"%+v", report)
	}
	should.Not(t, puzzles == 0, "the layer has no puzzle")
}

// TestPreview asks for pictures and for what links say about pages.
func TestPreview(t *testing.T) {
	r := start(t, Options{Pages: map[string][]byte{"index.html": []byte("<!doctype html><head><title>page</title></head>")}})
	first := r.get("/preview.png")
	must.Hold(t, first.status == http.StatusOK && first.header.Get("Content-Type") == "image/png" && first.header.Get("ETag") != "",
		"status %d, %v", first.status, first.header)
	for _, query := range []string{"?moves=C", "?pits=0,0,0,0,0,1,1,0,0,0,0,0&turn=north", "?seats=you,you"} {
		got := r.get("/preview.png" + query)
		img, err := png.Decode(strings.NewReader(got.body))
		should.Hold(t, err == nil && img.Bounds().Dx() == picture.Width && bytes.Equal([]byte(got.body), []byte(first.body)) == strings.Contains(query, "seats"),
			"%s: %v", query, err)
	}
	page := r.get("/?moves=C+{%22%3E%3Cscript%3E}&at=1", "X-Forwarded-Proto", "https")
	for _, want := range []string{
		`<meta property="og:title" content="Awari, after 1 move: North to move">`,
		`<meta property="og:image" content="https://` + r.address + `/preview.png?moves=C+{%22%3E%3Cscript%3E}&amp;at=1">`,
	} {
		should.Hold(t, strings.Contains(page.body, want), "no %s in %s", want, page.body)
	}
	if page := r.get("/?moves=C&fb=1"); page.status != http.StatusOK || !strings.Contains(page.body, `content="http://`+r.address+`/preview.png"`) {
		t.Errorf("an address that makes no sense: status %d, %s", page.status, page.body)
	}
	french := r.get("/?moves=C&lang=fr").body
	for _, want := range []string{`content="Awalé, après 1 coup` + "\u00a0" + `: au tour de Nord"`, `"og:locale" content="fr_FR"`, `/preview.png?moves=C&amp;lang=fr"`} {
		should.Hold(t, strings.Contains(french, want), "no %s in %s", want, french)
	}
	should.Not(t, r.get("/preview.png?moves=C&lang=fr").body == r.get("/preview.png?moves=C").body, "the French picture is the English one")
	got := r.get("/icon.png")
	should.Hold(t, got.status == http.StatusOK && got.header.Get("Content-Type") == "image/png", "the icon: status %d", got.status)
}

// TestBadQueries sends queries that make no sense, those about a board to the interface too: one parser refuses them.
func TestBadQueries(t *testing.T) {
	r := start(t, Options{})
	const board = "pits=1,0,0,0,0,2,1,1,0,0,0,1"
	for _, c := range []struct {
		query, want string
		of          []string // paths beside /preview.png, which refuse it for the same reason
	}{
		{"pits=", "got 1", []string{"probe", "line", "search", "game"}},
		{"pits=1,2,3", "got 3", []string{"probe", "line", "search", "game"}},
		{board + ",0", "got 13", []string{"probe", "line", "search", "game"}},
		{"pits=%22" + board[5:] + "%22", "must be 0 to 48", []string{"probe", "line", "search", "game"}},
		{"pits=x,0,0,0,0,2,1,1,0,0,0,1", "must be 0 to 48", []string{"probe", "line", "search", "game"}},
		{"pits=-1,0,0,0,0,2,1,1,0,0,0,1", "must be 0 to 48", []string{"probe", "line", "search", "game"}},
		{"pits=1.0,0,0,0,0,2,1,1,0,0,0,1", "must be 0 to 48", []string{"probe", "line", "search", "game"}},
		{"pits=1;0", "cannot be read", []string{"probe", "line", "search", "game"}},
		{"pits=%zz", "cannot be read", []string{"probe", "line", "search", "game"}},
		{"pits=99999999999999999999,0,0,0,0,0,0,0,0,0,0,0", "must be 0 to 48", []string{"probe", "line", "search", "game"}},
		{"pits=49,0,0,0,0,0,0,0,0,0,0,0", "must be 0 to 48", []string{"probe", "line", "search", "game"}},
		{"pits=40,9,0,0,0,0,0,0,0,0,0,0", "more than 48", []string{"probe", "line", "search", "game"}},
		{board + "&" + board, "given 2 times", []string{"probe", "line", "search", "game"}},
		{board + "&PITS=1", "unknown parameter", []string{"probe", "line", "search", "game"}},
		{board + "&fly=1", "unknown parameter", []string{"probe", "line", "search", "game"}},
		{board + "&moves=F&moves=F", "given 2 times", []string{"game"}},
		{board + "&moves=5", "means nothing", nil},
		{"moves=G", "means nothing", nil},
		{"moves=((", "has no place", nil},
		{"moves=C()", "has no place", nil},
		{"moves=C)", "has no place", nil},
		{"moves=C(D", "a ) is missing", nil},
		{"moves=" + strings.Repeat("Aa", maxMoves/2) + "A", "1000 moves at most", nil},
		{"turn=up", "must be south or north", nil},
		{"turn=", "must be south or north", nil},
		{"taken=1", "two numbers of seeds", nil},
		{"taken=1,2,3", "two numbers of seeds", nil},
		{"taken=-1,0", "two numbers of seeds", nil},
		{"taken=you,0", "two numbers of seeds", nil},
		{"taken=1,0", "these are 49 seeds", nil},
		{"moves=C&at=2", "must be 0 to 1", nil},
		{"moves=C&at=-1", "must be 0 to 1", nil},
		{"moves=C&at=", "must be 0 to 1", nil},
		{"seats=you", "two numbers of seeds", nil},
		{"seats=you,they", "two numbers of seeds", nil},
		{"seats=49,you", "two numbers of seeds", nil},
		{"lang=xx", "must be en or fr", nil},
	} {
		r.wantProblem(r.get("/preview.png?"+c.query), http.StatusBadRequest, c.want)
		for _, path := range c.of {
			r.wantProblem(r.get("/api/"+path+"?"+c.query), http.StatusBadRequest, c.want)
		}
	}
}

// FuzzPlace reads any address: what is read is a board of the game, by legal moves.
func FuzzPlace(f *testing.F) {
	game := testrun.Game(f, 12, awari.Awari)
	s, _ := newServer(f, Options{Tables: openTables(f, game)})
	for _, query := range []string{"", "moves=Cd(Fa)E&at=3", "pits=1,0,0,0,0,2,1,1,0,0,0,0&turn=north&taken=3,1", "moves=)))(((", "at=-5&moves=C"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := s.readPlace(raw)
		if _, refused := errors.AsType[badRequest](err); refused {
			return
		}
		should.Not(t, err != nil || p.board.Seeds() > awari.MaxSeeds || len(s.title(t.Context(), p)) == 0, "%q: %+v", raw, p)
	})
}
