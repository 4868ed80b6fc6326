package awari

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/corrupt"
	"grenier/io/lines"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// lineProber answers boards that are read from a stream, one a line.
type lineProber struct {
	tables *tables.Tables
	out    *bufio.Writer
	asJSON bool
	ahead  int // lines whose blocks are requested together

	flushed               time.Time // when the reader had all answers
	number, asked, failed int       // lines read, with a board, without an answer
	worst                 error     // the first error; damage comes before bad boards
}

// patience is how long an answer may wait in the buffer for others, which may come slowly
// from a server.
const patience = 200 * time.Millisecond

// run answers each line by a line, except blank lines and comments.
func (p *lineProber) run(ctx context.Context, lines <-chan line) error {
	for {
		l, err := p.next(ctx, lines)
		if err == nil {
			err = p.answerAll(p.gather(ctx, l, lines))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, p.out.Flush())
		}
	}
	return errors.Join(p.failure(), p.out.Flush())
}

// gather returns line l and the lines that wait behind it, at most p.ahead, after reading
// their blocks into the cache.
func (p *lineProber) gather(ctx context.Context, l line, lines <-chan line) []line {
	all := []line{l}
	for len(all) < p.ahead && len(lines) > 0 {
		all = append(all, <-lines)
	}
	if len(all) == 1 {
		return all
	}
	var boards []awari.Board
	for _, l := range all {
		board, err := p.tables.Game().Parse(cli.FieldsOfLine(l.text))
		if err == nil && board.Seeds() <= p.tables.MaxSeeds() {
			boards = append(boards, board)
		}
	}
	// What fails is requested again for the line that needs it.
	_, _ = p.tables.Probes(ctx, boards)
	return all
}

// answerAll answers lines in turn.
func (p *lineProber) answerAll(lines []line) error {
	for _, l := range lines {
		if l.err != nil {
			return l.err
		}
		if err := p.answer(l); err != nil {
			return err
		}
		if time.Since(p.flushed) > patience {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// failure returns the error for lines without an answer.
func (p *lineProber) failure() error {
	if p.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s without an answer, for instance %w", p.failed, cli.Count(p.asked, "line"), p.worst)
}

// line is a line of a stream, or the error at its end.
type line struct {
	text string // only its beginning if it is too long
	long bool
	err  error
}

// readLines reads lines of stdin ahead in the background, so that an interrupt ends the wait
// for the next one.
func (a *app) readLines(ctx context.Context) <-chan line {
	read := make(chan line, 256)
	a.Background(func() {
		in := lines.NewReader(a.In)
		for {
			text, err := in.Next()
			l := line{text: string(text), err: err}
			if errors.Is(err, lines.ErrLong) {
				l.long, l.err = true, nil
			}
			select {
			case read <- l:
			case <-ctx.Done():
				return
			}
			if l.err != nil {
				return
			}
		}
	})
	return read
}

// next returns the next line. Before it waits, it flushes the answers.
func (p *lineProber) next(ctx context.Context, lines <-chan line) (line, error) {
	if err := ctx.Err(); err != nil {
		return line{}, err
	}
	select {
	case l := <-lines:
		return l, l.err
	default:
	}
	if err := p.flush(); err != nil {
		return line{}, err
	}
	select {
	case l := <-lines:
		return l, l.err
	case <-ctx.Done():
		return line{}, ctx.Err()
	}
}

// flush writes the answers that are buffered.
func (p *lineProber) flush() error {
	p.flushed = time.Now()
	return p.out.Flush()
}

// answer writes the answer to the next line. It fails only if it cannot write, or was
// interrupted.
func (p *lineProber) answer(l line) error {
	p.number++
	if !l.long && len(cli.FieldsOfLine(l.text)) == 0 {
		return nil
	}
	p.asked++
	probe, err := p.ask(l)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		p.blame(fmt.Errorf("line %d: %w", p.number, err))
	}
	if p.asJSON {
		return p.answerJSON(probe, err)
	}
	var answer []byte
	if err != nil {
		answer = fmt.Appendf(p.out.AvailableBuffer(), "error: line %d: %s", p.number, cli.OneLine(err))
	} else {
		answer = appendProbe(p.out.AvailableBuffer(), p.tables.Game(), probe)
	}
	_, err = p.out.Write(append(answer, '\n'))
	return err
}

func (p *lineProber) ask(l line) (tables.Probe, error) {
	if l.long {
		return tables.Probe{}, lines.ErrLong
	}
	return ask(p.tables, cli.FieldsOfLine(l.text))
}

func (p *lineProber) answerJSON(probe tables.Probe, failed error) error {
	encoder := json.NewEncoder(p.out)
	if failed != nil {
		return encoder.Encode(cli.LineError{Line: p.number, Error: cli.OneLine(failed)})
	}
	return encoder.Encode(newProbeReport(p.tables.Game(), probe))
}

// blame keeps the error that decides the exit status.
func (p *lineProber) blame(err error) {
	p.failed++
	if p.worst == nil || errors.Is(err, corrupt.ErrCorrupt) && !errors.Is(p.worst, corrupt.ErrCorrupt) {
		p.worst = err
	}
}
