package pijersi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"grenier/cmd/grenier/cli"
)

// streamBuffer is the size of the buffers of a stream of set-ups, and bounds a line.
const streamBuffer = 1 << 16

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\ufeff"

// badLine is what is wrong with a line.
type badLine struct{ error }

// answerLines answers the lines of in.
func (c *setupCommand) answerLines(ctx context.Context, in io.Reader) error {
	out := bufio.NewWriterSize(c.app.Out, streamBuffer)
	lines := bufio.NewReaderSize(c.app.newPatientReader(ctx, in, out.Flush), streamBuffer)
	bad, first := 0, 0
	for {
		line, err := nextLine(lines)
		if err == io.EOF {
			break
		}
		if c.line++; c.line == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		if err == nil {
			err = c.answerLine(out, line)
		}
		if wrong, ok := errors.AsType[badLine](err); ok {
			if bad++; bad == 1 {
				first = c.line
			}
			err = c.report(out, wrong)
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
	}
	if err := out.Flush(); err != nil || bad == 0 {
		return err
	}
	return fmt.Errorf("%d of %d lines not answered, the first is line %d", bad, c.line, first)
}

// nextLine returns the next line without its end, which is valid until the next
// call. It fails with badLine when the line is too long, and with io.EOF after the
// last.
func nextLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		for err == bufio.ErrBufferFull {
			_, err = r.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		return nil, badLine{fmt.Errorf("more than %d bytes", streamBuffer)}
	case err == io.EOF && len(line) > 0:
		err = nil // the last line may lack its end
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
}

// answerLine writes the answer to a line. It fails with badLine when there is none.
func (c *setupCommand) answerLine(out *bufio.Writer, line []byte) error {
	s, err := c.parse(line)
	if err != nil {
		return badLine{err}
	}
	answer, err := c.append(out.AvailableBuffer(), s)
	if err != nil {
		return badLine{err}
	}
	_, err = out.Write(answer)
	return err
}

// report tells what is wrong with a line.
func (c *setupCommand) report(out *bufio.Writer, wrong badLine) error {
	fmt.Fprintf(c.app.Err, "grenier: line %d: %s\n", c.line, cli.OneLine(wrong))
	if !c.view.asJSON {
		return nil
	}
	return json.NewEncoder(out).Encode(cli.LineError{Line: c.line, Error: cli.OneLine(wrong)})
}

// patientReader reads ahead in the background, so that whoever reads can listen to
// an interrupt meanwhile. Before it waits, it lets the other side have all answers.
type patientReader struct {
	ctx    context.Context
	before func() error
	full   <-chan piece
	empty  chan<- []byte
	piece  piece
	rest   []byte // what is left of piece
}

// piece is a part of a stream, and the error behind it.
type piece struct {
	bytes []byte
	err   error
}

// newPatientReader returns a reader of in, which calls before when it has to wait.
func (a *app) newPatientReader(ctx context.Context, in io.Reader, before func() error) *patientReader {
	full, empty := make(chan piece, 2), make(chan []byte, 2)
	for range cap(empty) {
		empty <- make([]byte, streamBuffer)
	}
	a.Background(func() { readPieces(ctx, in, full, empty) })
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
	if len(r.full) == 0 {
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
