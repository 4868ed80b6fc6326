package halfboard

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"grenier/io/workfile"
)

// An item is memory that can be put away and fetched: the scores or the offers of a
// tile. Its address stays the same, so kernels need not know; while it is away, the
// system has the pages back.
type item struct {
	runs   [][]int8 // whole pages
	bytes  int64
	form   form
	stored workfile.Extent // zero: it was never put away, and all of it is 0
	state  itemState
	dirty  bool // memory is newer than what is stored
	pins   int
	uses   []int64 // places in the order of a sweep at which it is needed, ascending
	due    int64   // while idle: when it will be needed
	index  int     // among idle items
}

type itemState uint8

const (
	away   itemState = iota
	coming           // has room and is being fetched
	here
	going // is being put away
)

// newItem returns an item for runs of memory that is all 0 and not used yet.
func newItem(f form, runs [][]int8) *item {
	it := &item{runs: runs, form: f, index: notIdle}
	for _, r := range runs {
		it.bytes += int64(len(r))
	}
	return it
}

// A store keeps the items of a layer within a budget of memory. Who needs items pins
// them; when room is needed, the item that nobody has pinned and that will be needed
// last goes: Belady's rule, since the order of sweeps is known.
//
// After a failure, or when a context has ended, a store only flushes and closes.
type store struct {
	file    *workfile.File
	limit   int64
	packing *packing
	packers sync.Pool
	turn    sync.Mutex // held by who takes room: one at a time, so nobody waits for a part

	mu     sync.Mutex
	change *sync.Cond // an item came or went, or something failed
	room   *sync.Cond // there may be room: one waits at most
	free   int64      // bytes that may be taken
	going  int64      // bytes that will be free
	idle   idleItems  // here and not pinned
	err    error      // the first failure
	leave  chan *item // the items that are going

	clock int64 // the place in the order of sweeps
	order int64 // places in a sweep; 0: what was used last is needed last
	traffic
}

// traffic is the time that goroutines have spent on reading and writing the file.
type traffic struct{ reading, writing atomic.Int64 } // nanoseconds

// ErrMemory reports a layer that cannot be solved in the memory allowed.
var ErrMemory = errors.New("too little memory")

// newStore returns a store of limit bytes for at most the given number of items.
func newStore(file *workfile.File, limit int64, p *packing, items int) *store {
	s := &store{file: file, packing: p, limit: limit, free: limit, leave: make(chan *item, items)}
	s.change, s.room = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	s.packers.New = func() any { return &packer{packing: p} }
	return s
}

// run puts away what is going until the context ends.
func (s *store) run(ctx context.Context, workers int) error {
	defer context.AfterFunc(ctx, func() { s.fail(ctx.Err()) })()
	var group errgroup.Group
	for range workers {
		group.Go(func() error {
			for {
				select {
				case it := <-s.leave:
					s.depart(it)
				case <-ctx.Done():
					return nil
				}
			}
		})
	}
	return group.Wait()
}

// fail makes all calls fail that wait for something.
func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.change.Broadcast()
	s.room.Broadcast()
}

// pin brings items into memory and keeps them there until they are unpinned. place is
// where the order of sweeps has got to.
func (s *store) pin(items []*item, place int64) error {
	mine, err := s.reserve(items, place)
	if err == nil {
		err = forEach(context.Background(), feeders, mine, func(_, _ int, it *item) error { return s.fetch(it) })
	}
	if err == nil {
		err = s.await(items)
	}
	if err != nil {
		s.fail(err)
	}
	return err
}

// resize allows more bytes.
func (s *store) resize(more int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit += more
	s.free += more
}

// putAway puts items away that nobody has pinned.
func (s *store) putAway(items []*item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range items {
		if it.index != notIdle {
			heap.Remove(&s.idle, it.index)
			s.expel(it)
		}
	}
	for _, it := range items {
		for it.state != away && s.err == nil {
			s.change.Wait()
		}
	}
	return s.err
}

// unordered says that from now on, what was used last is needed last.
func (s *store) unordered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order = 0
	for _, it := range s.idle {
		it.due = 0
	}
}

// holding calls do while items are in memory.
func (s *store) holding(items []*item, place int64, do func() error) error {
	if err := s.pin(items, place); err != nil {
		return err
	}
	defer s.unpin(items)
	return do()
}

// reserve pins items and takes room for those that are away, which it returns.
func (s *store) reserve(items []*item, place int64) (mine []*item, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = max(s.clock, place)
	need, all := int64(0), int64(0)
	for _, it := range items {
		for it.state == going && s.err == nil {
			s.change.Wait()
		}
		if it.pins++; it.index != notIdle {
			heap.Remove(&s.idle, it.index)
		}
		if it.state == away {
			it.state = coming
			need += it.bytes
			mine = append(mine, it)
		}
		all += it.bytes
	}
	if all > s.limit {
		return nil, fmt.Errorf("%w: %d bytes are needed at once, %d are left for them", ErrMemory, all, s.limit)
	}
	for s.free < need && s.err == nil {
		for s.free+s.going < need && len(s.idle) > 0 {
			s.expel(heap.Pop(&s.idle).(*item))
		}
		if s.free < need {
			s.room.Wait()
		}
	}
	s.free -= need
	return mine, s.err
}

// expel lets an item go. The mutex is held.
func (s *store) expel(it *item) {
	it.state = going
	s.going += it.bytes
	s.leave <- it // has room for all
}

// depart puts an item away and gives its pages back.
func (s *store) depart(it *item) {
	err := s.save(it)
	if err == nil {
		for _, r := range it.runs {
			release(r)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	it.state = away
	s.free += it.bytes
	s.going -= it.bytes
	if err != nil && s.err == nil {
		it.state = here // it is not stored
		s.err = err
	}
	s.change.Broadcast()
	s.room.Signal()
}

// save stores an item if memory is newer.
func (s *store) save(it *item) error {
	if !it.dirty {
		return nil
	}
	p := s.packers.Get().(*packer)
	defer s.packers.Put(p)
	packed := p.pack(it.runs, it.form)
	start := time.Now()
	extent, err := s.file.Put(packed)
	if err != nil {
		return err
	}
	lap(&s.writing, start)
	if !it.stored.IsZero() {
		s.file.Drop(it.stored)
	}
	it.stored, it.dirty = extent, false
	return nil
}

// fetch brings an item in that has room.
func (s *store) fetch(it *item) error {
	if err := s.load(it); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	it.state = here
	s.change.Broadcast()
	return nil
}

func (s *store) load(it *item) error {
	if it.stored.IsZero() {
		return nil
	}
	p := s.packers.Get().(*packer)
	defer s.packers.Put(p)
	start := time.Now()
	var err error
	if p.packed, err = s.file.Get(it.stored, p.packed); err != nil {
		return err
	}
	lap(&s.reading, start)
	return s.unpack(p.packed, it.runs)
}

// unpack unpacks what is in memory to runs.
func (s *store) unpack(packed []byte, runs [][]int8) error {
	p := s.packers.Get().(*packer)
	defer s.packers.Put(p)
	return p.unpack(runs, packed)
}

// lap adds the time since start to sum.
func lap(sum *atomic.Int64, start time.Time) { sum.Add(int64(time.Since(start))) }

// await waits until others have fetched what they are fetching.
func (s *store) await(items []*item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range items {
		for it.state != here && s.err == nil {
			s.change.Wait()
		}
	}
	return s.err
}

// unpin lets items go when room is needed.
func (s *store) unpin(items []*item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range items {
		if it.pins--; it.pins == 0 {
			it.due = s.dueAfter(it)
			heap.Push(&s.idle, it)
		}
	}
	s.room.Signal()
}

// dueAfter returns when an item is needed next.
func (s *store) dueAfter(it *item) int64 {
	if s.order == 0 {
		s.clock++
		return -s.clock
	}
	round, place := s.clock/s.order, s.clock%s.order
	next, _ := slices.BinarySearch(it.uses, place+1)
	switch {
	case next < len(it.uses):
		return round*s.order + it.uses[next]
	case len(it.uses) > 0:
		return (round+1)*s.order + it.uses[0]
	}
	return never
}

// never is when items are due that no sweep needs.
const never = 1 << 62

// idleItems is a heap: the item that is due last is the first.
type idleItems []*item

const notIdle = -1

func (h idleItems) Len() int           { return len(h) }
func (h idleItems) Less(i, j int) bool { return h[i].due > h[j].due }

func (h idleItems) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push adds an item.
func (h *idleItems) Push(x any) {
	it := x.(*item)
	it.index = len(*h)
	*h = append(*h, it)
}

// Pop removes the last one.
func (h *idleItems) Pop() any {
	last := len(*h) - 1
	it := (*h)[last]
	*h, it.index = (*h)[:last], notIdle
	return it
}
