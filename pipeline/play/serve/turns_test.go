package serve

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"grenier/layers/awari"
)

// address is that of some client.
func address(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }

// isGiven reports whether a request has its turn.
func (t *turn) isGiven() bool {
	select {
	case <-t.given:
		return true
	default:
		return false
	}
}

// TestTurnsInTurn has clients keep all requests waiting that they may; one that comes then has one request of each
// before it at most.
func TestTurnsInTurn(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 19))
		q := turnsOf(1+r.IntN(9), 1+r.IntN(4), 1+r.IntN(6))
		greedy := 1 + r.IntN(20)
		var all []*turn
		order := []int{} // of the clients that get turns
		ask := func(client int) {
			if x := q.enter(address(client)); x != nil {
				all = append(all, x)
			}
		}
		fill := func() {
			for _, client := range r.Perm(greedy) {
				for range maxWaiting + 1 {
					ask(client)
				}
			}
		}
		leave := func() { // one that has its turn
			i := r.IntN(len(all))
			for !all[i].isGiven() {
				i = (i + 1) % len(all)
			}
			had := slices.Clone(q.out)
			q.giveBack(all[i])
			all = slices.Delete(all, i, i+1)
			for _, x := range q.out {
				if !slices.Contains(had, x) {
					order = append(order, int(x.own.client.As4()[3]))
				}
			}
		}
		fill()
		for range 2 * greedy {
			leave()
			fill()
			q.check(t)
		}
		waiting := len(q.ring)
		const late = 255
		mine := q.enter(address(late))
		for order = order[:0]; !mine.isGiven(); fill() {
			leave()
			q.check(t)
		}
		if len(order) > waiting+1 {
			t.Errorf("seed %d: %v got turns after a client came that found %d", seed, order, waiting)
		}
	}
}

// check compares the state with what is promised.
func (q *turns) check(t *testing.T) {
	t.Helper()
	if len(q.out) > q.most {
		t.Errorf("%d turns are out, %d may be", len(q.out), q.most)
	}
	turns := map[*share]int{}
	for _, x := range q.out {
		turns[x.own]++
	}
	for _, own := range q.clients {
		if own.turns != turns[own] || own.turns > q.each || own.requests != own.turns+len(own.waiting) || own.requests > maxWaiting {
			t.Errorf("%+v, %d turns of %d", own, turns[own], q.each)
		}
		if slices.Contains(q.ring, own) != (len(own.waiting) > 0) {
			t.Errorf("%+v: in the ring or not", own)
		}
		if own.turns == 0 && len(q.out) < q.most {
			t.Errorf("%+v waits while %d of %d turns are out", own, len(q.out), q.most)
		}
	}
}

// TestTurnsSecond: while few compute, a client may have several turns; when more do, it has one.
func TestTurnsSecond(t *testing.T) {
	q := turnsOf(4, 2, 3)
	a, b := address(1), address(2)
	first, second, third := q.enter(a), q.enter(a), q.enter(a)
	if !first.isGiven() || !second.isGiven() || third.isGiven() {
		t.Error("alone, not two turns")
	}
	other, another := q.enter(b), q.enter(b)
	if !other.isGiven() || another.isGiven() {
		t.Error("of another, not one turn")
	}
	q.giveBack(first) // both wait for a second turn, the first one for longer
	if !third.isGiven() || another.isGiven() {
		t.Error("not in the order in which they came")
	}
	q.giveBack(second)
	if !another.isGiven() {
		t.Error("room for one more")
	}
	for _, x := range []*turn{third, other, another} {
		q.giveBack(x)
	}
	if len(q.clients)+len(q.ring)+len(q.out) > 0 {
		t.Errorf("%+v", q)
	}
}

// TestTurnsCut: searches end before their time when their slice is over and somebody waits who has no turn, as many as
// there are of those, the oldest first.
func TestTurnsCut(t *testing.T) {
	q := turnsOf(3, 1, 3)
	var turns []*turn
	var cut [3]bool
	for i := range cut {
		turns = append(turns, q.enter(address(i)))
		q.begin(turns[i], func() { cut[i] = true })
	}
	want := func(when string, want ...bool) {
		t.Helper()
		if !slices.Equal(cut[:], want) {
			t.Errorf("%s: the searches ended: %v, want %v", when, cut, want)
		}
	}
	q.endSlice(turns[1])
	more := q.enter(address(1)) // of one that has a turn
	want("nobody waits who has no turn", false, false, false)
	q.giveBack(more)
	late := q.enter(address(7))
	want("one waits", false, true, false)
	q.endSlice(turns[0])
	want("one waits, for whom one has ended", false, true, false)
	later := q.enter(address(8))
	want("two wait", true, true, false)
	q.giveBack(turns[0])
	q.giveBack(turns[1])
	q.endSlice(turns[2])
	if want("all are served", true, true, false); !late.isGiven() || !later.isGiven() {
		t.Error("the turns went to others")
	}
}

// TestCutSearch: what is known of a board when its search is ended is an answer; if nobody wants it any more, it is none.
func TestCutSearch(t *testing.T) {
	s, _ := newServer(t, Options{})
	start := boardToSearch{awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, maxSearchTime}
	var others []*turn
	for i := range s.searches.most {
		others = append(others, s.searches.enter(address(i)))
	}
	mine := others[0]
	s.searches.enter(address(255)) // who waits from the beginning
	result, err := s.search(t.Context(), mine, start)
	if err != nil || result.Exact() || result.Reason != "time" || result.Lower > result.Upper {
		t.Errorf("%+v, %v", result, err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.search(gone, others[1], start); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestTally: when clients take all that they can get, there is something left for one more, unless there are very many.
func TestTally(t *testing.T) {
	for _, clients := range []int{1, 7, 8, 9, 40, 56} {
		tally := newTally(64, 512)
		for range 64 {
			for i := range clients {
				tally.take(address(i))
			}
		}
		if clients < 8 && tally.sum != 64*clients {
			t.Errorf("%d clients hold %d", clients, tally.sum)
		}
		if !tally.take(address(1000)) {
			t.Errorf("nothing is left beside %d clients, who hold %d", clients, tally.sum)
		}
		for i := range clients {
			for tally.held[address(i)] > 0 {
				tally.give(address(i))
			}
		}
		if tally.give(address(1000)); tally.sum != 0 || len(tally.held) != 0 {
			t.Errorf("afterwards %d are held", tally.sum)
		}
	}
}
