package serve

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// maxShare bounds the requests of one client that compute at a time, whatever the
	// machine has: each may have an engine, and so much memory.
	maxShare = 4
	// maxTurns bounds the requests of all clients that compute at a time. More than there are
	// processors: so a client that has none need not wait for those of others to end.
	maxTurns = 8
	// maxWaiting bounds the requests of one client that compute or wait for it. A
	// page makes one or two.
	maxWaiting = 16
	// slice is how long a search goes on although a client without a turn waits for one.
	slice = 100 * time.Millisecond
)

var (
	// errBusy reports that too much is being computed for others.
	errBusy = badRequest{http.StatusServiceUnavailable, codeBusy, errors.New("the server is busy with others: try again")}
	// errGreedy reports that too much is being computed for the client itself.
	errGreedy = badRequest{http.StatusTooManyRequests, codeGreedy, errors.New("the server is busy with other requests of yours: wait for them")}
)

// turns hands out turns to compute, to one client after the other (round robin): at most one turn goes to each of those
// that waited before, however many requests they have.
type turns struct {
	most  int // turns at a time
	each  int // of one client
	spare int // there are second turns of a client only while fewer than so many are out

	mu      sync.Mutex
	clients map[netip.Addr]*share // those with requests that compute or wait
	ring    []*share              // those with requests that wait, in the order in which they get turns
	out     []*turn               // that requests have, the oldest first
}

// share is what one client has.
type share struct {
	client   netip.Addr
	turns    int
	requests int     // that compute or wait
	waiting  []*turn // of those that wait, in the order in which they came
}

// turn lets one request compute, once it is given.
type turn struct {
	own   *share
	given chan struct{} // closed then
	// What ends the search that is made in the turn before its time, nil if none is; it is called
	// once the slice is over and somebody without a turn waits.
	cut         func()
	over, ended bool // the slice is; the search was
}

// newTurns returns turns for searches and the like: for one client as many as there are CPUs, and one
// more for another. Further ones are for clients that have none.
func newTurns() *turns {
	n := min(runtime.GOMAXPROCS(0), maxShare)
	return turnsOf(maxTurns, n, n+1)
}

func turnsOf(most, each, spare int) *turns {
	return &turns{most: most, each: each, spare: spare, clients: map[netip.Addr]*share{}}
}

// await returns a turn, which must be given back. It fails with errGreedy when other
// requests of the client are in the way for too long, with errBusy when those of
// others are, and with the cause of ctx when nobody waits any more.
func (q *turns) await(ctx context.Context, client netip.Addr, patience time.Duration) (*turn, error) {
	t := q.enter(client)
	if t == nil {
		return nil, errGreedy
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-t.given:
		return t, nil
	case <-late.C:
		if q.giveBack(t) > 0 {
			return nil, errGreedy
		}
		return nil, errBusy
	case <-ctx.Done():
		q.giveBack(t)
		return nil, context.Cause(ctx)
	}
}

// enter lets a request wait for a turn, which it may be given at once. It returns nil if the client has
// too many requests.
func (q *turns) enter(client netip.Addr) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.clients[client]
	if own == nil {
		own = &share{client: client}
		q.clients[client] = own
	}
	if own.requests == maxWaiting {
		return nil
	}
	own.requests++
	t := &turn{own: own, given: make(chan struct{})}
	if own.waiting = append(own.waiting, t); len(own.waiting) == 1 {
		q.ring = append(q.ring, own)
	}
	q.handOut()
	return t
}

// giveBack ends a request, whether it got its turn or still waits. It returns the turns that its client has
// left.
func (q *turns) giveBack(t *turn) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := t.own
	if i := slices.Index(q.out, t); i >= 0 {
		q.out = slices.Delete(q.out, i, i+1)
		own.turns--
	} else {
		i := slices.Index(own.waiting, t)
		own.waiting = slices.Delete(own.waiting, i, i+1)
		if len(own.waiting) == 0 {
			i := slices.Index(q.ring, own)
			q.ring = slices.Delete(q.ring, i, i+1)
		}
	}
	if own.requests--; own.requests == 0 {
		delete(q.clients, own.client)
	}
	q.handOut()
	return own.turns
}

// handOut gives the turns that are left to those who wait.
func (q *turns) handOut() {
	for i := 0; i < len(q.ring); {
		own := q.ring[i]
		if !q.may(own) {
			i++
			continue
		}
		t := own.waiting[0]
		own.waiting = own.waiting[1:]
		own.turns++
		q.out = append(q.out, t)
		close(t.given)
		q.ring = slices.Delete(q.ring, i, i+1)
		if len(own.waiting) > 0 {
			q.ring = append(q.ring, own)
		}
	}
	q.cutShort()
}

// may reports whether a client may have a turn more.
func (q *turns) may(own *share) bool {
	return len(q.out) < q.most && (own.turns == 0 || own.turns < q.each && len(q.out) < q.spare)
}

// cutShort ends as many searches as clients without a turn wait, if their slices are over, the oldest
// first.
func (q *turns) cutShort() {
	wanted := 0
	for _, own := range q.ring {
		if own.turns == 0 {
			wanted++
		}
	}
	for _, t := range q.out {
		if t.ended {
			wanted--
		}
	}
	for _, t := range q.out {
		if wanted > 0 && t.over && !t.ended {
			t.ended = true
			t.cut()
			wanted--
		}
	}
}

// begin says what ends the search in a turn before its time.
func (q *turns) begin(t *turn, cut func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.cut = cut
}

// endSlice says that the search in a turn may be ended.
func (q *turns) endSlice(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.over = true
	q.cutShort()
}
