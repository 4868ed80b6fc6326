package halfboard

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"

	"grenier/io/corrupt"
	"grenier/io/vfs/crashfs"
	"grenier/io/workfile"
	"grenier/kernels/cpu"
	"grenier/kernels/planes"
)

// A depot is a store with its tiles, and what these should hold.
type depot struct {
	*store
	disk  *disk
	rng   *rand.Rand
	tiles []*tile
	want  map[*tile][][]int8
}

// randomDepot returns a store that has room for some of its tiles, and for the largest.
// Some tiles are of full rows, with offers that are stored already.
func randomDepot(t *testing.T, rng *rand.Rand) *depot {
	t.Helper()
	d := &depot{disk: newDisk(), rng: rng, want: map[*tile][][]int8{}}
	page, largest, all := os.Getpagesize(), int64(0), int64(0)
	memory, err := newPagedRegion(100 * page)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1 + rng.IntN(12) {
		x := &tile{paged: paged{place: i}}
		for range 1 + rng.IntN(2) {
			x.runs = append(x.runs, memory.take(page*(1+rng.IntN(3))))
		}
		x.bytes = int64(len(slices.Concat(x.runs...)))
		largest, all = max(largest, x.bytes), all+x.bytes
		d.tiles = append(d.tiles, x)
	}
	d.store = newStore(largest+rng.Int64N(all-largest+1), 1+rng.IntN(3), planes.For(cpu.Best()))
	if d.file, err = workfile.Create(d.disk.work(), workName); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(d.file.Close(), memory.close()); err != nil {
			t.Error(err)
		}
		if n := d.disk.open.Load(); n != 0 {
			t.Errorf("%d files are left open", n)
		}
	})
	s := &shelves{open: map[shelf]*parcel{}}
	for _, x := range d.tiles {
		d.want[x] = like(x.runs)
		for _, run := range d.want[x] {
			clear(run)
		}
		if rng.IntN(3) == 0 {
			x.class = fullRows
			d.scribble(d.want[x])
			if err := s.add(d.store, x, 1, d.want[x]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.flush(d.store); err != nil {
		t.Fatal(err)
	}
	return d
}

// scribble writes anything.
func (d *depot) scribble(runs [][]int8) {
	for _, run := range runs {
		spread := 1 + d.rng.IntN(100)
		for i := range run {
			run[i] = int8(d.rng.IntN(spread))
		}
	}
}

// write changes a tile that is in memory.
func (d *depot) write(x *tile) {
	d.scribble(x.runs)
	for i, run := range x.runs {
		copy(d.want[x][i], run)
	}
	x.dirty = true
}

// some returns tiles that fit together.
func (d *depot) some() (tiles []*tile) {
	room := d.limit
	for _, i := range d.rng.Perm(len(d.tiles))[:1+d.rng.IntN(len(d.tiles))] {
		if room -= d.tiles[i].bytes; room < 0 {
			break
		}
		tiles = append(tiles, d.tiles[i])
	}
	return tiles
}

// step does anything that a layer may do.
func (d *depot) step(ctx context.Context) error {
	switch d.rng.IntN(8) {
	case 0:
		return d.save(ctx, d.present)
	case 1:
		d.turn++ // so that all may go
		return d.makeRoom(ctx, d.rng.Int64N(d.limit+1))
	}
	tiles := d.some()
	if err := d.hold(ctx, tiles); err != nil {
		return err
	}
	for _, x := range tiles {
		if d.rng.IntN(2) == 0 {
			d.write(x)
		}
	}
	return nil
}

// check fails unless each tile is in memory with what it should hold, or takes no memory,
// and all of them fit.
func (d *depot) check(t *testing.T) {
	t.Helper()
	taken := int64(0)
	for i, x := range d.tiles {
		if x.here != slices.Contains(d.present, x) {
			t.Fatalf("tile %d is in memory: %v, and the list says otherwise", i, x.here)
		}
		if x.here {
			taken += x.bytes
			if !equalRuns(x.runs, d.want[x]) {
				t.Fatalf("tile %d, in memory, holds something else", i)
			}
		} else if x.dirty || slices.ContainsFunc(slices.Concat(x.runs...), func(s int8) bool { return s != 0 }) {
			t.Fatalf("tile %d is away and takes memory, or is newer there", i)
		}
	}
	if taken+d.free != d.limit || d.free < 0 {
		t.Fatalf("%d bytes are taken and %d free of %d", taken, d.free, d.limit)
	}
}

// checkAll also looks at the tiles that are away.
func (d *depot) checkAll(t *testing.T) {
	t.Helper()
	d.check(t)
	for _, x := range d.tiles {
		if err := d.hold(t.Context(), []*tile{x}); err != nil {
			t.Fatal(err)
		}
		d.check(t)
	}
}

// TestStoreKeepsTiles holds, changes and puts away tiles in any order.
func TestStoreKeepsTiles(t *testing.T) {
	rng := newRand(t)
	for range runs(100) {
		d := randomDepot(t, rng)
		for range 40 {
			held := d.turn
			if err := d.step(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.check(t)
			for i, x := range d.tiles {
				if d.turn == held+1 && x.used == d.turn && !x.here {
					t.Fatalf("tile %d was held and is away", i)
				}
			}
		}
		d.checkAll(t)
		live := int64(0)
		for _, x := range d.tiles {
			live += int64(x.offers.Length) + int64(x.scores.Length)
		}
		if d.live != live || d.file.Used() != live+d.dropped {
			t.Fatalf("%d bytes are in use and %d dropped, of %d in the file; want %d", d.live, d.dropped, d.file.Used(), live)
		}
	}
}

// TestTilesNeededLongAgoGo: what was held last stays.
func TestTilesNeededLongAgoGo(t *testing.T) {
	rng := newRand(t)
	for range runs(50) {
		d := randomDepot(t, rng)
		for range 30 {
			before := slices.Clone(d.present)
			if err := d.hold(t.Context(), d.some()); err != nil {
				t.Fatal(err)
			}
			for _, gone := range before {
				for _, stays := range before {
					if !gone.here && stays.here && gone.used > stays.used {
						t.Fatalf("a tile of turn %d goes and one of turn %d stays", gone.used, stays.used)
					}
				}
			}
		}
	}
}

// TestStoreRefusesTooMuch: tiles that do not fit together.
func TestStoreRefusesTooMuch(t *testing.T) {
	rng := newRand(t)
	for range runs(30) {
		d := randomDepot(t, rng)
		if bytesOf(d.tiles) <= d.limit {
			continue
		}
		if err := d.hold(t.Context(), d.tiles); !errors.Is(err, ErrMemory) {
			t.Fatal(err)
		}
		d.checkAll(t)
	}
}

// TestStoreSurvivesFailures: reads and writes fail, or the context ends, at any moment.
// That is reported, and all tiles are as they were.
func TestStoreSurvivesFailures(t *testing.T) {
	rng := newRand(t)
	failed := map[error]int{}
	for range runs(150) {
		d := randomDepot(t, rng)
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			at := 1 + rng.IntN(6)
			var want error = syscall.EIO
			fail := failing(syscall.EIO, at)
			if rng.IntN(2) == 0 {
				want, fail = context.Canceled, ending(cancel, at)
			}
			if rng.IntN(2) == 0 {
				d.disk.read = fail
			} else {
				d.disk.failOn(crashfs.Write, fail)
			}
			err := d.step(ctx)
			d.disk.read = nil
			d.disk.Fail(nil)
			cancel()
			if err != nil && !errors.Is(err, want) {
				t.Fatalf("%v, want %v", err, want)
			}
			if err != nil {
				failed[want]++
			}
			d.check(t)
		}
		d.checkAll(t)
	}
	t.Logf("failures met: %v", failed)
}

// TestStoreFindsDamage: a tile that is damaged on disk is reported each time that it is
// asked for, and others come.
func TestStoreFindsDamage(t *testing.T) {
	rng := newRand(t)
	for range runs(50) {
		d := randomDepot(t, rng)
		for range 10 {
			if err := d.step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		d.turn++
		if err := d.letGo(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		bad := d.tiles[rng.IntN(len(d.tiles))]
		e := bad.extent()
		if e.IsZero() {
			continue
		}
		d.disk.flip(t, workName, e.Offset+rng.Int64N(int64(e.Length)))
		for range 2 {
			for _, x := range d.tiles {
				err := d.hold(t.Context(), []*tile{x})
				if x == bad != errors.Is(err, corrupt.ErrCorrupt) || x != bad && err != nil {
					t.Fatalf("damaged: %v, and the error is %v", x == bad, err)
				}
				d.check(t)
			}
		}
	}
}
