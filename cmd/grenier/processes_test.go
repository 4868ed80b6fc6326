package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/play/match"
	"grenier/pipeline/tables"
)

// ucier is a process that speaks the protocol of oware interfaces.
type ucier struct {
	*solver
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startUCI(t *testing.T, dir string) *ucier {
	t.Helper()
	s, in, out := talk(t, "awari", "uci", "--memory", "32MiB", "--dir", dir)
	u := &ucier{s, in, bufio.NewScanner(out)}
	u.say(t, "uci", "uciok")
	return u
}

// say sends commands and returns the first line that begins with a word.
func (u *ucier) say(t *testing.T, commands, word string) string {
	t.Helper()
	must.OK(t, must.Err(fmt.Fprintln(u.in, commands)))
	for u.lines.Scan() {
		should.Not(t, strings.HasPrefix(u.lines.Text(), "info string error"), "%s: %s", commands, u.lines.Text())
		if strings.HasPrefix(u.lines.Text(), word) {
			return u.lines.Text()
		}
	}
	t.Fatalf("%s: the process has ended: %s", commands, u.errs.String())
	return ""
}

func (u *ucier) quit(t *testing.T) {
	t.Helper()
	fmt.Fprintln(u.in, "quit")
	for u.lines.Scan() {
	}
	err := u.cmd.Wait()
	should.Hold(t, err == nil && u.errs.Len() == 0, "%v, %s", err, u.errs.String())
}

// TestLongUCIMatch plays whole games between two processes, one with tables of ten seeds and one
// with hardly any, which change sides. Each game ends by the rules or in a repetition, and each
// move on a solved board of the side with tables keeps its value: what the tables promise it in a position is got in the end, or more.
func TestLongUCIMatch(t *testing.T) {
	t.Parallel()
	games, limits := tries.Pick(1, 2, 6), tries.More("go depth 2", "go movetime 20")
	rich, tab := solvedFor(t, 10)
	poor, _ := solvedFor(t, 1)
	sides := []*ucier{startUCI(t, rich), startUCI(t, poor)}
	random := rand.New(rand.NewPCG(20, 26))
	plies, kept, points := 0, 0, 0
	for i := range games {
		g := openUCIGame(t, tab, match.Side(i%2), random)
		for g.goesOn(t) {
			g.play(t, g.ask(t, sides[(int(g.Turn())+i)%2], limits))
		}
		plies, kept = plies+len(g.moves), kept+g.kept
		points += cmp.Compare(g.lead(), 0)
		must.Not(t, t.Failed() || g.promised && g.lead() < g.due, "game %d: ends with %d, the tables promised %d: %s", i, g.lead(), g.due, g.moves)
	}
	for _, u := range sides {
		u.quit(t)
	}
	t.Logf("%d games of %d plies; %d moves of the side with tables on solved boards; it won %d games more than it lost", games, plies, kept, points)
	should.Not(t, kept == 0, "no game came to a solved board")
}

// solvedFor returns a directory with so many layers, and its tables.
func solvedFor(t *testing.T, seeds int) (string, *tables.Tables) {
	t.Helper()
	dir := solved(t, "--seeds", fmt.Sprint(seeds))
	return dir, tabletest.Open(t, dir)
}

// TestLongUCIClock plays games between two processes at a second for all moves of a side, while others keep all
// processors busy: no side loses on time.
func TestLongUCIClock(t *testing.T) {
	tries.NeedsFull(t, "games by the clock")
	dir, tab := solvedFor(t, 10)
	for range runtime.NumCPU() { // others who want a processor each
		u := startUCI(t, dir)
		fmt.Fprintln(u.in, "position startpos\ngo infinite")
		defer u.quit(t)
	}
	sides := []*ucier{startUCI(t, dir), startUCI(t, dir)}
	random := tries.Rand(t)
	least := time.Second
	for i := range 200 {
		g, left := openUCIGame(t, tab, match.Side(i%2), random), [2]time.Duration{time.Second, time.Second}
		for _, u := range sides {
			u.say(t, "ucinewgame\nisready", "readyok")
		}
		for g.goesOn(t) {
			side := g.Turn()
			asked := time.Now()
			pit := g.ask(t, sides[side], fmt.Sprintf("go wtime %d btime %d", left[0].Milliseconds(), left[1].Milliseconds()))
			left[side] -= time.Since(asked)
			must.Not(t, left[side] < 0, "game %d: %v loses on time at move %d: %s", i, side, len(g.moves), g.moves)
			least = min(least, left[side])
			g.play(t, pit)
		}
	}
	for _, u := range sides {
		u.quit(t)
	}
	t.Logf("%v were left at least", least)
}

func openUCIGame(t *testing.T, tab *tables.Tables, rich match.Side, random *rand.Rand) *uciGame {
	t.Helper()
	g := &uciGame{Match: match.New(tab.Game(), awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}), tables: tab, rich: rich}
	for range 3 {
		pit := random.IntN(6)
		for !tab.Game().Plays(g.Board())[pit].Legal {
			pit = random.IntN(6)
		}
		g.play(t, pit)
	}
	return g
}

func (g *uciGame) ask(t *testing.T, u *ucier, limits string) int {
	t.Helper()
	best := u.say(t, "position startpos moves "+g.moves+"\n"+limits, "bestmove ")
	return int(best[len("bestmove ")]) - []int{'A', 'a'}[g.Turn()]
}

// uciGame is a game and the letters of its moves.
type uciGame struct {
	*match.Match
	tables *tables.Tables
	rich   match.Side // has the tables
	moves  string
	kept   int // moves of that side on solved boards

	promised bool // that side a lead at the end of due
	due      int
}

// lead is what the side with tables has taken more than the other one.
func (g *uciGame) lead() int { return g.Taken()[g.rich] - g.Taken()[g.rich.Other()] }

// goesOn reports whether a move is to be made; a position that came back ends the game.
func (g *uciGame) goesOn(t *testing.T) bool {
	t.Helper()
	if g.Board().Seeds() <= g.tables.MaxSeeds() {
		value := int(must.Get(g.tables.Score(t.Context(), g.Board()))(t))
		if g.Turn() != g.rich {
			value = -value
		}
		if due := g.lead() + value; !g.promised || due > g.due {
			g.due, g.promised = due, true
		}
	}
	if g.State() == match.Playing && g.Repeated() {
		must.OK(t, g.Draw())
	}
	return g.State() == match.Playing
}

// play makes a move, which must be legal, and keep the value if the side with tables makes it on a solved board.
func (g *uciGame) play(t *testing.T, pit int) {
	t.Helper()
	side, before := g.Turn(), g.Board()
	captured, err := g.Play(pit)
	must.Hold(t, err == nil, "%s: pit %d: %v", g.moves, pit, err)
	g.moves += string(rune([]int{'A', 'a'}[side] + pit))
	if side != g.rich || before.Seeds() > g.tables.MaxSeeds() {
		return
	}
	was := must.Get(g.tables.Score(t.Context(), before))(t)
	is := must.Get(g.tables.Score(t.Context(), g.Board()))(t)
	g.kept++
	should.Hold(t, int(was) == captured-int(is), "%s: worth %d on a board worth %d", g.moves, captured-int(is), was)
}

func served(t *testing.T, flags ...string) *remotetest.Server {
	t.Helper()
	s := remotetest.Serve(t, solved(t, flags...), false)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

// TestRemoteMessages reads the messages for accidents that are no damage. Others are in remote.txtar, all that a server can do wrong in the
// tests of packages remote and tables.
func TestRemoteMessages(t *testing.T) {
	s := served(t, "--seeds", "3")
	for want, answer := range map[string]http.HandlerFunc{
		"the server answers: 403 Forbidden":                             func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) },
		"after 3 attempts: the server answers: 503 Service Unavailable": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		`\x1b[2Jred`: func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if should.OK(t, err); err == nil {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\x1b[2Jred\r\n\r\n")
				c.Close()
			}
		},
	} {
		s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
			asked := strings.HasSuffix(r.URL.Path, rundir.LayerName(3))
			if asked {
				answer(w, r)
			}
			return asked
		})
		r := do(t, "awari probe --url "+s.URL+" 1 1 1 0 0 0 0 0 0 0 0 0").wants(t, cli.ExitFailure, "grenier: "+s.URL+"/layer-03.gl: ", want)
		oneClearLine(t, r.err)
		should.Equal(t, r.out, "")
	}
	r := do(t, "awari stats --layer 4 --url "+strings.Replace(s.URL, "//", "//me:secret@", 1)).wants(t, cli.ExitUsage, "is solved up to 3")
	should.Lacks(t, r.err, "secret")
}

// TestRemoteInterrupted interrupts a batch that waits for a mute server.
func TestRemoteInterrupted(t *testing.T) {
	s := served(t, "--seeds", "5")
	ctx, cancel := context.WithCancel(t.Context())
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, rundir.LayerName(3)) {
			return false
		}
		cancel()
		<-r.Context().Done()
		return true
	})
	r := grenier(ctx, "0 0 0 0 0 1 1 0 0 0 0 0\n0 0 0 0 1 1 1 0 0 0 0 0\n", "awari", "probe", "--url", s.URL, "-")
	// The first line is answered unless both lines were looked up together.
	answered := strings.TrimPrefix(r.out, "value 2; moves . . . . . 2\n")
	should.Hold(t, r.status == cli.ExitInterrupted && answered == "" && r.err == "grenier: interrupted\n", "%+v", r)
}

// TestRemoteJSON gives one object on stdout, even if it is about a failure.
func TestRemoteJSON(t *testing.T) {
	s := served(t, "--seeds", "3")
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		missing := strings.HasSuffix(r.URL.Path, rundir.LayerName(2))
		if missing {
			http.NotFound(w, r)
		}
		return missing
	})
	r := grenier(t.Context(), "0 0 0 0 0 1 1 0 0 0 0 0\n0 0 0 0 0 0 0 0 0 0 0 1\n", "awari", "probe", "--json", "--url", s.URL, "-")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	var failed cli.LineError
	must.OK(t, json.Unmarshal([]byte(lines[0]), &failed))
	should.Hold(t, failed.Line == 1 && strings.Contains(failed.Error, "missing"), "%s", lines[0])
	should.Hold(t, r.status == cli.ExitCorrupt && len(lines) == 2 && strings.Contains(lines[1], `"value":-1`), "%+v", r)
}

// serveReport is a part of what serve says.
type serveReport struct{ Address, URL string }

type serving struct {
	*solver
	report serveReport
}

func startServer(t *testing.T, flags ...string) *serving {
	t.Helper()
	process, _, out := talk(t, append([]string{"awari", "serve", "--json"}, flags...)...)
	s := &serving{solver: process}
	must.OK(t, json.Unmarshal([]byte(must.Get(bufio.NewReader(out).ReadString('\n'))(t)), &s.report))
	return s
}

func (s *serving) get(t *testing.T, path string) string {
	t.Helper()
	response := must.Get(http.Get(s.report.URL + path))(t)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must.Hold(t, err == nil && response.StatusCode == http.StatusOK, "%s: status %d, %s, %v", path, response.StatusCode, text, err)
	return string(text)
}

// TestServe runs the server as a process: it says where it is, answers, and ends with status 0 when it is told to stop.
func TestServe(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "no signals to send")
	dir := solved(t, "--seeds", "5")
	for _, stop := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		s := startServer(t, "--dir", dir, "--addr", "localhost:0", "--log")
		host, port, err := net.SplitHostPort(s.report.Address)
		should.Hold(t, err == nil && net.ParseIP(host).IsLoopback() && port != "0" && s.report.URL == "http://localhost:"+port+"/",
			"%+v (%v)", s.report, err)
		should.Has(t, s.get(t, ""), "<title data-t>Grenier")
		var probe struct{ Value int }
		err = json.Unmarshal([]byte(s.get(t, "api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1")), &probe)
		should.Hold(t, err == nil && probe.Value == 5, "%+v, %v", probe, err)
		s.signal(t, stop)
		logged := s.wait(t).wants(t, cli.ExitOK).err
		should.Hold(t, strings.Count(logged, "msg=request") == 2 && strings.Count(logged, "\n") == 2, "logged: %s", logged)
	}
}

// TestServeTaken asks for a port that another program has.
func TestServeTaken(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	r := do(t, fmt.Sprintf("awari serve --dir %s --addr %v", solved(t, "--seeds", "1"), l.Addr()))
	oneClearLine(t, r.wants(t, cli.ExitFailure, "cannot listen on "+l.Addr().String()).err)
	should.Equal(t, r.out, "")
}
