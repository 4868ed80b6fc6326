package uci

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
		{"wtime 41000 btime 800", match.South, search.Limits{Time: 1000 * ms}},
		{"wtime 41000 btime 800", match.North, search.Limits{Time: 10 * ms}},
		{"wtime 41000 winc 400 binc 99", match.South, search.Limits{Time: 1300 * ms}},
		{"wtime 41000 movetime 7", match.South, search.Limits{Time: 7 * ms}},
		{"wtime 41000 movetime 7000", match.South, search.Limits{Time: 1000 * ms}},
		{"wtime 11000 movestogo 10", match.South, search.Limits{Time: 1000 * ms}},
		{"wtime 11000 movestogo 1", match.South, search.Limits{Time: 10000 * ms}},
		{"wtime 100 winc 10000", match.South, search.Limits{Time: 50 * ms}}, // what the move gains is not there yet
		{"wtime -5", match.South, search.Limits{Time: atOnce}},
		{"searchmoves A wtime 41000", match.South, search.Limits{Time: 1000 * ms}},
	} {
		if got, err := parseGo(strings.Fields(c.words), c.turn, 0); err != nil || got.limits != c.want {
			t.Errorf("%q for %v: %+v, %v; want %+v", c.words, c.turn, got.limits, err, c.want)
		}
	}
	for _, words := range []string{"wtime", "nodes 0", "nodes x", "movestogo 0", "winc -1", "depth 99999999999", "wtime 1e3"} {
		if _, err := parseGo(strings.Fields(words), match.South, 0); err == nil {
			t.Errorf("%q: no error", words)
		}
	}
}

// TestClock plays games by a clock that the test moves on: by the time that the player takes for a move, and by what the machine
// takes beside that, which may be as much. Each player has time left in the end.
func TestClock(t *testing.T) {
	random := tries.Rand(t)
	for range 1000 {
		left, gain := time.Duration(1+random.IntN(600))*time.Second, time.Duration(random.IntN(2)*random.IntN(5000))*time.Millisecond
		control, moves, late := random.IntN(2)*(10+random.IntN(40)), 20+random.IntN(130), lateness(0)
		for n := range moves {
			words, toGo := fmt.Sprintf("wtime 1 btime %d binc %d", left.Milliseconds(), gain.Milliseconds()), 0
			if control > 0 {
				toGo = control - n%control
				words += fmt.Sprintf(" movestogo %d", toGo)
			}
			a, err := parseGo(strings.Fields(words), match.North, late)
			if err != nil || a.limits.Time <= 0 {
				t.Fatalf("%s: %+v, %v", words, a.limits, err)
			}
			more := time.Duration(random.Int64N(int64(min(a.limits.Time, 100*time.Millisecond))))
			late = late.after(more)
			if left -= a.limits.Time + more; left < 0 {
				t.Fatalf("%s: the time is over in move %d of %d", words, n+1, moves)
			}
			if left += gain; toGo == 1 {
				left += time.Second
			}
		}
	}
}

// TestLate takes what answers came late off the time for the next ones.
func TestLate(t *testing.T) {
	late := lateness(0)
	for range 50 {
		late = late.after(400 * time.Millisecond)
	}
	a, err := parseGo([]string{"wtime", "41000"}, match.South, late)
	if d := a.limits.Time - 600*time.Millisecond; err != nil || d < 0 || d > time.Millisecond {
		t.Errorf("after answers that were 400 ms late: %v, %v", a.limits.Time, err)
	}
	if a, err = parseGo([]string{"wtime", "1000"}, match.South, late); err != nil || a.limits.Time != atOnce {
		t.Errorf("of a second: %v, %v", a.limits.Time, err)
	}
	for range 50 {
		late = late.after(-time.Second)
	}
	if late > lateness(time.Microsecond) {
		t.Errorf("after answers in time: %v", time.Duration(late))
	}
}
