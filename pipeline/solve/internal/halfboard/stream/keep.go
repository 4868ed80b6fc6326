package stream

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Keeper writes checkpoints of a layer while it is swept.
type Keeper struct {
	*Streams
	interval time.Duration // between checkpoints
	of       checkpointed
	mu       sync.Mutex   // held while a checkpoint is begun
	last     time.Time    // when the last checkpoint was begun, or read, or the layer, or storing a window, or captures were stored
	lastTook atomic.Int64 // nanoseconds until it was on disk; before the first one, about what it will take
	window   atomic.Int64 // when storing a window began that is on disk since: nanoseconds after the layer did
	storing  background   // of a checkpoint
	Sweeping bool         // scores are of the layer, not of layers below
	gaveUp   bool         // the disk is full
}

// checkpointed is a layer that has checkpoints.
type checkpointed interface {
	// ready returns when a checkpoint may be begun: what it takes the place of is on disk.
	ready() error
	// begin begins a checkpoint and returns what writes and stores it.
	begin() (store func() error, err error)
}

// quick is the time that a checkpoint may take until it is on disk. If that is longer, the next one comes
// later by the same factor: of a minute, that leaves a thirtieth for checkpoints. Before the first one
// it is taken to cost usual nanoseconds a score, as measured.
const (
	quick = 2 * time.Second
	usual = 0.75
)

// newKeeper returns the keeper of a layer with the given number of scores in memory.
func newKeeper(s *Streams, interval time.Duration, of checkpointed, scores int) *Keeper {
	k := &Keeper{Streams: s, interval: interval, of: of, last: time.Now()}
	k.lastTook.Store(int64(usual * float64(scores)))
	return k
}

// Due begins a checkpoint if it is time for it. Workers call it while they sweep.
func (k *Keeper) Due() error {
	if k.Work == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	window := k.window.Load() // which is a checkpoint too
	if at := k.Began.Add(time.Duration(window)); window > 0 && at.After(k.last) {
		k.last = at
	}
	if k.storing.runs() || time.Since(k.last) < k.pause() {
		return nil
	}
	return k.checkpoint()
}

// pause returns the time from the begin of one checkpoint to the begin of the next, so that a kill costs the
// interval at most: what came after the begin of the last one that is on disk. It leaves the disk half of the time.
func (k *Keeper) pause() time.Duration {
	took := time.Duration(k.lastTook.Load())
	interval := time.Duration(float64(k.interval) * max(1, took.Seconds()/quick.Seconds()))
	return max(interval-took, 2*took)
}

// Leave makes a checkpoint of a layer that is interrupted, unless hardly any work would
// be lost.
func (k *Keeper) Leave() error {
	if k.Work == nil || !k.Sweeping || time.Since(k.last) < min(time.Second, k.interval) {
		return nil
	}
	return errors.Join(k.checkpoint(), k.Settled())
}

// checkpoint begins to write one. A full disk is no reason to stop: the layer is solved without
// them.
func (k *Keeper) checkpoint() error {
	if err := k.Settled(); err != nil || k.gaveUp {
		return err
	}
	if err := k.of.ready(); err != nil {
		return err
	}
	k.last = time.Now()
	store, err := k.of.begin()
	if err != nil {
		return k.goOn(err)
	}
	start := k.last
	k.storing.begin(func() error {
		err := store()
		k.lastTook.Store(int64(time.Since(start)))
		return err
	})
	return nil
}

// goOn returns the error of writing a stream, unless that is that the disk is full.
func (k *Keeper) goOn(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	if !k.gaveUp {
		k.gaveUp = true
		k.tellUser("layer %d goes on without checkpoints: %v", k.Seeds, err)
	}
	return nil
}

// Settled waits until the last checkpoint is stored, and the offers, which sweeps only read.
func (k *Keeper) Settled() error { return k.goOn(k.storing.wait()) }
