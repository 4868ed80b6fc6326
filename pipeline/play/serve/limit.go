package serve

import (
	"net/netip"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// maxClients bounds the clients remembered for their rate. The one that asked
// longest ago is forgotten first, and starts over.
const maxClients = 4096

// clients knows how many requests each client may still make.
type clients struct {
	rate  int // requests a second
	mu    sync.Mutex
	known *simplelru.LRU[netip.Addr, *rate.Limiter]
}

func newClients(perSecond int) *clients {
	known, err := simplelru.NewLRU[netip.Addr, *rate.Limiter](maxClients, nil)
	if err != nil {
		panic(err) // only for sizes below 1
	}
	return &clients{rate: perSecond, known: known}
}

// allow reports whether a client may make a request now. In one go it may make those
// of four seconds, so that a page can load.
func (c *clients) allow(client netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	limiter, ok := c.known.Get(client)
	if !ok {
		limiter = rate.NewLimiter(rate.Limit(c.rate), 4*c.rate)
		c.known.Add(client, limiter)
	}
	return limiter.Allow()
}

// tally counts what clients hold at a time, up to a bound for each. It remembers
// only those that hold something.
type tally struct {
	most, all int // for each client, and together
	mu        sync.Mutex
	held      map[netip.Addr]int
	sum       int
}

func newTally(most, all int) *tally { return &tally{most: most, all: all, held: map[netip.Addr]int{}} }

// perFree is how often as much as is left for all a client may hold: when little is left, that is for those who
// hold little.
const perFree = 8

// take counts one more, unless the client holds as many as it may.
func (t *tally) take(client netip.Addr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[client] >= min(t.most, perFree*(t.all-t.sum)) {
		return false
	}
	t.held[client]++
	t.sum++
	return true
}

// give undoes a take.
func (t *tally) give(client netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum--
	if t.held[client]--; t.held[client] == 0 {
		delete(t.held, client)
	}
}

// clientOf returns who sent a request: an address, or for IPv6 the network of 64
// bits, all of whose addresses one client can use. An address that is not understood
// counts as the zero one.
func clientOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return netip.Addr{}
	}
	return network.Masked().Addr()
}
