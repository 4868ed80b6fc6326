package halfboard

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"grenier/io/corrupt"
	"grenier/io/workfile"
	"grenier/io/workfile/crashfs"
	"grenier/kernels/cpu"
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// A depot is a store at work on a disk in memory, with its items.
type depot struct {
	*store
	disk  *crashfs.FS
	items []*item
	page  int64
	stop  context.CancelFunc
}

const depotPath = "work/tiles"

// highest is the largest score in items of a depot.
const highest = 24

// newDepot returns a store with room for limit pages, and an item for each of the given
// numbers of pages.
func newDepot(t *testing.T, limit int, pages ...int) *depot {
	t.Helper()
	d := &depot{disk: crashfs.New(), page: int64(os.Getpagesize())}
	file, err := workfile.Create(d.disk, depotPath)
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, n := range pages {
		all += n
	}
	memory, err := newPagedRegion(all * int(d.page))
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range pages {
		run := n * int(d.page)
		if i%2 == 1 {
			run = int(d.page)
		}
		runs := slices.Collect(slices.Chunk(memory.take(n*int(d.page)), run))
		d.items = append(d.items, newItem(form(i%3), runs))
	}
	d.store = newStore(file, int64(limit)*d.page, mustPacking(t), len(pages))
	ctx, cancel := context.WithCancel(t.Context())
	d.stop = cancel
	var group errgroup.Group
	group.Go(func() error { return d.run(ctx, 2) })
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(group.Wait(), file.Close(), memory.close()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// mustPacking packs scores up to highest.
func mustPacking(t *testing.T) *packing {
	t.Helper()
	counts, err := ranks.NewCounts(-highest, highest)
	if err != nil {
		t.Fatal(err)
	}
	p := &packing{ranks: ranks.For(cpu.Best()), rice: rice.For(cpu.Best())}
	p.use(counts.Model())
	return p
}

// write fills an item with what depends on version; version 0 is what is there at first.
func (d *depot) write(i, version int) {
	d.eachScore(i, func(at int, score *int8) bool {
		*score = scoreOf(i, version, at)
		return true
	})
	d.items[i].dirty = true
}

// holds reports whether an item holds a version.
func (d *depot) holds(i, version int) bool {
	return d.eachScore(i, func(at int, score *int8) bool { return *score == scoreOf(i, version, at) })
}

func scoreOf(i, version, at int) int8 {
	if version == 0 {
		return 0
	}
	return int8((i*31+version*7+at/50)%(2*highest+1)) - highest
}

// eachScore calls do for the scores of an item until it returns false.
func (d *depot) eachScore(i int, do func(at int, score *int8) bool) bool {
	at := 0
	for _, run := range d.items[i].runs {
		for j := range run {
			if !do(at, &run[j]) {
				return false
			}
			at++
		}
	}
	return true
}

// use pins items, calls do, and unpins them.
func (d *depot) use(t *testing.T, place int64, numbers []int, do func(i int)) {
	t.Helper()
	items := d.some(numbers)
	if err := d.pin(items, place); err != nil {
		t.Fatalf("items %v: %v", numbers, err)
	}
	for _, i := range numbers {
		do(i)
	}
	d.unpin(items)
}

func (d *depot) some(numbers []int) (items []*item) {
	for _, i := range numbers {
		items = append(items, d.items[i])
	}
	return items
}

// look does nothing to an item.
func look(int) {}

// isHere reports whether an item is in memory and stays there for now.
func (d *depot) isHere(i int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.items[i].state == here
}

// check fails if more is in memory than may be.
func (d *depot) check(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	taken, leaving := int64(0), int64(0)
	for _, it := range d.items {
		if it.state == here || it.state == going {
			taken += it.bytes
		}
		if it.state == going {
			leaving += it.bytes
		}
	}
	if d.free < 0 || d.free+taken > d.limit || leaving != d.going {
		t.Errorf("%d bytes taken, %d of them going, %d free of %d, %d going to be", taken, leaving, d.free, d.limit, d.going)
	}
}

// within fails if do takes so long that it hangs.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: hangs", what)
	}
}

// randomDepot returns a depot that has room for some of its items, and for the largest.
func randomDepot(t *testing.T, rng *rand.Rand) *depot {
	t.Helper()
	pages := make([]int, 1+rng.IntN(12))
	all := 0
	for i := range pages {
		pages[i] = 1 + rng.IntN(4)
		all += pages[i]
	}
	largest := slices.Max(pages)
	d := newDepot(t, largest+rng.IntN(all-largest+1), pages...)
	if rng.IntN(2) == 0 {
		d.order = 1 + rng.Int64N(20)
		for _, it := range d.items {
			for range rng.IntN(4) {
				it.uses = append(it.uses, rng.Int64N(d.order))
			}
			slices.Sort(it.uses)
		}
	}
	return d
}

// randomSet returns some items that fit together.
func (d *depot) randomSet(rng *rand.Rand) (numbers []int) {
	room := d.limit
	for _, i := range rng.Perm(len(d.items))[:1+rng.IntN(len(d.items))] {
		if room -= d.items[i].bytes; room < 0 {
			break
		}
		numbers = append(numbers, i)
	}
	return numbers
}

// TestItemsComeBackAsTheyWereWritten: many goroutines pin items and change them.
func TestItemsComeBackAsTheyWereWritten(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		d := randomDepot(t, rng)
		locks, versions := make([]sync.RWMutex, len(d.items)), make([]int, len(d.items))
		var place atomic.Int64
		var group sync.WaitGroup
		for range 1 + rng.IntN(5) {
			rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
			group.Go(func() {
				for range 40 {
					items := d.randomSet(rng)
					if err := d.pin(d.some(items), place.Add(1)); err != nil {
						t.Error(err)
						return
					}
					d.check(t)
					for _, i := range items {
						if rng.IntN(2) == 0 {
							locks[i].Lock()
							versions[i]++
							d.write(i, versions[i])
							locks[i].Unlock()
							continue
						}
						locks[i].RLock()
						if !d.holds(i, versions[i]) {
							t.Errorf("item %d of %d does not hold version %d", i, len(d.items), versions[i])
						}
						locks[i].RUnlock()
					}
					d.unpin(d.some(items))
				}
			})
		}
		within(t, "pin", group.Wait)
		if t.Failed() {
			return
		}
	}
}

// next returns when an item is needed after place.
func (d *depot) next(i int, place int64) int64 {
	for p := place + 1; p <= place+d.order; p++ {
		if slices.Contains(d.items[i].uses, p%d.order) {
			return p
		}
	}
	return never
}

// TestWhatIsNeededLastGoesFirst sweeps over items in an order that the store knows.
func TestWhatIsNeededLastGoesFirst(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		limit := 2 + rng.IntN(5)
		d := newDepot(t, limit, slices.Repeat([]int{1}, limit+1+rng.IntN(10))...)
		d.order = 1 + rng.Int64N(30)
		needed := make([][]int, d.order)
		for place := range needed {
			needed[place] = rng.Perm(len(d.items))[:rng.IntN(limit+1)]
			for _, i := range needed[place] {
				d.items[i].uses = append(d.items[i].uses, int64(place))
			}
		}
		for place := range 3 * d.order {
			var idle []int
			for i := range d.items {
				if d.isHere(i) && !slices.Contains(needed[place%d.order], i) {
					idle = append(idle, i)
				}
			}
			d.use(t, place, needed[place%d.order], look)
			for _, gone := range idle {
				for _, stays := range idle {
					if !d.isHere(gone) && d.isHere(stays) && d.next(gone, place) < d.next(stays, place) {
						t.Fatalf("place %d of %d: item %d goes, needed at %d, and not %d, needed at %d",
							place, d.order, gone, d.next(gone, place), stays, d.next(stays, place))
					}
				}
			}
		}
	}
}

// TestWithoutOrderWhatWasUsedLastStays: the item goes that has not been used for the
// longest time.
func TestWithoutOrderWhatWasUsedLastStays(t *testing.T) {
	rng := newRand(t)
	for range runs(40) {
		limit := 2 + rng.IntN(6)
		d := newDepot(t, limit, slices.Repeat([]int{1}, limit+1+rng.IntN(6))...)
		if rng.IntN(2) == 0 {
			d.order = 100
			for i, it := range d.items {
				it.uses = []int64{int64(rng.IntN(100))}
				d.use(t, int64(i), []int{i}, look)
			}
			d.unordered()
		}
		used := make([]int, len(d.items)) // when, since there is no order
		for now := 1; now < 60; now++ {
			i := rng.IntN(len(d.items))
			before := slices.DeleteFunc(rng.Perm(len(d.items)), func(j int) bool { return j == i || !d.isHere(j) })
			d.use(t, 0, []int{i}, look)
			used[i] = now
			for _, gone := range before {
				for _, stays := range before {
					if !d.isHere(gone) && d.isHere(stays) && used[gone] > used[stays] {
						t.Fatalf("item %d goes, used at %d, and not %d, used at %d", gone, used[gone], stays, used[stays])
					}
				}
			}
		}
	}
}

// TestPutAway: nothing is in memory then, and all comes back.
func TestPutAway(t *testing.T) {
	d := newDepot(t, 6, 1, 2, 3)
	d.use(t, 0, []int{0, 1, 2}, func(i int) { d.write(i, 1) })
	for range 2 { // what is away already is no matter
		if err := d.putAway(d.items); err != nil {
			t.Fatal(err)
		}
	}
	if d.free != d.limit {
		t.Errorf("%d bytes free of %d", d.free, d.limit)
	}
	for i, it := range d.items {
		if it.state != away || it.stored.IsZero() || d.eachScore(i, func(_ int, score *int8) bool { return *score != 0 }) {
			t.Errorf("item %d: state %d, stored %v, or in memory still", i, it.state, it.stored)
		}
	}
	d.use(t, 0, []int{0, 1, 2}, func(i int) {
		if !d.holds(i, 1) {
			t.Errorf("item %d is not what was put away", i)
		}
	})
}

// TestResize: the limit counts for what is pinned next.
func TestResize(t *testing.T) {
	d := newDepot(t, 2, 1, 1, 1)
	d.use(t, 0, []int{0, 1}, look)
	d.resize(d.page)
	d.use(t, 0, []int{0, 1, 2}, look)
	if err := d.putAway(d.items); err != nil {
		t.Fatal(err)
	}
	d.resize(-d.page)
	d.check(t)
	if err := d.pin(d.items, 0); !errors.Is(err, ErrMemory) {
		t.Errorf("%v, want %v", err, ErrMemory)
	}
}

// TestCleanItemsAreNotWritten: only what is dirty is put into the file, and what never was
// comes back as zeros.
func TestCleanItemsAreNotWritten(t *testing.T) {
	d := newDepot(t, 1, 1, 1)
	d.use(t, 0, []int{0}, func(i int) { d.write(i, 1) })
	d.use(t, 0, []int{1}, func(i int) { d.items[i].runs[0][5] = 1 }) // does not say so
	d.use(t, 0, []int{0}, look)
	stored, used := d.items[0].stored, d.file.Used()
	for range 5 {
		d.use(t, 0, []int{1}, func(i int) {
			if !d.holds(i, 0) {
				t.Error("an item that was never stored is not 0")
			}
		})
		d.use(t, 0, []int{0}, func(i int) {
			if !d.holds(i, 1) {
				t.Error("an item that is not written again has changed")
			}
		})
	}
	if d.items[0].stored != stored || !d.items[1].stored.IsZero() || d.file.Used() != used {
		t.Errorf("clean items are written: %v, then %v; %v; %d bytes, then %d",
			stored, d.items[0].stored, d.items[1].stored, used, d.file.Used())
	}
}

// everybodyFails lets goroutines use items that do not fit together until each has an
// error, which it checks.
func (d *depot) everybodyFails(t *testing.T, want error) {
	t.Helper()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for n := 0; ; n++ {
				items := d.some([]int{(worker + n) % len(d.items)})
				err := d.pin(items, 0)
				if err == nil {
					items[0].runs[0][worker]++
					d.unpin(items)
					continue
				}
				if !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
				return
			}
		})
	}
	within(t, want.Error(), group.Wait)
}

// TestWritingFails: the error of the disk reaches all who pin.
func TestWritingFails(t *testing.T) {
	bad := errors.New("disk on fire")
	for want, fail := range map[error]func(*crashfs.FS){
		syscall.ENOSPC: func(disk *crashfs.FS) { disk.Limit(0) },
		bad:            func(disk *crashfs.FS) { disk.Fail(func(crashfs.Op, string) error { return bad }) },
	} {
		d := newDepot(t, 2, 1, 1, 1, 1)
		fail(d.disk)
		for _, it := range d.items {
			it.dirty = true
		}
		d.everybodyFails(t, want)
	}
}

// TestPutAwayFails: what cannot be stored stays.
func TestPutAwayFails(t *testing.T) {
	d := newDepot(t, 2, 1, 1)
	d.use(t, 0, []int{0, 1}, func(i int) { d.write(i, 1) })
	d.disk.Limit(0)
	within(t, "putting away", func() {
		if err := d.putAway(d.items); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v, want %v", err, syscall.ENOSPC)
		}
	})
}

// TestDamagedWorkFile: one bit of what was stored has changed, or the end is missing.
func TestDamagedWorkFile(t *testing.T) {
	rng := newRand(t)
	for name, damage := range map[string]func(h workfile.Handle, e workfile.Extent) error{
		"a bit": func(h workfile.Handle, e workfile.Extent) error {
			var b [1]byte
			at := e.Offset + rng.Int64N(int64(e.Length))
			if _, err := h.ReadAt(b[:], at); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			b[0] ^= 1 << rng.IntN(8)
			_, err := h.WriteAt(b[:], at)
			return err
		},
		"the end": func(h workfile.Handle, e workfile.Extent) error { return h.Truncate(e.Offset) },
	} {
		d := newDepot(t, 1, 1, 1)
		d.use(t, 0, []int{1}, func(i int) { d.write(i, 3) })
		if err := d.putAway(d.items); err != nil {
			t.Fatal(err)
		}
		h, err := d.disk.Open(depotPath)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(damage(h, d.items[1].stored), h.Close()); err != nil {
			t.Fatal(err)
		}
		d.everybodyFails(t, corrupt.ErrCorrupt)
		t.Logf("%s: %v", name, d.err)
	}
}

// TestItemsThatNeverFit: waiting for room would take for ever.
func TestItemsThatNeverFit(t *testing.T) {
	d := newDepot(t, 3, 2, 2)
	within(t, "too many items", func() {
		if err := d.pin(d.items, 0); !errors.Is(err, ErrMemory) {
			t.Errorf("%v, want %v", err, ErrMemory)
		}
	})
}

// TestEndFreesWhoWaits: one waits for room, the others for their turn.
func TestEndFreesWhoWaits(t *testing.T) {
	d := newDepot(t, 2, 2, 1, 1)
	if err := d.pin(d.some([]int{0}), 0); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			if err := d.pin(d.some([]int{1 + i%2}), 0); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want %v", err, context.Canceled)
			}
		})
	}
	time.Sleep(time.Millisecond) // so that some do wait
	d.stop()
	within(t, "the end", group.Wait)
}
