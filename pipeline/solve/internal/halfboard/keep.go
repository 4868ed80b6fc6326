package halfboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/planes"
	"grenier/layers/awari"
)

// The checkpoint of a layer in memory is two streams in the work directory: its offers,
// written once, and the scores found so far, written between sweeps from time to time. By the
// fixpoint theorem sweeps can resume from any found scores, so those out of date need not be
// marked: all count as such. docs/format/spill.md describes the contents.

// keptVersion is the version of both contents, and of the order of positions in memory.
const keptVersion = 1

// keeper writes checkpoints of a layer in memory and resumes from those of earlier runs.
type keeper struct {
	last     time.Time     // the end of the last checkpoint, or of reading it, or the begin of the layer, or of storing a window
	took     time.Duration // what it kept sweeps waiting; before the first one, about what it will
	lasted   atomic.Int64  // nanoseconds until it was on disk
	window   atomic.Int64  // when storing a window began that is on disk since: nanoseconds after the layer did
	stored   bool          // offers are, or are being
	storing  background    // of what sweeps need not wait for
	found    bool          // scores of an earlier run are in memory
	sweeping bool          // scores are those of the layer, not of those below
	filling  bool          // offers of full rows become scores
	given    bool          // up: the disk is full
}

// whose is the identity of the streams of a layer: everything that the places of positions depend
// on.
func whose(game awari.Game, n int) []byte {
	l := layoutOf(game.Half(), n)
	return fmt.Appendf(nil, "rules %v, pits %d, seeds %d, lines of %d, %d scores, %d + %d offers",
		game.Rules(), game.Pits(), n, side, l.scores, l.offers[openRows], l.offers[fullRows])
}

// Checkpointed returns the seeds of the layer that is resumed if it is solved next, -1 if
// there is none.
func (e *Engine) Checkpointed() (seeds int) {
	if e.options.Work == nil {
		return -1
	}
	for _, name := range []string{rundir.FoundName, rundir.OffersName, rundir.CapturesName(0, false)} {
		h, err := spill.ReadHeader(e.options.Work, name)
		for n := 0; n <= awari.MaxSeeds && err == nil; n++ {
			if string(h.Identity) == string(whose(e.game, n)) || bytes.HasPrefix(h.Identity, whoseCaptures(e.game, n)) {
				return n
			}
		}
	}
	return -1
}

func (e *engine) header(kind string) spill.Header {
	return spill.Header{Kind: kind, Version: keptVersion, Identity: whose(e.game, e.grid.n)}
}

// quick is the time that a checkpoint may keep sweeps waiting. If that is longer, it comes later by the
// same factor: of a minute, that leaves a fortieth for checkpoints. Before the first one
// it is taken to cost usual nanoseconds a score, as measured.
const (
	quick = 1500 * time.Millisecond
	usual = 0.75
)

// newKeeper returns the keeper of a layer with so many scores in memory.
func newKeeper(scores int) *keeper {
	return &keeper{last: time.Now(), took: time.Duration(usual * float64(scores))}
}

// keepStreams makes a checkpoint if it is time for it, before a stage or sweep.
func (e *engine) keepStreams(stage Stage) error {
	window := e.keeper.window.Load() // which is a checkpoint too
	if at := e.began.Add(time.Duration(window)); window > 0 && at.After(e.keeper.last) {
		e.keeper.last = at
	}
	if e.options.Work == nil || time.Since(e.keeper.last) < e.keeper.pause(e.options.Interval) {
		return nil
	}
	e.changed.Store(0)
	return e.checkpoint(stage)
}

// pause returns the time from one checkpoint to the next, so that a kill costs the interval at most:
// what came after the begin of the last checkpoint that was on disk. It leaves the disk half of the time, and
// sweeps three quarters of it, unless the interval is shorter.
func (k *keeper) pause(interval time.Duration) time.Duration {
	interval = time.Duration(float64(interval) * max(1, k.took.Seconds()/quick.Seconds()))
	lasted := time.Duration(k.lasted.Load())
	return max(interval-k.took-lasted, min(interval, max(lasted, 3*k.took)))
}

// leave makes a checkpoint of a layer that is interrupted, unless hardly any work would
// be lost.
func (e *engine) leave() error {
	k := e.keeper
	if e.options.Work == nil || !k.sweeping || time.Since(k.last) < min(time.Second, e.options.Interval) {
		return nil
	}
	return errors.Join(e.checkpoint(e.stage), e.settled())
}

// checkpoint writes the streams. A full disk is no reason to stop: the layer is
// solved without them.
func (e *engine) checkpoint(stage Stage) error {
	k := e.keeper
	if err := e.settled(); err != nil || k.given {
		return err
	}
	if e.windows != nil { // the checkpoint takes the place of one of the window before, which must be stored
		if err := e.windows.publishing.wait(); err != nil {
			return err
		}
	}
	start := time.Now()
	err := e.writeStreams(stage, start)
	k.last = time.Now()
	k.took = k.last.Sub(start)
	return e.goOn(err)
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

// writeStreams writes the found scores. Sweeps do not wait until they are on disk, nor for offers, which
// only the first checkpoint stores.
func (e *engine) writeStreams(stage Stage, start time.Time) error {
	k := e.keeper
	if e.windows != nil {
		defer func() { k.lasted.Store(int64(time.Since(start))) }()
		return e.writeCodes(stage)
	}
	w, err := e.create(rundir.FoundName, e.header("awari-found"), spill.Stored)
	if err != nil {
		return err
	}
	err = crew.Run(func() error {
		return e.writePieces(w, e.keptScores(), e.workers, func() { e.tell(stage, 0) })
	})
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	offers := !k.stored && !k.filling
	k.stored = k.stored || offers
	k.storing.begin(func() error {
		err := w.Publish()
		k.lasted.Store(int64(time.Since(start)))
		if err == nil && offers {
			err = e.writeOffers(max(1, e.workers/4)) // beside sweeps
		}
		return err
	})
	return nil
}

// writeOffers writes the offers.
func (e *engine) writeOffers(workers int) error {
	w, err := spill.Create(e.options.Work, rundir.OffersName, e.header("awari-offers"), spill.Stored, workers)
	if err != nil {
		return err
	}
	return complete(w, func() error { return e.writePieces(w, e.keptOffers(), workers, func() {}) })
}

// settled waits until the last checkpoint is stored, and the offers, which sweeps only read.
func (e *engine) settled() error { return e.goOn(e.keeper.storing.wait()) }

// keptPiece is the number of scores that are packed together.
const keptPiece = 1 << 18

// keptPart is what one of the two streams holds.
type keptPart struct {
	scores     []int8
	most       int     // seeds of the layer
	blocked    int8    // what offers that are blocked are stored as, 0 if there are none
	impossible byteSet // of what is stored
}

func (e *engine) keptScores() *keptPart {
	s := &keptPart{scores: e.scores, most: e.grid.n}
	for x := range s.impossible {
		if score := int(int8(x)); score < -s.most || score > s.most {
			s.impossible[x] = 1
		}
	}
	return s
}

func (e *engine) keptOffers() *keptPart {
	s := e.keptScores()
	s.scores, s.blocked = e.offers, int8(e.grid.n)+1
	s.impossible[s.blocked] = 0
	return s
}

// keptJob is a piece in flight.
type keptJob struct {
	packet packet
	scores []int8 // a copy
}

// writePieces writes scores. It calls tell from time to time.
func (e *engine) writePieces(w *spill.Writer, s *keptPart, workers int, tell func()) error {
	kernel, pieces := planes.For(e.options.Family), slices.Collect(slices.Chunk(s.scores, keptPiece))
	return crew.Ordered[*keptJob]{
		Work: func(_, i int, j *keptJob) error {
			piece := pieces[i]
			if s.blocked != 0 {
				j.scores = append(j.scores[:0], piece...)
				piece = j.scores
				replace(piece, blocked, s.blocked)
			}
			j.packet.clear()
			j.packet.add(kernel, piece)
			return nil
		},
		Write: func(_ int, j *keptJob) error {
			tell()
			_, err := w.Write(j.packet)
			return err
		},
	}.Run(context.Background(), workers, len(pieces), spares[keptJob](workers))
}

// replace replaces scores, without a branch: half of the offers are blocked, in no order.
func replace(scores []int8, old, by int8) {
	var to [256]int8
	for x := range to {
		to[x] = int8(x)
	}
	to[uint8(old)] = by
	for i, x := range scores {
		scores[i] = to[uint8(x)]
	}
}

// readPieces reads scores. It fails for those that are impossible in the layer.
func (e *engine) readPieces(ctx context.Context, r *spill.Reader, s *keptPart) error {
	kernel, pieces := planes.For(e.options.Family), slices.Collect(slices.Chunk(s.scores, keptPiece))
	err := crew.Ordered[*keptJob]{
		Read: func(i int, j *keptJob) error {
			e.tell(CaptureStage, 0)
			return j.packet.read(r, len(pieces[i]))
		},
		Work: func(_, i int, j *keptJob) error {
			if err := j.packet.unpack(kernel, r.Path(), pieces[i]); err != nil {
				return err
			}
			if !s.impossible.all(asBytes(pieces[i])) {
				return corrupt.New(r.Path(), "", "a score beyond -%d and %d", s.most, s.most)
			}
			if s.blocked != 0 {
				replace(pieces[i], s.blocked, blocked)
			}
			return nil
		},
	}.Run(ctx, e.workers, len(pieces), spares[keptJob](e.workers))
	if err != nil {
		return err
	}
	return atEnd(r)
}

// captureWhole computes all offers, or reads those of an earlier run, and then the scores
// that it has found.
func (e *engine) captureWhole(ctx context.Context, lower Lower) (err error) {
	k := e.keeper
	if e.options.Work == nil {
		return e.captureAll(ctx, lower)
	}
	k.stored, err = e.isUseful(rundir.OffersName, e.header("awari-offers"), func(r *spill.Reader) error {
		return e.readPieces(ctx, r, e.keptOffers())
	})
	if err != nil || k.stored {
		err = errors.Join(err, lower.Close())
	} else {
		err = e.captureAll(ctx, lower)
	}
	if err != nil {
		return err
	}
	k.found, err = e.isWhole(rundir.FoundName, e.header("awari-found"), func(r *spill.Reader) error {
		return e.readPieces(ctx, r, e.keptScores())
	})
	if k.found {
		k.last = time.Now()
	}
	return err
}
