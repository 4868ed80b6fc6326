package stream

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/window"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// counted counts the checkpoints of a layer that has nothing to write.
type counted struct{ begun int }

func (c *counted) ready() error { return nil }

func (c *counted) begin() (store func() error, err error) {
	c.begun++
	return func() error { return nil }, nil
}

// keeper returns the keeper of a layer, which began at a given time.
func keeper(interval time.Duration, began time.Time) (*Keeper, *counted) {
	c := &counted{}
	return newKeeper(&Streams{Account: &fixpoint.Account{Began: began}, Work: crashfs.New().Dir("work")}, interval, c, 0), c
}

// due reports whether a layer begins a checkpoint now, and waits for its end.
func due(t *testing.T, k *Keeper, c *counted) bool {
	t.Helper()
	before := c.begun
	must.OK(t, errors.Join(k.Due(), k.Settled()))
	return c.begun > before
}

// TestSlowCheckpointsAreFew: one comes so early that it is on disk when the interval has passed, but
// the interval grows with what it takes, and the disk has as much time for others.
func TestSlowCheckpointsAreFew(t *testing.T) {
	for _, c := range []struct {
		interval, ago, took time.Duration
		want                bool
	}{
		{time.Minute, 30 * time.Second, 0, false}, {time.Minute, 61 * time.Second, 0, true},
		{time.Minute, 30 * time.Second, time.Second, false}, {time.Minute, 59 * time.Second, time.Second, true},
		{time.Minute, 90 * time.Second, 4 * time.Second, false}, {time.Minute, 116 * time.Second, 4 * time.Second, true},
		{time.Second, 60 * time.Second, time.Minute, false}, {time.Second, 2 * time.Minute, time.Minute, true},
	} {
		k, counted := keeper(c.interval, time.Now())
		k.last = time.Now().Add(-c.ago)
		k.lastTook.Store(int64(c.took))
		should.Equal(t, due(t, k, counted), c.want, "%+v: made", c)
	}
}

// TestCheckpointsWait: one of the next window is not begun before the window before, whose checkpoint it replaces, is on disk.
func TestCheckpointsWait(t *testing.T) {
	w := windows(layOut(t, 2, 1), window.Two)
	w.publishing.begin(func() error { return syscall.EIO })
	if err := w.ready(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// TestStoredWindowsAreCheckpoints: none is made before as much time has passed since.
func TestStoredWindowsAreCheckpoints(t *testing.T) {
	for _, ago := range []time.Duration{30 * time.Second, 61 * time.Second} {
		k, counted := keeper(time.Minute, time.Now().Add(-time.Hour))
		k.last = k.Began.Add(time.Minute)
		k.window.Store(int64(time.Hour - ago))
		should.Equal(t, due(t, k, counted), ago > time.Minute, "%v after a window: made", ago)
	}
}
