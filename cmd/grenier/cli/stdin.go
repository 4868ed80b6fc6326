package cli

import (
	"context"
	"io"

	"grenier/io/lines"
)

// patientReader reads stdin ahead in the background, so that an interrupt ends a Read that
// waits. Before it waits, it calls before.
type patientReader struct {
	ctx    context.Context
	before func() error
	full   <-chan piece
	empty  chan<- []byte
	piece  piece
	rest   []byte // of piece
}

// piece is a part of a stream, with the error that followed it.
type piece struct {
	bytes []byte
	err   error
}

// Stdin returns a reader of stdin that fails when ctx ends, even while it waits. It calls
// before, unless that is nil, whenever it has to wait.
func (a *App) Stdin(ctx context.Context, before func() error) io.Reader {
	full, empty := make(chan piece, 2), make(chan []byte, 2)
	for range cap(empty) {
		empty <- make([]byte, lines.Max)
	}
	a.Background(func() { readPieces(ctx, a.In, full, empty) })
	return &patientReader{ctx: ctx, before: before, full: full, empty: empty}
}

// readPieces reads in until an error or the end of ctx.
func readPieces(ctx context.Context, in io.Reader, full chan<- piece, empty <-chan []byte) {
	for {
		select {
		case buffer := <-empty:
			n, err := in.Read(buffer)
			full <- piece{buffer[:n], err} // there is room for all buffers
			if err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.piece.err != nil {
			return 0, r.piece.err
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next returns the current piece and takes the next.
func (r *patientReader) next() error {
	if r.piece.bytes != nil {
		r.empty <- r.piece.bytes[:cap(r.piece.bytes)] // there is room for all buffers
	}
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.before != nil && len(r.full) == 0 {
		if err := r.before(); err != nil {
			return err
		}
	}
	select {
	case r.piece = <-r.full:
		r.rest = r.piece.bytes
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}
