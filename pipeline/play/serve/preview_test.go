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
	"grenier/pipeline/play/find"
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
		got := game.Text(board)
		should.Not(t, got != c.board || p.north != c.north || p.taken != c.taken,
			"%s: %s, north %v, taken %v; want %s, %v, %v", c.query, got, p.north, p.taken, c.board, c.north, c.taken)
		title := s.title(t.Context(), p)
		should.Not(t, c.title != "" && title != c.title, "%s: %q, want %q", c.query, title, c.title)
	}
}

// TestTitle calls a position a puzzle exactly if one of several moves wins and none draws.
func TestTitle(t *testing.T) {
	r := startFinding(t)
	space, puzzles := testrun.Space(t, r.server.tables.Game(), seeds), map[awari.Board]bool{}
	for _, hit := range r.found(4, 4, "only-win", find.First, 0, 1000).Found {
		puzzles[hit.Board] = true
	}
	for rank := range space.Size(4) {
		b := space.Unrank(4, rank)
		title := r.server.title(t.Context(), place{board: b, words: Languages["en"]})
		should.Equal(t, strings.Contains(title, "only one move wins"), puzzles[b], "%v", b)
	}
	should.Not(t, len(puzzles) == 0, "the layer has no puzzle")
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
	should.Has(t, page.body, `<meta property="og:title" content="Awari, after 1 move: North to move">`,
		`<meta property="og:image" content="https://`+r.address+`/preview.png?moves=C+{%22%3E%3Cscript%3E}&amp;at=1">`)
	page = r.get("/?moves=C&fb=1")
	should.Not(t, page.status != http.StatusOK || !strings.Contains(page.body, `content="http://`+r.address+`/preview.png"`),
		"an address that makes no sense: status %d, %s", page.status, page.body)
	should.Has(t, r.get("/?moves=C&lang=fr").body,
		`content="Awalé, après 1 coup`+"\u00a0"+`: au tour de Nord"`, `"og:locale" content="fr_FR"`, `/preview.png?moves=C&amp;lang=fr"`)
	should.Not(t, r.get("/preview.png?moves=C&lang=fr").body == r.get("/preview.png?moves=C").body, "the French picture is the English one")
	got := r.get("/icon.png")
	should.Hold(t, got.status == http.StatusOK && got.header.Get("Content-Type") == "image/png", "the icon: status %d", got.status)
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
