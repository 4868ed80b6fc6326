package uci

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/pipeline/play/match"
	"grenier/pipeline/play/search"
)

func TestParseGo(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		words string
		turn  match.Side
		want  search.Limits
	}{
		{"", match.South, search.Limits{Time: usualTime}},
		{"depth 4", match.South, search.Limits{Depth: 4}},
		{"depth 4 movetime 600", match.South, search.Limits{Depth: 4, Time: 600 * ms}},
		{"nodes 5000000000", match.South, search.Limits{Nodes: 5_000_000_000}},
		{"nodes 100 wtime 1000", match.North, search.Limits{Nodes: 100}},
		{"infinite wtime 1000 btime 1000 depth 3", match.South, search.Limits{}},
		{"wtime 61000 btime 1200", match.South, search.Limits{Time: 1000 * ms}},
		{"wtime 61000 btime 1200", match.North, search.Limits{Time: 5 * ms}},
		{"wtime 61000 winc 400 binc 99", match.South, search.Limits{Time: 1300 * ms}},
		{"wtime 61000 movetime 7", match.South, search.Limits{Time: 7 * ms}},
		{"wtime 61000 movetime 7000", match.South, search.Limits{Time: 1000 * ms}},
		{"wtime 11000 movestogo 10", match.South, search.Limits{Time: 1000 * ms}},
		{"wtime 11000 movestogo 1", match.South, search.Limits{Time: 10000 * ms}},
		{"wtime 100 winc 10000", match.South, search.Limits{Time: 25 * ms}}, // what the move gains is not there yet
		{"wtime -5", match.South, search.Limits{Time: atOnce}},
		{"searchmoves A wtime 61000", match.South, search.Limits{Time: 1000 * ms}},
	} {
		got, err := parseGo(strings.Fields(c.words), c.turn, &pace{})
		should.Hold(t, err == nil && got.limits == c.want, "%q for %v: %+v, %v; want %+v", c.words, c.turn, got.limits, err, c.want)
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
