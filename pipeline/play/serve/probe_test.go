package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
)

func query(b awari.Board, pits int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(b[:pits]), "[]"), " ", ",")
}

// TestLongProbe compares the answers for every board of small layers, of most rule sets for some in short tests, and some beyond them, with the tables and with the rules, and those for
// many boards at once with those for each. They have the plies that the tables know, also of zero, and none where they know none.
func TestLongProbe(t *testing.T) {
	for _, rules := range awari.RuleSets() {
		game := testrun.Game(t, 6, rules)
		tab, dir := openRun(t, game)
		must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Layers: []int{2, 4}, Job: job.Job{Family: cpu.Generic}})))
		r := start(t, Options{Tables: tab, Dir: dir, Rate: 1e6})
		space := testrun.Space(t, game, seeds+2)
		var boards []string
		var answers []json.RawMessage
		for n := range seeds + 3 {
			for rank := uint64(0); rank < space.Size(n); rank += 1 + uint64(max(0, n-seeds, tries.More(int(rules), 0)))*3 { // fewer of those that are not solved
				b := space.Unrank(n, rank)
				boards, answers = append(boards, "["+query(b, game.Pits())+"]"), append(answers, r.checkProbe(game, b, n))
			}
		}
		for len(boards) < maxBoards {
			boards, answers = append(boards, boards...), append(answers, answers...)
		}
		many := must.JSON[struct {
			Rules  string
			Boards []json.RawMessage
		}](t, r.post("/api/probes", `{"boards":[`+strings.Join(boards[:maxBoards], ",\n          ")+`]}`).body)
		must.Hold(t, len(many.Boards) == maxBoards && many.Rules == rules.String(), "%d boards, rules %s", len(many.Boards), many.Rules)
		for i, one := range many.Boards {
			must.Equal(t, string(one), string(answers[i]))
		}
		found := ask[findReport](r, "/api/find?seeds=4&where=value%3E%3D1&count=5")
		must.Equal(t, len(found.Found), 5, "positions")
		for _, p := range found.Found {
			plies, _, err := tab.Distance(t.Context(), testrun.BoardOf(p.Pits))
			should.Not(t, err != nil || p.Plies == nil || *p.Plies != plies || plies == 0, "%v: %s, want %d (%v)", p.Pits, show(p.Plies), plies, err)
		}
	}
}

func (r *running) checkProbe(game awari.Game, b awari.Board, n int) (answer json.RawMessage) {
	answer = ask[json.RawMessage](r, "/api/probe?pits="+query(b, game.Pits()))
	got := must.JSON[probeReport](r.t, answer)
	plays, legal := game.Plays(b), false
	for pit := range game.Half() {
		legal = legal || plays[pit].Legal
		r.checkMove(game, b, plays[pit], got.Moves[pit])
	}
	must.Hold(r.t, got.Seeds == n && got.Rules == game.Rules().String() && got.Solved == (n <= seeds) && got.Over != legal && len(got.Moves) == game.Half(),
		"%s: %+v", game.Text(b), got)
	want := bestOf(got.Moves)
	switch {
	case !legal:
		want = new(-b.Seeds())
	case slices.ContainsFunc(got.Moves, func(m moveInfo) bool { return m.Legal && m.Value == nil }):
		want = nil
	}
	must.Equal(r.t, show(got.Value), show(want), "%s: value", game.Text(b))
	if !got.Solved {
		return answer
	}
	plies := must.Get(r.server.tables.Plies(r.t.Context(), must.Get(r.server.tables.Probe(r.t.Context(), b))(r.t)))(r.t)
	must.Hold(r.t, show(got.Plies) == show(plies.Board) && (got.Plies != nil) == (n == 2 || n == 4), "board %s: %+v, want %+v", game.Text(b), got, plies)
	for i, m := range got.Moves {
		must.Hold(r.t, show(m.Plies) == show(plies.Moves[i]) && (m.Plies != nil) == (m.Legal && got.Plies != nil), "board %s: %+v", game.Text(b), m)
	}
	return answer
}

// checkMove compares an answer about a move with the rules: seeds sown and taken one by one must give the child.
func (r *running) checkMove(game awari.Game, b awari.Board, play awari.Play, got moveInfo) {
	must.Hold(r.t, got.Legal == play.Legal && got.Starves == play.Starves && got.Captured == play.Captured,
		"%s, pit %d: %+v, want %+v", game.Text(b), got.Pit, got, play)
	if !play.Legal {
		must.Hold(r.t, got.Child == nil && got.Sown == nil && got.Taken == nil && got.Value == nil, "%s: not legal, but %+v", game.Text(b), got)
		return
	}
	board, taken := b, 0
	board[got.Pit] = 0
	for _, pit := range got.Sown {
		board[pit]++
	}
	for _, pit := range got.Taken {
		taken += int(board[pit])
		board[pit] = 0
	}
	must.Hold(r.t, game.Turn(board) == play.Child && taken == play.Captured && len(got.Sown) == int(b[got.Pit]) &&
		slices.Equal(got.Child, game.Numbers(play.Child)), "%s, pit %d: %+v, want %+v", game.Text(b), got.Pit, got, play)
	want := "-"
	if score, err := r.server.tables.Score(r.t.Context(), play.Child); err == nil {
		want = strconv.Itoa(play.Captured - int(score))
	}
	must.Equal(r.t, show(got.Value), want, "%s, pit %d: value", game.Text(b), got.Pit)
}

// TestProbeText compares an answer with its text.
func TestProbeText(t *testing.T) {
	r := start(t, Options{})
	got := r.want(200, "/api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1")
	want := `{"rules":"awari","seeds":5,"pits":[0,0,0,0,0,2,1,1,0,0,0,1],"solved":true,"over":false,"value":5,"moves":[`
	for pit := range 5 {
		want += fmt.Sprintf(`{"pit":%d,"legal":false,"starves":false,"captured":0,"value":null},`, pit)
	}
	want += `{"pit":5,"legal":true,"starves":false,"captured":4,"value":5,"child":[0,0,0,0,0,1,0,0,0,0,0,0],"sown":[6,7],"taken":[6,7]}]}` + "\n"
	should.Equal(t, got.body, want)
	post := r.do(http.MethodPost, "/api/probe", `{"pits":[0,0,0,0,0,2,1,1,0,0,0,1]}`, "Content-Type", "application/json; charset=utf-8")
	should.Equal(t, post.body, want)
}

// TestBadProbes sends bodies that make no sense, about one board and about many.
func TestBadProbes(t *testing.T) {
	r := start(t, Options{})
	const (
		board           = "0,0,0,0,0,2,1,1,0,0,0,1"
		good            = `{"pits":[` + board + `]}`
		number, invalid = "must be 0 to 48", "invalid character"
	)
	for body, want := range map[string]string{
		"": "EOF", "{": "EOF", "[]": "no object", "null": "no object", `[{"pits":[` + board + `]}]`: "no object",
		"[" + strings.Repeat("[", 15000): "no object", "{}": "member pits is missing", `{"pits":null}`: "is no list",
		`{"pits":{}}`: "is no list", `{"pits":"` + board + `"}`: "is no list", `{"pits":[{"a":1},` + board[2:] + `]}`: number,
		`{"pits":["0",` + board[2:] + `]}`: number, `{"pits":[null,` + board[2:] + `]}`: number,
		`{"pits":[true,` + board[2:] + `]}`: number, `{"pits":[[0],` + board[2:] + `]}`: number, `{"pits":[1.5,` + board[2:] + `]}`: number,
		`{"pits":[-1,` + board[2:] + `]}`: number, `{"pits":[1e1,` + board[2:] + `]}`: number, `{"pits":[1,2]}`: "got 2",
		`{"pits":["x"]}`: "got 1", good[:len(good)-1] + "," + good[1:]: "there twice", `{"\u0070its":[1],` + good[1:]: "there twice",
		`{"PITS":[` + board + `]}`: "unknown", `{"pit\u017f":[` + board + `]}`: "unknown", good[:len(good)-1] + `,"Pits":[1]}`: "unknown",
		`{"pits":[1],"more":2}`: "unknown", good[:len(good)-1] + `,}`: invalid, `{,` + good[1:]: invalid, `{pits:[` + board + `]}`: invalid,
		"\xff\xfe\x00": invalid, good + "x": "something follows", `{"pits":[1]}{}`: "something follows",
		`{"pits":` + strings.Repeat("[", 15000): "max depth",
	} {
		r.wantProblem(r.post("/api/probe", body), http.StatusBadRequest, want)
	}
	for _, body := range []string{`{"pits":[` + strings.Repeat("1,", 20000) + `1]}`, `{"pits":[1]}` + strings.Repeat(" ", 20000)} {
		r.wantProblem(r.post("/api/probe", body), http.StatusRequestEntityTooLarge, "more than 16384 bytes")
	}
	for kind, want := range map[string]string{
		"text/plain": "application/json", "": "application/json", "application/json; charset=utf-16": "UTF-8",
		"application/json; charset=utf-8; charset=utf-16": "UTF-8", "application/json; version=1": "UTF-8",
	} {
		r.wantProblem(r.do(http.MethodPost, "/api/probe", good, "Content-Type", kind), http.StatusUnsupportedMediaType, want)
	}
	for _, kind := range []string{"application/json;", "Application/JSON; Charset=\"UTF-8\""} {
		should.Has(t, r.do(http.MethodPost, "/api/probe", good, "Content-Type", kind).body, `"value":5`)
	}
	for _, more := range []string{"Content-Type", "Content-Encoding"} {
		r.wantProblem(r.post("/api/probe", good, more, "application/json"), http.StatusUnsupportedMediaType, "not compressed")
	}
	for _, body := range []string{
		`{"pits":[` + strings.Repeat("9", 15000) + `]}`, `{"pits":[0,0,0,0,0,0,0,0,0,0,0,1e` + strings.Repeat("9", 15000) + `]}`,
		`{"` + strings.Repeat("a", 15000) + `":1}`, strings.Repeat(`{"pits":`, 2000),
	} {
		got := r.post("/api/probe", body)
		r.wantProblem(got, http.StatusBadRequest, "")
		should.Not(t, len(got.body) > 2*maxReason, "%.30s: an answer of %d bytes", body, len(got.body))
	}
	r.wantProblem(r.post("/api/probe?pits=1", `{}`), 400, "no parameters")
	many := strings.Repeat("["+board+"],", maxBoards)
	for body, want := range map[string]string{
		`{"boards":[]}`: "0 boards: must be 1 to 1000", `{"boards":[` + many + `[]]}`: "1001 boards: must be 1 to 1000",
		`{"boards":[[` + board + `],[1]]}`: "board 1 (from 0): ", `{"boards":[[` + board + `],` + board + `]}`: "is no list",
		`{"boards":[[` + board + `],{"pits":1}]}`: "board 1 (from 0): ", `{"boards":[[` + board + `],null]}`: "is no list",
		`{"boards":[[99,0,0,0,0,0,0,0,0,0,0,0]]}`: "board 0 (from 0): ", `{"boards":{}}`: "is no list", good: "unknown", `[[` + board + `]]`: "no object",
	} {
		r.wantProblem(r.post("/api/probes", body), http.StatusBadRequest, want)
	}
	r.wantProblem(r.post("/api/probes", strings.Repeat(" ", maxBoardsBytes+1)), http.StatusRequestEntityTooLarge, "262144")
	r.wantProblem(r.do(http.MethodPost, "/api/probes", `{}`), http.StatusUnsupportedMediaType, "application/json")
	got := r.get("/api/probes")
	r.wantProblem(got, http.StatusMethodNotAllowed, "possible here: POST")
	should.Equal(t, got.header.Get("Allow"), "POST", "Allow")
	should.Equal(t, r.log.String(), "", "bad requests were logged")
}

// wantProblem checks an answer that says why there is none, without a word about the types and packages of this program.
func (r *running) wantProblem(got reply, status int, want string) {
	r.t.Helper()
	should.Hold(r.t, got.status == status && strings.HasPrefix(got.body, `{"error":"`) && strings.Contains(got.body, want),
		"%.99s: status %d, %.300s, want status %d and %q", got.target, got.status, got.body, status, want)
	should.Lacks(r.t, got.body, "Go ", "json.", "strconv", "ParseInt", "ParseUint", "Atoi", "uint")
}

// TestDamage checks that a damaged table gives no score, that the log names the file and that the client does not learn where it is.
func TestDamage(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	tab := openTables(t, game)
	r := start(t, Options{Tables: tab})
	path := tab.Path(seeds)
	must.Write(t, path, make([]byte, len(must.Read(t, path))))
	got := r.get("/api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1")
	r.wantProblem(got, http.StatusInternalServerError, "damaged")
	should.Lacks(t, got.body, path)
	should.Has(t, r.log.String(), path)
}

// TestLayers compares the list of layers with the manifest.
func TestLayers(t *testing.T) {
	r := start(t, Options{})
	got := ask[manifest.Summary](r, "/api/layers")
	must.Hold(t, got.Rules == "awari" && got.Pits == 12 && len(got.Layers) == seeds+1, "%+v", got)
	for n, l := range r.server.tables.Layers() {
		g := got.Layers[n]
		should.Equal(t, fmt.Sprint(g.Seeds, g.Positions, g.Win, g.Draw, g.Loss, g.Hash, g.Bytes, g.Histogram),
			fmt.Sprint(n, l.Positions, l.Win, l.Draw, l.Loss, l.Hash, l.Bytes, l.Histogram), "layer")
	}
}

// TestGame walks through games: each position must agree with a probe of it, and the first move that cannot be played is named.
func TestGame(t *testing.T) {
	game := testrun.Game(t, 12, awari.Awari)
	r := start(t, Options{})
	for _, begin := range []awari.Board{{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, {1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1}} {
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
		got := ask[gameReport](r, "/api/game?pits="+query(begin, 12)+"&moves="+strings.Join(moves, ","))
		must.Hold(t, len(got.Positions) == len(boards) && got.Illegal == nil, "%d positions of %d; %+v", len(got.Positions), len(boards), got.Illegal)
		for i, board := range boards {
			should.Equal(t, text(t, got.Positions[i]), text(t, new(ask[probeReport](r, "/api/probe?pits="+query(board, 12)))), "position %d", i)
		}
	}
	for _, c := range []struct {
		query     string
		positions int
		want      *illegalMove
	}{
		{"pits=4,4,4,4,4,4,4,4,4,4,4,4", 1, nil}, {"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=", 1, nil},
		{"pits=4,4,4,4,4,4,4,4,4,4,4,4&moves=2,0,2,1", 3, &illegalMove{2, 2, false}}, {"pits=1,0,0,0,0,1,0,0,0,0,0,0&moves=0", 1, &illegalMove{0, 0, true}},
	} {
		got := ask[gameReport](r, "/api/game?"+c.query)
		should.Equal(t, len(got.Positions), c.positions, "%s: positions", c.query)
		should.Equal(t, text(t, got.Illegal), text(t, c.want), "%s: the illegal move", c.query)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	return string(must.Get(encode(v))(t))
}
