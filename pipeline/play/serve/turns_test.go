package serve

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

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
			if total += n; held[client] > each || total > most {
				t.Errorf("%d turns of a client, %d of all", held[client], total)
			}
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
					if err != nil {
						t.Error(err)
					}
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
		if err := q.take(t.Context(), address(client), time.Hour, func() error { inside(); return nil }); err != nil {
			t.Error(err)
		}
	}
	gone, leave := context.WithCancelCause(t.Context())
	leave(errStopping)
	hold(1, func() {
		if err := q.take(t.Context(), address(1), 0, none); !errors.Is(err, errGreedy) {
			t.Errorf("beside one of its own: %v", err)
		}
		hold(2, func() {
			if err := q.take(t.Context(), address(3), 0, none); !errors.Is(err, errBusy) {
				t.Errorf("beside others: %v", err)
			}
			if err := q.take(gone, address(3), time.Hour, none); !errors.Is(err, errStopping) {
				t.Errorf("when the server stops: %v", err)
			}
		})
	})
	own := q.shares.of(address(1))
	if !own.requests.TryAcquire(maxWaiting) || !q.isIdle() {
		t.Error("not all is given back")
	}
	if err := q.take(t.Context(), address(1), time.Hour, none); !errors.Is(err, errGreedy) {
		t.Errorf("beside as many as may wait: %v", err)
	}
}

// TestCutSearch: the result so far when a search ends for others is an answer; if nobody wants it any more, it is none.
func TestCutSearch(t *testing.T) {
	s, _ := newServer(t, Options{})
	start := awari.Board{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}
	s.searches.waiting.Add(1)
	result, err := s.search(t.Context(), start, time.Hour)
	if err != nil || result.Exact() || result.Reason != "time" || result.Lower > result.Upper {
		t.Errorf("%+v, %v", result, err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.search(gone, start, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestPerClient: the clients seen last are remembered.
func TestPerClient(t *testing.T) {
	p := newPerClient(func() *int { return new(int) })
	first, second := p.of(address(0)), p.of(address(1))
	for i := range maxClients - 1 {
		p.of(address(0)) // seen again and again
		p.of(address(2 + i))
	}
	if p.of(address(0)) != first || p.of(address(1)) == second || p.known.Len() != maxClients {
		t.Errorf("%d clients are remembered", p.known.Len())
	}
	if slices.Contains([]*int{first, second}, p.of(address(5))) {
		t.Error("two clients share what they have")
	}
}
