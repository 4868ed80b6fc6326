package uci

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"grenier/pipeline/play/match"
	"grenier/pipeline/play/search"
)

// usualTime is the time for a move when go does not say any, as with other engines of the dialect.
const usualTime = 2 * time.Second

// asked is what the words after go ask for.
type asked struct {
	limits          search.Limits
	endless, ponder bool
	clocks          [2]clock // by side
	moves           int      // until the clocks get more time; 0 if they do not
}

// clock is the time that a player has left, and gets with each move.
type clock struct {
	given      bool
	left, gain time.Duration
}

const (
	// usualMoves is how many moves the time left must do for.
	usualMoves = 60
	// reserve is kept for what takes time besides thinking: messages, and a machine that does other things; three quarters
	// of a clock that has little more, or less.
	reserve = time.Second
	// atOnce is the time for a move when there is none: some move is found in any time.
	atOnce = time.Millisecond
)

// share returns the time for a move by a clock, answers being late by some time: never more than is left but for the reserve.
func (c clock) share(moves int, late time.Duration) time.Duration {
	if moves == 0 {
		moves = usualMoves
	}
	free := c.left - min(reserve, c.left*3/4)
	return max(atOnce, min(free, free/time.Duration(min(moves, usualMoves))+c.gain*3/4)-late)
}

// pace finds out from the clocks how much later than they should answers are, of late: on a machine that does other things the
// program, and the interface, wait for a processor again and again.
type pace struct {
	due  [2]time.Duration // what the clock of a side should say when it is asked next
	late time.Duration
}

// share returns the time for a move of a side.
func (p *pace) share(turn match.Side, c clock, moves int) time.Duration {
	late := max(0, min(reserve, p.due[turn]-c.left))
	p.late = (3*p.late + late) / 4
	share := c.share(moves, p.late)
	p.due[turn] = c.left - share + c.gain
	return share
}

// words that a number follows, and the least that it may be.
var numbers = map[string]int64{
	"depth": 1, "movetime": 1, "nodes": 1, "movestogo": 1, "wtime": math.MinInt32, "btime": math.MinInt32, "winc": 0, "binc": 0,
}

// parseGo reads the words after go, for the player to move.
func parseGo(words []string, turn match.Side, p *pace) (a asked, err error) {
	for i := 0; i < len(words); i++ {
		least, number := numbers[words[i]]
		switch {
		case words[i] == "infinite":
			a.endless = true
		case words[i] == "ponder":
			a.ponder = true
		case number && i+1 == len(words):
			return a, fmt.Errorf("%s needs a number", words[i])
		case number:
			n, err := strconv.ParseInt(words[i+1], 10, 64)
			if err != nil || n < least || n > math.MaxInt32 && words[i] != "nodes" {
				return a, fmt.Errorf("%s %.20q: want a number from %d", words[i], words[i+1], least)
			}
			a.set(words[i], n)
			i++
		}
	}
	l := &a.limits
	if c := a.clocks[turn]; c.given {
		if share := p.share(turn, c, a.moves); l.Time == 0 || share < l.Time {
			l.Time = share
		}
	}
	switch {
	case a.endless:
		a.limits = search.Limits{}
	case l.Time == 0 && (l.Depth == 0 && l.Nodes == 0 || a.ponder):
		l.Time = usualTime
	}
	return a, nil
}

// set takes note of a number.
func (a *asked) set(word string, n int64) {
	south, north := &a.clocks[match.South], &a.clocks[match.North]
	ms := time.Duration(n) * time.Millisecond
	switch word {
	case "depth":
		a.limits.Depth = int(n)
	case "movetime":
		a.limits.Time = ms
	case "nodes":
		a.limits.Nodes = uint64(n)
	case "movestogo":
		a.moves = int(n)
	case "wtime":
		south.given, south.left = true, max(0, ms)
	case "btime":
		north.given, north.left = true, max(0, ms)
	case "winc":
		south.gain = ms
	case "binc":
		north.gain = ms
	}
}
