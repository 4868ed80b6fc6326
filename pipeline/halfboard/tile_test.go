package halfboard

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

// filled returns a version of size scores x.
func filled(t testing.TB, a *arena, size int, x int8) *version {
	t.Helper()
	scores, err := a.alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	fill(scores, x)
	return &version{scores: scores}
}

// freed returns the number of buffers waiting to be used again.
func (a *arena) freed() int {
	n := 0
	for _, buffers := range a.free {
		n += len(buffers)
	}
	return n
}

func TestReadersKeepTheirVersion(t *testing.T) {
	var a arena
	defer a.close()
	x := &tile{}
	x.publish(filled(t, &a, 100, 1), &a)
	first, second := x.acquire(), x.acquire()
	x.publish(filled(t, &a, 100, 2), &a)
	if got := x.acquire(); got == first || got.scores[0] != 2 {
		t.Fatal("a new reader gets the old version")
	} else {
		got.release(&a)
	}
	first.release(&a)
	if a.freed() != 0 || second.scores[0] != 1 {
		t.Fatal("a version was freed while it was read")
	}
	second.release(&a)
	if a.freed() != 1 {
		t.Fatalf("%d buffers freed after the last reader, want 1", a.freed())
	}
	x.publish(filled(t, &a, 50, 3), &a)
	if a.freed() != 2 {
		t.Fatal("a version without readers was not freed when it was replaced")
	}
}

// TestReplacingWhileReading lets readers look for scores of two versions in one.
func TestReplacingWhileReading(t *testing.T) {
	var a arena
	defer a.close()
	x, done := &tile{}, atomic.Bool{}
	x.publish(filled(t, &a, 4000, 0), &a)
	var group errgroup.Group
	for range 3 {
		group.Go(func() error {
			for !done.Load() {
				v := x.acquire()
				err := written{v.scores, v.scores[0]}.check()
				v.release(&a)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := range runs(3000) {
		x.publish(filled(t, &a, 4000, int8(i)), &a)
	}
	done.Store(true)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	// Three readers, the current version and the next one.
	if buffers := a.freed() + 1; buffers > 5 {
		t.Errorf("%d buffers were needed", buffers)
	}
}

func TestChangedSince(t *testing.T) {
	v := &version{stamps: []uint32{0, 3, newborn}}
	for _, c := range []struct {
		born, row, then uint32
		want            bool
	}{
		{0, 0, 0, false}, {0, 0, 9, false},
		{0, 1, 2, true}, {0, 1, 3, false}, {0, 1, 4, false},
		{0, 2, 0, true}, {0, 2, 1 << 31, true}, // not yet known: may be later than any clock
		{5, 1, 2, true}, {5, 1, 3, false},
		{5, 2, 4, true}, {5, 2, 5, false}, {5, 2, 6, false},
	} {
		v.born.Store(c.born)
		if got := v.changedSince(c.row, c.then); got != c.want {
			t.Errorf("born at %d, row %d changed since %d: %v", c.born, c.row, c.then, got)
		}
	}
	if got := v.aged(); !slices.Equal(got, []uint32{0, 3, 5}) || v.stamps[2] != newborn {
		t.Errorf("the stamps %v age to %v", v.stamps, got)
	}
}

// TestReadersNeverMissAChange: who looks at the clock and then reads a version
// can tell later whether the row has changed since.
func TestReadersNeverMissAChange(t *testing.T) {
	w := config{game: mustGame(t, 4, 0), seeds: 4}.prepare(t)
	x := w.order[slices.IndexFunc(w.order, func(x *tile) bool { return x.rows[openRows] > 0 })]
	done := atomic.Bool{}
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			for !done.Load() {
				then := w.clock.Load()
				before := x.acquire()
				after := x.acquire()
				for after == before && !done.Load() {
					after.release(&w.arena)
					after = x.acquire()
				}
				if after != before && !after.changedSince(0, then) {
					return fmt.Errorf("at %d row 0 was %d and became %d unnoticed", then, before.scores[0], after.scores[0])
				}
				before.release(&w.arena)
				after.release(&w.arena)
			}
			return nil
		})
	}
	for i := range runs(50_000) {
		scores, err := w.arena.alloc(len(x.current.scores))
		if err != nil {
			t.Fatal(err)
		}
		copy(scores, x.current.scores)
		scores[0] = int8(i % 100)
		w.replace(x, scores, nil)
	}
	done.Store(true)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// TestReplaceStampsWhatChanged replaces a version by hand.
func TestReplaceStampsWhatChanged(t *testing.T) {
	w := config{game: mustGame(t, 6, 0), seeds: 6, options: Options{SlabSize: 50}}.prepare(t)
	x := w.order[slices.IndexFunc(w.order, func(x *tile) bool { return x.rows[openRows] > 3 && x.cols > 3 })]
	next := func() []int8 {
		scores, err := w.arena.alloc(len(x.current.scores))
		if err != nil {
			t.Fatal(err)
		}
		copy(scores, x.current.scores)
		return scores
	}
	old, clock := x.current, w.clock.Load()
	if n := w.replace(x, next(), nil); n != 0 || x.current != old || w.clock.Load() != clock || x.changed.Load() != 0 {
		t.Fatalf("equal scores were published as %d changes", n)
	}
	var noted []change
	note := func(x *tile, old, scores []int8) { noted = w.grid.changesOf(noted, x, old, scores) }
	scores := next()
	scores[1], scores[2*x.cols], scores[2*x.cols+3] = 5, 6, -7
	if n := w.replace(x, scores, note); n != 3 {
		t.Fatalf("%d changes, want 3", n)
	}
	w.checkNotes(t, x, noted, []int{1, 2 * x.cols, 2*x.cols + 3})
	now := w.clock.Load()
	if now != clock+1 || x.changed.Load() != now {
		t.Fatalf("the tile changed at %d, the clock went from %d to %d", x.changed.Load(), clock, now)
	}
	for row := range uint32(x.rows[openRows]) {
		changed := row == 0 || row == 2
		if x.current.changedSince(row, clock) != changed || x.current.changedSince(row, now) {
			t.Errorf("row %d changed: %v, stamp %d", row, !changed, x.current.stamps[row])
		}
	}
	scores = next()
	scores[0] = 9
	w.replace(x, scores, nil)
	if v := x.current; !v.changedSince(0, now) || v.changedSince(2, now) || !v.changedSince(2, clock) || v.changedSince(1, 0) {
		t.Errorf("stamps %v after two changes", v.stamps)
	}
}

// checkNotes compares changes with the places of scores of a tile that were 0.
func (e *engine) checkNotes(t *testing.T, x *tile, noted []change, places []int) {
	t.Helper()
	if len(noted) != len(places) {
		t.Fatalf("%d changes noted, want %d", len(noted), len(places))
	}
	for i, c := range noted {
		at, row, col := e.grid.find(c.position)
		if at != x || row*x.cols+col != places[i] || c.old != 0 {
			t.Errorf("change %+v is at row %d, column %d, want score %d", c, row, col, places[i])
		}
	}
}
