package halfboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/planes"
	"grenier/kernels/window"
	"grenier/layers/awari"
)

// The checkpoint of a layer in memory is two streams in the work directory: its offers,
// written once, and the scores found so far, written from time to time. Sweeps go on meanwhile: by the
// fixpoint theorem they can resume from any found scores, of different moments too, so those out
// of date need not be marked: all count as such. docs/format/spill.md describes the contents.

// keptVersion is the version of both contents, and of the order of positions in memory.
const keptVersion = 1

// keeper writes checkpoints of a layer and, of one in memory, resumes from those of earlier runs.
type keeper struct {
	mu       sync.Mutex   // held while a checkpoint is begun
	last     time.Time    // when the last checkpoint was begun, or read, or the layer, or storing a window, or captures were stored
	lasted   atomic.Int64 // nanoseconds until it was on disk; before the first one, about what it will take
	window   atomic.Int64 // when storing a window began that is on disk since: nanoseconds after the layer did
	stored   atomic.Bool  // offers are
	storing  background   // of a checkpoint
	found    bool         // scores of an earlier run are in memory
	sweeping bool         // scores are those of the layer, not of those below
	filling  bool         // offers of full rows become scores
	given    bool         // up: the disk is full
}

// whose is the beginning of the identity of all streams of a layer.
func whose(game awari.Game, n int) []byte {
	return fmt.Appendf(nil, "rules %v, pits %d, seeds %d, ", game.Rules(), game.Pits(), n)
}

// whose is the identity of a stream of the layer: whose it is, what its values were computed from, and
// format, which names what their places depend on.
func (e *engine) whose(format string, args ...any) []byte {
	return fmt.Appendf(append(whose(e.game, e.grid.n), made(e.below)...), format, args...)
}

// made says in an identity which layers a layer was computed from.
func made(below Below) string { return fmt.Sprintf("below %016x, ", uint64(below)) }

// Below identifies the layers below a layer that captures lead to: it is another number if the scores of one
// of them are others.
type Below uint64

// Checkpointed returns the seeds of the layer that the work directory has streams of, -1 if it has
// none; and whether they were computed from the layers that below identifies. Others are of no use.
func (e *Engine) Checkpointed(below func(seeds int) Below) (seeds int, same bool) {
	if e.options.Work == nil {
		return -1, false
	}
	for _, name := range []string{rundir.FoundName, rundir.OffersName, rundir.CapturesName(0, false)} {
		h, err := spill.ReadHeader(e.options.Work, name)
		for n := 0; n <= awari.MaxSeeds && err == nil; n++ {
			if rest, ours := bytes.CutPrefix(h.Identity, whose(e.game, n)); ours {
				return n, bytes.HasPrefix(rest, []byte(made(below(n))))
			}
		}
	}
	return -1, false
}

// header is that of a stream of a layer in memory: everything that the places of positions depend on.
func (e *engine) header(kind string) spill.Header {
	l := layoutOf(e.grid.q, e.grid.n)
	return spill.Header{Kind: kind, Version: keptVersion, Identity: e.whose("lines of %d, %d scores, %d + %d offers",
		side, l.scores, l.offers[openRows], l.offers[fullRows])}
}

// quick is the time that a checkpoint may take until it is on disk. If that is longer, the next one comes
// later by the same factor: of a minute, that leaves a thirtieth for checkpoints. Before the first one
// it is taken to cost usual nanoseconds a score, as measured.
const (
	quick = 2 * time.Second
	usual = 0.75
)

// newKeeper returns the keeper of a layer with so many scores in memory.
func newKeeper(scores int) *keeper {
	k := &keeper{last: time.Now()}
	k.lasted.Store(int64(usual * float64(scores)))
	return k
}

// keepStreams begins a checkpoint if it is time for it. Workers call it while they sweep.
func (e *engine) keepStreams() error {
	k := e.keeper
	if e.options.Work == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	window := k.window.Load() // which is a checkpoint too
	if at := e.began.Add(time.Duration(window)); window > 0 && at.After(k.last) {
		k.last = at
	}
	if k.storing.runs() || time.Since(k.last) < k.pause(e.options.Interval) {
		return nil
	}
	return e.checkpoint()
}

// pause returns the time from the begin of one checkpoint to that of the next, so that a kill costs the
// interval at most: what came after the begin of the last one that is on disk. It leaves the disk half of the time.
func (k *keeper) pause(interval time.Duration) time.Duration {
	lasted := time.Duration(k.lasted.Load())
	interval = time.Duration(float64(interval) * max(1, lasted.Seconds()/quick.Seconds()))
	return max(interval-lasted, 2*lasted)
}

// leave makes a checkpoint of a layer that is interrupted, unless hardly any work would
// be lost.
func (e *engine) leave() error {
	k := e.keeper
	if e.options.Work == nil || !k.sweeping || time.Since(k.last) < min(time.Second, e.options.Interval) {
		return nil
	}
	return errors.Join(e.checkpoint(), e.settled())
}

// checkpoint begins to write one. A full disk is no reason to stop: the layer is solved without
// them.
func (e *engine) checkpoint() error {
	k := e.keeper
	if err := e.settled(); err != nil || k.given {
		return err
	}
	if e.windows != nil { // the checkpoint takes the place of one of the window before, which must be stored
		if err := e.windows.publishing.wait(); err != nil {
			return err
		}
	}
	k.last = time.Now()
	write := e.writeScores
	if e.windows != nil {
		write = e.writeCodes
	}
	store, err := write()
	if err != nil {
		return e.goOn(err)
	}
	start := k.last
	k.storing.begin(func() error {
		err := store()
		k.lasted.Store(int64(time.Since(start)))
		return err
	})
	return nil
}

// goOn returns the error of writing a stream, unless that is that the disk is full.
func (e *engine) goOn(err error) error {
	k := e.keeper
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	if !k.given {
		k.given = true
		e.options.note("layer %d goes on without checkpoints: %v", e.grid.n, err)
	}
	return nil
}

// writeScores begins the stream of found scores and returns what writes and stores it, and before it the
// offers if they are not stored yet.
func (e *engine) writeScores() (store func() error, err error) {
	w, err := e.create(rundir.FoundName, e.header("awari-found"), spill.Direct)
	offers := !e.keeper.stored.Load() && !e.keeper.filling
	return func() error {
		return complete(w, func() error {
			if offers {
				if err := e.writeOffers(); err != nil {
					return err
				}
				e.keeper.stored.Store(true)
			}
			return e.writePieces(w, e.scores, true)
		})
	}, err
}

// writeOffers writes the offers.
func (e *engine) writeOffers() error {
	w, err := spill.Create(e.options.Work, rundir.OffersName, e.header("awari-offers"), spill.Direct, 1)
	if err != nil {
		return err
	}
	return complete(w, func() error { return e.writePieces(w, e.offers, false) })
}

// settled waits until the last checkpoint is stored, and the offers, which sweeps only read.
func (e *engine) settled() error { return e.goOn(e.keeper.storing.wait()) }

// keptPiece is the number of scores that are packed together.
const keptPiece = 1 << 18

// writePieces writes scores. If others change them, it packs a copy.
func (e *engine) writePieces(w *spill.Writer, scores []int8, changing bool) error {
	kernel, buffer, packed := planes.For(e.options.Family), make([]int8, keptPiece), packet{}
	for piece := range slices.Chunk(scores, keptPiece) {
		if changing {
			window.Copy(buffer, piece)
			piece = buffer[:len(piece)]
		}
		packed.clear()
		packed.add(kernel, piece)
		if _, err := w.Write(packed); err != nil {
			return err
		}
	}
	return nil
}

// readPieces reads scores from -n to most, where n is the seeds of the layer. It fails for others.
func (e *engine) readPieces(ctx context.Context, r *spill.Reader, scores []int8, most int8) error {
	kernel, pieces := planes.For(e.options.Family), slices.Collect(slices.Chunk(scores, keptPiece))
	var impossible byteSet
	for x := range impossible {
		if score := int8(x); score < -int8(e.grid.n) || score > most {
			impossible[x] = 1
		}
	}
	err := crew.Ordered[*packet]{
		Read: func(i int, j *packet) error {
			e.tell(CaptureStage, 0)
			return j.read(r, len(pieces[i]))
		},
		Work: func(_, i int, j *packet) error {
			if err := j.unpack(kernel, r.Path(), pieces[i]); err != nil {
				return err
			}
			if !impossible.all(asBytes(pieces[i])) {
				return corrupt.New(r.Path(), "", "a score beyond -%d and %d", e.grid.n, e.grid.n)
			}
			return nil
		},
	}.Run(ctx, e.workers, len(pieces), spares[packet](e.workers))
	if err != nil {
		return err
	}
	return atEnd(r)
}

// captureWhole computes all offers, or reads those of an earlier run, and the scores that it has
// found: both at a time, unless offers are computed, which takes the memory of the scores.
func (e *engine) captureWhole(ctx context.Context, lower Lower) error {
	if e.options.Work == nil {
		return e.captureAll(ctx, lower)
	}
	k := e.keeper
	var before history
	readScores := func() (err error) {
		before, k.found, err = e.readWhole(rundir.FoundName, e.header("awari-found"), func(r *spill.Reader) error {
			return e.readPieces(ctx, r, e.scores, int8(e.grid.n))
		})
		return err
	}
	var reading background
	reading.begin(readScores)
	stored, err := e.isUseful(rundir.OffersName, e.header("awari-offers"), func(r *spill.Reader) error {
		return e.readPieces(ctx, r, e.offers, e.grid.blocked())
	})
	k.stored.Store(stored)
	switch err = errors.Join(err, reading.wait()); {
	case err != nil, stored:
		err = errors.Join(err, lower.Close())
	default:
		if err = e.captureAll(ctx, lower); err == nil {
			err = readScores()
		}
	}
	if k.found && err == nil {
		e.remember(&before)
		k.last = time.Now()
	}
	return err
}
