package stream

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/cpu"
	"grenier/kernels/planes"
	"grenier/kernels/window"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// The checkpoint of a layer in memory is two streams in the work directory: its offers,
// written once, and the scores found so far, written from time to time. Sweeps go on meanwhile: by the
// fixpoint theorem they can resume from any found scores, of different moments too, so those out
// of date need not be marked: all count as such. docs/format/spill.md describes the contents.

// keptVersion is the version of both contents, and of the order of positions in memory.
const keptVersion = 1

// Whole is a layer in memory and its checkpoints.
type Whole struct {
	*Streams
	layer          *board.Layer
	family         cpu.Family
	Offers, Scores []int8 // of all matrices
	Keeper         *Keeper
	stored         atomic.Bool // offers are
	Found          bool        // scores of an earlier run are in memory
	filling        bool        // offers of full rows become scores
}

// NewWhole returns a layer in memory that has checkpoints after the given time.
func NewWhole(s *Streams, l *board.Layer, f cpu.Family, offers, scores []int8, interval time.Duration) *Whole {
	w := &Whole{Streams: s, layer: l, family: f, Offers: offers, Scores: scores}
	w.Keeper = newKeeper(s, interval, w, len(scores))
	return w
}

// header is the header of a stream: its identity has everything that the places of positions depend on.
func (w *Whole) header(kind string) spill.Header {
	l := board.LayoutOf(w.layer.Q, w.layer.N)
	return spill.Header{Kind: kind, Version: keptVersion, Identity: w.identity("lines of %d, %d scores, %d + %d offers",
		board.Side, l.Scores, l.Offers[board.OpenRows], l.Offers[board.FullRows])}
}

// ready reports no error: a checkpoint may be begun at any time.
func (w *Whole) ready() error { return nil }

// begin begins the stream of found scores and returns what writes and stores it, and before it the
// offers if they are not stored yet.
func (w *Whole) begin() (store func() error, err error) {
	out, err := w.create(rundir.FoundName, w.header("awari-found"), spill.Direct)
	offers := !w.stored.Load() && !w.filling
	return func() error {
		return complete(out, func() error {
			if offers {
				if err := w.writeOffers(); err != nil {
					return err
				}
				w.stored.Store(true)
			}
			return w.writePieces(out, w.Scores, true)
		})
	}, err
}

// writeOffers writes the offers.
func (w *Whole) writeOffers() error {
	out, err := spill.Create(w.Work, rundir.OffersName, w.header("awari-offers"), spill.Direct, 1)
	if err != nil {
		return err
	}
	return complete(out, func() error { return w.writePieces(out, w.Offers, false) })
}

// Fill says that offers of full rows are going to become scores, which must be stored before.
func (w *Whole) Fill() error {
	if err := w.Keeper.Due(); err != nil { // a kill from now on must not cost the sweeps
		return err
	}
	if !w.stored.Load() {
		if err := w.Keeper.Settled(); err != nil {
			return err
		}
	}
	w.filling = true
	return nil
}

// keptPiece is the number of scores that are packed together.
const keptPiece = 1 << 18

// writePieces writes scores. If others change them, it packs a copy.
func (w *Whole) writePieces(out *spill.Writer, scores []int8, changing bool) error {
	kernel, buffer, packed := planes.For(w.family), make([]int8, keptPiece), packet{}
	for piece := range slices.Chunk(scores, keptPiece) {
		if changing {
			window.Copy(buffer, piece)
			piece = buffer[:len(piece)]
		}
		packed.clear()
		packed.add(kernel, piece)
		if _, err := out.Write(packed); err != nil {
			return err
		}
	}
	return nil
}

// readPieces reads scores from -n to most, where n is the seeds of the layer. It fails for others.
func (w *Whole) readPieces(ctx context.Context, r *spill.Reader, scores []int8, most int8) error {
	kernel, pieces := planes.For(w.family), slices.Collect(slices.Chunk(scores, keptPiece))
	var impossible byteSet
	for x := range impossible {
		if score := int8(x); score < -int8(w.layer.N) || score > most {
			impossible[x] = 1
		}
	}
	err := crew.Ordered[*packet]{
		Read: func(i int, j *packet) error {
			err := j.read(r, len(pieces[i]))
			w.looked.Add(int64(len(*j)))
			w.tellLook(0)
			return err
		},
		Work: func(_, i int, j *packet) error {
			if err := j.unpack(kernel, r.Path(), pieces[i]); err != nil {
				return err
			}
			if !impossible.all(asBytes(pieces[i])) {
				return corrupt.New(r.Path(), "", "a score beyond -%d and %d", w.layer.N, w.layer.N)
			}
			return nil
		},
	}.Run(ctx, w.Workers, len(pieces), spares[packet](w.Workers))
	if err != nil {
		return err
	}
	return atEnd(r)
}

// Capture reads the offers of an earlier run, or calls compute for them, and the scores that it has
// found: both at a time, unless offers are computed, which takes the memory of the scores. It closes lower, as compute does.
func (w *Whole) Capture(ctx context.Context, lower board.Lower, compute func() error) error {
	if w.Work == nil {
		return compute()
	}
	kept := fixpoint.Kept{}
	kept.Swept = w.keeps(&kept, w.header("awari-found"), rundir.FoundName)
	if w.keeps(&kept, w.header("awari-offers"), rundir.OffersName) {
		kept.Captures = 1
	}
	looked := w.look(kept)
	var before history
	readScores := func() (err error) {
		before, w.Found, err = w.readWhole(rundir.FoundName, w.header("awari-found"), func(r *spill.Reader) error {
			return w.readPieces(ctx, r, w.Scores, int8(w.layer.N))
		})
		return err
	}
	var reading background
	reading.begin(readScores)
	stored, err := w.isUseful(rundir.OffersName, w.header("awari-offers"), func(r *spill.Reader) error {
		return w.readPieces(ctx, r, w.Offers, w.layer.Blocked())
	})
	w.stored.Store(stored)
	err = errors.Join(err, reading.wait())
	looked()
	switch {
	case err != nil, stored:
		err = errors.Join(err, lower.Close())
	default:
		if err = compute(); err == nil {
			err = readScores()
		}
	}
	if w.Found && err == nil {
		before.restore(w.Account)
		w.Keeper.last = time.Now()
	}
	return err
}
