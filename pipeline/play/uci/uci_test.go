package uci

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/layers/awari"
	"grenier/pipeline/play/match"
	"grenier/pipeline/play/search"
	"grenier/pipeline/tables"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func converse(t *testing.T, tab *tables.Tables, lines ...string) string {
	t.Helper()
	var out strings.Builder
	session := New(Options{
		Name: "Test", Author: "Nobody", Scores: tab, Blocks: search.NewBlocks(tab, 1<<24), Bytes: 1 << 22, MostBytes: 1 << 24, Workers: 1,
	})
	must.OK(t, session.Run(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out))
	return out.String()
}

// TestRules: the option tells the rules of the tables, a grand slam is valued by them, and replayed as the interface plays it.
func TestRules(t *testing.T) {
	for rules, want := range map[awari.Rules]string{awari.Awari: "exact: 2", awari.Abapa: "exact: -2"} {
		tab := tabletest.Open(t, testrun.Dir(t, 12, rules, 3, 1<<16))
		out := converse(t, tab, "uci", fmt.Sprintf("setoption name Rules value %v", rules), "position fen 0-0-0-0-0-1-1-0-0-0-0-0-0-0-S", "go depth 1")
		should.Has(t, out, fmt.Sprintf("option name Rules type combo default %[1]v var %[1]v\n", rules), "info string "+want+"\n", "bestmove F\n")
		should.Lacks(t, out, "error")
		out = converse(t, tab, "position fen 0-0-0-0-0-1-1-0-0-0-0-0-0-0-S moves F", "go depth 1")
		should.Has(t, out, "exact: 2\n", "bestmove a\n") // after it took nothing
	}
}

// TestSessions replays sessions as the interface Aualé and its engines have them. Lines are what is sent, patterns what must come back, in this
// order, and nothing but info in between. The score counts what was taken, for the player to move.
func TestSessions(t *testing.T) {
	tab := tabletest.Open(t, testrun.Dir(t, 12, awari.Awari, 6, 1<<16))
	const board = "0-0-0-0-0-2-1-1-0-0-0-1-20-23-S"
	for _, c := range []struct {
		name        string
		lines, want []string
	}{
		{"start", []string{"uci", "isready", "quit", "isready"}, []string{
			"id name Test", "id author Nobody", `option name Hash type spin default 4 min 1 max 16`,
			`option name Threads type spin default 1 min 1 max \d+`, "option name Ponder type check default true", "option name Rules type combo default awari var awari", "uciok", "readyok",
		}},
		{"a game begins", []string{"uci", "ucinewgame", "isready", "position startpos", "go depth 4 movetime 600"}, []string{
			"id .*", "id .*", "option .*", "option .*", "option .*", "option .*", "uciok", "readyok", "bestmove [A-F]( ponder [a-f])?",
		}},
		{"the answer of North", []string{"position startpos moves Fc", "go depth 3"}, []string{"bestmove [A-F]( ponder [a-f])?"}},
		{"a solved board", []string{"position fen " + board, "go depth 4 movetime 600"}, []string{"bestmove F( ponder [a-f])?"}},
		{"a solved board, and no time", []string{"position fen " + board, "go wtime 1 btime 1"}, []string{"bestmove F( ponder [a-f])?"}},
		{"by the clock", []string{"position startpos", "go wtime 1000 btime 9 winc 1 binc 1 movestogo 30"}, []string{"bestmove [A-F].*"}},
		{"so many positions", []string{"position startpos", "go nodes 100"}, []string{"bestmove [A-F].*"}},
		{"without fen", []string{"position " + board, "go depth 4"}, []string{"bestmove F( ponder [a-f])?"}},
		{"North to move", []string{"position fen 1-0-0-0-0-1-0-0-0-0-0-2-20-24-N", "go depth 4"}, []string{"bestmove f( ponder [A-F])?"}},
		{"an end", []string{"position fen 0-0-0-0-0-0-1-0-0-0-0-0-20-27-S", "go depth 4"}, []string{"bestmove 0000"}},
		{"stop ends an infinite search", []string{"position startpos", "go infinite", "isready", "stop"}, []string{"readyok", "bestmove [A-F].*"}},
		{"exact, but infinite", []string{"position fen " + board, "go infinite", "isready", "stop"}, []string{"readyok", "bestmove F.*"}},
		{"ponder, and miss", []string{"position startpos moves F", "go ponder", "stop", "isready"}, []string{"bestmove [a-f].*", "readyok"}},
		{"ponder, and hit", []string{"position startpos moves F", "go ponder movetime 1", "ponderhit", "isready", "stop"}, []string{
			"(bestmove .*\nreadyok|readyok\nbestmove .*)",
		}},
		{"quit while searching", []string{"position startpos", "go infinite", "quit"}, []string{"bestmove [A-F].*"}},
		{"options", []string{"setoption name Hash value 2", "setoption name Threads value 2", "position startpos", "go depth 3"}, []string{"bestmove .*"}},
		{"a grand slam captures nothing", []string{"position fen 0-0-0-0-1-1-0-0-0-0-1-0-20-25-N moves", "go depth 1"}, []string{"bestmove .*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := converse(t, tab, c.lines...)
			var rest []string
			should.Lacks(t, out, "error")
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "info ") {
					rest = append(rest, line)
				}
			}
			pattern := "^" + strings.Join(c.want, "\n") + "\n$"
			should.Hold(t, regexp.MustCompile(pattern).MatchString(strings.Join(rest, "")), "%q\n%s", c.lines, out)
		})
	}
	should.Has(t, converse(t, tab, "position fen "+board, "go depth 4"), "score cp 200 ", " pv F", "info string exact: 2\n")
}

func TestComplaints(t *testing.T) {
	tab := tabletest.Open(t, testrun.Dir(t, 12, awari.Awari, 3, 1<<16))
	for _, c := range []struct{ lines, want string }{
		{"fly", `unknown command "fly"`},
		{"position", "expected startpos, or fen and a board"},
		{"position fen 1-2-3-S", "expected 14 numbers and S or N"},
		{"position fen 0-0-0-0-0-0-1-0-0-0-0-x-20-27-S", `"x" is no number of seeds`},
		{"position fen 40-0-0-0-0-0-1-0-0-0-0-0-20-27-S", "88 seeds"},
		{"position fen 0-0-0-0-0-0-1-0-0-0-0-0-20-27-X", `turn is "X"`},
		{"position startpos moves a", "south has the houses A to F"},
		{"position startpos moves AAA", "north has the houses a to f"},
		{"position fen 1-0-0-0-0-0-0-0-0-0-0-0-20-27-S moves A", "gives the opponent no seed"},
		{"position fen 0-1-0-0-0-0-1-0-0-0-0-0-20-26-S moves A", "the house is empty"},
		{"position startpos moves aB\ngo depth 1", "go: move 1"},
		{"setoption name Hash value 0", "must be 1 to 16"},
		{"setoption name Threads value many", "must be 1 to 1024"},
		{"setoption name Rules value abapa", `"abapa": the tables have awari`},
		{"setoption name Style value wild", `no option "Style"`},
		{strings.Repeat("x", 2<<20) + "\nisready", "a line is skipped: more than 65536 bytes\nreadyok"},
		{"position startpos\nposition " + strings.Repeat("x", 2<<20) + "\ngo depth 1", "go: more than 65536 bytes\nbestmove 0000"},
		{"go depth", "depth needs a number"},
		{"go movetime -1", "want a number from 1"},
		{"go wtime", "wtime needs a number"},
		{"go nodes 0", "want a number from 1"},
		{"position startpos\ngo infinite\ngo depth 1\nstop", "go: a search is under way"},
		{"position startpos\ngo infinite\nsetoption name Hash value 1\nstop", "setoption: a search is under way"},
	} {
		out := converse(t, tab, c.lines)
		should.Has(t, out, "info string error: ", c.want)
		should.Not(t, strings.Contains(c.lines, "moves aB") && !strings.HasSuffix(out, "bestmove 0000\n"), "%q: %s", c.lines, out)
	}
}

func TestParseGo(t *testing.T) {
	const ms = time.Millisecond
	for turn, cases := range map[match.Side]map[string]search.Limits{
		match.South: {
			"": {Time: usualTime}, "depth 4": {Depth: 4}, "depth 4 movetime 600": {Depth: 4, Time: 600 * ms}, "nodes 5000000000": {Nodes: 5_000_000_000},
			"infinite wtime 1000 btime 1000 depth 3": {}, "searchmoves A wtime 61000": {Time: 1000 * ms}, "wtime -5": {Time: atOnce},
			"wtime 61000 btime 1200": {Time: 1000 * ms}, "wtime 61000 winc 400 binc 99": {Time: 1300 * ms},
			"wtime 61000 movetime 7": {Time: 7 * ms}, "wtime 61000 movetime 7000": {Time: 1000 * ms},
			"wtime 11000 movestogo 10": {Time: 1000 * ms}, "wtime 11000 movestogo 1": {Time: 10000 * ms},
			"wtime 100 winc 10000": {Time: 25 * ms}, // what the move gains is not there yet
		},
		match.North: {"nodes 100 wtime 1000": {Nodes: 100}, "wtime 61000 btime 1200": {Time: 5 * ms}},
	} {
		for words, want := range cases {
			should.Equal(t, must.Get(parseGo(strings.Fields(words), turn, &pace{}))(t).limits, want, "%q for %v", words, turn)
		}
	}
	for _, words := range []string{"wtime", "nodes 0", "nodes x", "movestogo 0", "winc -1", "depth 99999999999", "wtime 1e3"} {
		should.Not(t, must.Err(parseGo(strings.Fields(words), match.South, &pace{})) == nil, "%q: no error", words)
	}
}

// TestClock plays games by a clock that the test moves on: by the time that the player takes for a move, and by what the machine
// takes beside that, which may be as much. Each player has time left in the end.
func TestClock(t *testing.T) {
	random := tries.Rand(t)
	for range 1000 {
		left, gain := time.Duration(1+random.IntN(600))*time.Second, time.Duration(random.IntN(2)*random.IntN(5000))*time.Millisecond
		control, moves, p := random.IntN(2)*(10+random.IntN(40)), 20+random.IntN(130), pace{}
		for n := range moves {
			words, toGo := fmt.Sprintf("wtime 1 btime %d binc %d", left.Milliseconds(), gain.Milliseconds()), 0
			if control > 0 {
				toGo = control - n%control
				words += fmt.Sprintf(" movestogo %d", toGo)
			}
			a, err := parseGo(strings.Fields(words), match.North, &p)
			must.Hold(t, err == nil && a.limits.Time > 0, "%s: %+v, %v", words, a.limits, err)
			more := time.Duration(random.Int64N(int64(min(a.limits.Time, 100*time.Millisecond))))
			left -= a.limits.Time + more
			must.Not(t, left < 0, "%s: the time is over in move %d of %d", words, n+1, moves)
			if left += gain; toGo == 1 {
				left += time.Second
			}
		}
	}
}

// TestLate takes what answers come late off the time for the next ones: the clock tells.
func TestLate(t *testing.T) {
	const lag = 400 * time.Millisecond
	p, left := pace{}, 100*time.Second
	ask := func(side string, turn match.Side) time.Duration {
		return must.Get(parseGo([]string{side, fmt.Sprint(left.Milliseconds())}, turn, &p))(t).limits.Time
	}
	for range 50 {
		left = (left - ask("wtime", match.South) - lag).Truncate(time.Millisecond)
	}
	free := (left - reserve) / usualMoves
	d := ask("wtime", match.South) - (free - lag)
	should.Not(t, d.Abs() > 2*time.Millisecond, "after answers that were %v late the time is %v more than it should be", lag, d)
	left = time.Second
	should.Hold(t, ask("btime", match.North) == atOnce, "of a second some is taken")
	left = 61 * time.Second
	for range 50 { // whose clock does not move on
		ask("btime", match.North)
	}
	got := ask("btime", match.North)
	should.Not(t, got < time.Second-time.Millisecond, "after answers in time: %v", got)
}
