package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/window"
)

// A checkpoint of a window is the codes of its open rows as they are in memory, written while sweeps
// go on. They can resume from any found scores, so all of them count as out of date when they are read
// again. Codes of two parts (kernels/window) may be of two moments: then the score is one that was on its way to
// the right one, but the floor can be any, so floors are made from capture values again.

const codesVersion = 1

// codesHeader is the header of a checkpoint of a window.
func (w *stored) codesHeader(of foundIn) spill.Header {
	return spill.Header{
		Kind: fmt.Sprintf("awari-codes-%d", of.codes.Bits), Version: codesVersion,
		Identity: fmt.Appendf(w.whoseCaptures(), ", base %d", of.base),
	}
}

// codesName is the name of that checkpoint.
func (w *Windows) codesName() string {
	if w.setup.Alone {
		return rundir.FoundInName(w.base)
	}
	return rundir.FoundName
}

// codesPiece is the number of bytes of codes that are written or read at a time: whole
// lines of codes of any width.
const codesPiece = 3 << 16

// codePieces yields the codes in memory, in order.
func (w *Windows) codePieces() iter.Seq[[]int8] {
	if w.Codes != window.Eight {
		return slices.Chunk(w.scores, codesPiece)
	}
	return func(yield func([]int8) bool) {
		for _, m := range w.Grid.Matrices {
			for i := range m.Marks {
				if !yield(window.Thin(m.Scores[m.Blocks[i]:m.Blocks[i+1]]).Codes()) {
					return
				}
			}
		}
	}
}

// ready waits for the window before, whose checkpoint is overwritten.
func (w *Windows) ready() error { return w.publishing.wait() }

// begin begins a checkpoint and returns what writes and stores it.
func (w *Windows) begin() (store func() error, err error) {
	out, err := w.create(w.codesName(), w.codesHeader(w.now()), spill.Direct)
	written := &w.Traffic.Written[w.Stage]
	return func() error {
		buffer := make([]int8, codesPiece)
		err := complete(out, func() error {
			for piece := range w.codePieces() {
				codes := buffer[:len(piece)]
				window.Copy(codes, piece)
				if _, err := out.Write(asBytes(codes)); err != nil {
					return err
				}
			}
			return nil
		})
		written.Add(uint64(out.Bytes()))
		return err
	}, err
}

// readCodes reads the checkpoint of the window in progress, if there is one.
func (w *Windows) readCodes(ctx context.Context) error {
	whole, err := w.isWhole(w.codesName(), w.codesHeader(w.now()), func(r *spill.Reader) error {
		size := 0
		for piece := range w.codePieces() {
			size += len(piece)
		}
		if err := w.lookAtLines(ctx, r, size, w.Codes.Valid, func(int) { w.Tell(w.Stage, 0) }); err != nil {
			return err
		}
		return atEnd(r)
	})
	if err != nil || !whole {
		return err
	}
	w.Kept = nil
	r, err := w.open(w.codesName(), w.codesHeader(w.now()), w.Workers)
	if w.setup.Alone && errors.Is(err, fs.ErrNotExist) {
		return nil // another process has stored the window meanwhile, and needs no checkpoint any more
	}
	if err != nil {
		return err
	}
	err = crew.Run(func() error {
		buffer := make([]int8, codesPiece)
		for piece := range w.codePieces() {
			w.Tell(w.Stage, 0)
			codes := buffer[:len(piece)]
			if err := errors.Join(ctx.Err(), readFull(r, asBytes(codes))); err != nil {
				return err
			}
			w.Codes.Resume(piece, codes)
		}
		return atEnd(r)
	})
	return errors.Join(err, r.Close())
}
