package halfboard

import (
	"context"
	"errors"
	"fmt"
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

// codesHeader is that of a checkpoint of the window in progress.
func (e *engine) codesHeader() spill.Header {
	w := e.windows
	return spill.Header{
		Kind: fmt.Sprintf("awari-codes-%d", w.codes.Bits), Version: codesVersion,
		Identity: fmt.Appendf(e.whoseCaptures(), ", base %d", w.base),
	}
}

// codesPiece is the number of bytes of codes that are written or read at a time: whole
// lines of codes of any width.
const codesPiece = 3 << 16

// codePieces yields the codes in memory, in order.
func (e *engine) codePieces() iter.Seq[[]int8] {
	if e.windows.codes != window.Eight {
		return slices.Chunk(e.scores, codesPiece)
	}
	return func(yield func([]int8) bool) {
		for _, m := range e.grid.matrices {
			for i := range m.marks {
				if !yield(window.Thin(m.scores[m.blocks[i]:m.blocks[i+1]]).Codes()) {
					return
				}
			}
		}
	}
}

// writeCodes begins a checkpoint and returns what writes and stores it.
func (e *engine) writeCodes() (store func() error, err error) {
	w, err := e.create(rundir.FoundName, e.codesHeader(), spill.Direct)
	written := &e.windows.traffic.written[e.stage]
	return func() error {
		buffer := make([]int8, codesPiece)
		err := complete(w, func() error {
			for piece := range e.codePieces() {
				codes := buffer[:len(piece)]
				window.Copy(codes, piece)
				if _, err := w.Write(asBytes(codes)); err != nil {
					return err
				}
			}
			return nil
		})
		written.Add(uint64(w.Bytes()))
		return err
	}, err
}

// readCodes reads the checkpoint of the window in progress, if there is one.
func (e *engine) readCodes(ctx context.Context) error {
	whole, err := e.isWhole(rundir.FoundName, e.codesHeader(), func(r *spill.Reader) error {
		size := 0
		for piece := range e.codePieces() {
			size += len(piece)
		}
		if err := e.lookAtLines(ctx, r, size, e.windows.codes.Valid); err != nil {
			return err
		}
		return atEnd(r)
	})
	if err != nil || !whole {
		return err
	}
	e.windows.kept = nil
	r, err := e.open(rundir.FoundName, e.codesHeader(), e.workers)
	if err != nil {
		return err
	}
	err = crew.Run(func() error {
		buffer := make([]int8, codesPiece)
		for piece := range e.codePieces() {
			e.tell(e.stage, 0)
			codes := buffer[:len(piece)]
			if err := errors.Join(ctx.Err(), readFull(r, asBytes(codes))); err != nil {
				return err
			}
			e.windows.codes.Resume(piece, codes)
		}
		return atEnd(r)
	})
	return errors.Join(err, r.Close())
}
