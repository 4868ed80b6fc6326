package halfboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
)

// A checkpoint of a window is the codes of its open rows as they are in memory: sweeps can
// resume from any found scores, so all of them count as out of date when they are read
// again.

const codesVersion = 1

// codesHeader is that of a checkpoint of the window in progress.
func (e *engine) codesHeader() spill.Header {
	w := e.windows
	return spill.Header{
		Kind: fmt.Sprintf("awari-codes-%d", w.codes.Bits), Version: codesVersion,
		Identity: fmt.Appendf(whoseCaptures(e.game, e.grid.n), ", base %d", w.base),
	}
}

// codesPiece is the number of bytes of codes that are written or read between reports: whole
// lines of codes of any width.
const codesPiece = 3 << 20

// writeCodes writes a checkpoint.
func (e *engine) writeCodes(stage Stage) error {
	k := e.keeper
	start := time.Now()
	w, err := spill.Create(k.options.Work, rundir.FoundName, e.codesHeader(), spill.LZ4, e.workers)
	if err != nil {
		return err
	}
	if err := crew.Run(func() error { return e.writeCodePieces(w, stage) }); err != nil {
		return errors.Join(err, w.Abort())
	}
	err = w.Publish()
	e.windows.traffic.written[stage].Add(uint64(w.Bytes()))
	k.took = time.Since(start)
	return err
}

func (e *engine) writeCodePieces(w *spill.Writer, stage Stage) error {
	err := e.writeHistory(w)
	for at := 0; at < len(e.scores) && err == nil; at += codesPiece {
		e.tell(stage, 0)
		_, err = w.Write(asBytes(e.scores[at:min(at+codesPiece, len(e.scores))]))
	}
	return err
}

// readCodes reads the checkpoint of the window in progress, if there is one.
func (e *engine) readCodes(ctx context.Context) error {
	whole, err := e.isWhole(rundir.FoundName, e.codesHeader(), func(r *spill.Reader) error {
		return e.lookAtLines(ctx, r, len(e.scores), e.windows.codes.Valid)
	})
	if err != nil || !whole {
		return err
	}
	r, err := spill.Open(e.windows.options.Work, rundir.FoundName, e.codesHeader(), e.workers)
	if err != nil {
		return err
	}
	err = crew.Run(func() error { return e.readCodePieces(ctx, r) })
	return errors.Join(err, r.Close())
}

func (e *engine) readCodePieces(ctx context.Context, r *spill.Reader) error {
	if _, err := readHistory(r); err != nil {
		return err
	}
	for at := 0; at < len(e.scores); at += codesPiece {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.tell(e.stage, 0)
		piece := e.scores[at:min(at+codesPiece, len(e.scores))]
		if err := readFull(r, r.Path(), asBytes(piece)); err != nil {
			return err
		}
	}
	return atEnd(r)
}
