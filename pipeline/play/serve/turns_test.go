package serve

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/awari"
)

// address is the address of some client.
func address(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }

// isUsed reports whether n of size places are taken. There is nothing to take while somebody waits.
func isUsed(places *semaphore.Weighted, size, n int) bool {
	if n < size {
		free := int64(size - n)
		if !places.TryAcquire(free) {
			return false
		}
		defer places.Release(free)
	}
	if places.TryAcquire(1) {
		places.Release(1)
		return false
	}
	return true
}

// isIdle reports whether nothing is computed.
func (q *turns) isIdle() bool { return isUsed(q.all, q.most, 0) }

// TestTurns has clients make requests that compute until they are let go: no client has more turns than its
// share, all together no more than there are, and once all are let go each request has had one.
func TestTurns(t *testing.T) {
	const most, each, requests = 5, 2, 10
	for _, clients := range []int{1, 2, 3, 9} {
		q, let := newTurns(most, each), make(chan struct{})
		var (
			mu       sync.Mutex
			held     = map[int]int{}
			total    int
			computed int
			all      sync.WaitGroup
		)
		hold := func(client, n int) {
			mu.Lock()
			defer mu.Unlock()
			held[client] += n
			if n < 0 {
				computed++
			}
			total += n
			should.Not(t, held[client] > each || total > most, "%d turns of a client, %d of all", held[client], total)
		}
		for client := range clients {
			for range requests {
				all.Go(func() {
					err := q.take(context.Background(), address(client), time.Hour, func() error {
						hold(client, 1)
						<-let
						hold(client, -1)
						return nil
					})
					should.OK(t, err)
				})
			}
		}
		waitFor(t, "all turns that there may be", func() bool { return isUsed(q.all, most, min(most, each*clients)) })
		close(let)
		if all.Wait(); computed != clients*requests || !q.isIdle() || q.waiting.Load() != 0 {
			t.Errorf("%d of %d requests computed, %d wait", computed, clients*requests, q.waiting.Load())
		}
	}
}

// TestTurnsRefused: who waits for other requests of its own is told so, and who waits for others.
func TestTurnsRefused(t *testing.T) {
	q := newTurns(2, 1)
	none := func() error { return nil }
	hold := func(client int, inside func()) {
		should.OK(t, q.take(t.Context(), address(client), time.Hour, func() error { inside(); return nil }))
	}
	gone, leave := context.WithCancelCause(t.Context())
	leave(errStopping)
	hold(1, func() {
		should.Be(t, q.take(t.Context(), address(1), 0, none), errGreedy, "beside one of its own")
		hold(2, func() {
			should.Be(t, q.take(t.Context(), address(3), 0, none), errBusy, "beside others")
			should.Be(t, q.take(gone, address(3), time.Hour, none), errStopping, "when the server stops")
		})
	})
	should.Hold(t, q.shares.of(address(1)).requests.TryAcquire(maxWaiting) && q.isIdle(), "not all is given back")
	should.Be(t, q.take(t.Context(), address(1), time.Hour, none), errGreedy, "beside as many as may wait")
}

// TestCutSearch: the result so far when a search ends for others is an answer; if nobody wants it any more, it is none.
func TestCutSearch(t *testing.T) {
	s, _ := newServer(t, Options{})
	start := awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}
	s.searches.waiting.Add(1)
	result, err := s.search(t.Context(), start, time.Hour)
	should.Hold(t, err == nil && !result.Exact() && result.Reason == "time" && result.Lower <= result.Upper, "%+v, %v", result, err)
	gone, leave := context.WithCancel(t.Context())
	leave()
	should.Be(t, must.Err(s.search(gone, start, time.Hour)), context.Canceled)
}

// TestPerClient: the clients seen last are remembered.
func TestPerClient(t *testing.T) {
	p := newPerClient(func() *int { return new(int) })
	first, second := p.of(address(0)), p.of(address(1))
	for i := range maxClients - 1 {
		p.of(address(0)) // seen again and again
		p.of(address(2 + i))
	}
	should.Hold(t, p.of(address(0)) == first && p.of(address(1)) != second && p.known.Len() == maxClients,
		"%d clients are remembered", p.known.Len())
	should.Not(t, slices.Contains([]*int{first, second}, p.of(address(5))), "two clients share what they have")
}
