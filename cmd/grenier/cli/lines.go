package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"grenier/io/corrupt"
	"grenier/io/lines"
)

// byteOrderMark begins the files of some editors.
const byteOrderMark = "\ufeff"

// Lines answers the lines of stdin. It skips blank lines and those that begin with #; a
// comma counts as a blank.
type Lines struct {
	App *App
	// JSON has bad lines reported on stdout as objects {"line", "error"}.
	JSON bool
	// Inline has bad lines reported on stdout, in the place of the answer, in text too;
	// otherwise they are reported on stderr.
	Inline bool
	// Answer appends the answer to a line, with its end. The line has no blanks around it
	// and is valid during the call only.
	Answer func(dst, line []byte, number int) ([]byte, error)

	in                 *lines.Reader
	out                *bufio.Writer
	flushed            time.Time // when the reader had all answers
	number, asked, bad int
	firstBad           int   // its number
	worst              error // the first error; damage comes before bad lines
}

// patience is how long an answer may wait in the buffer for others, which may come slowly
// from a server.
const patience = 200 * time.Millisecond

// badLine is the error in a line.
type badLine struct{ error }

func (b badLine) Unwrap() error { return b.error }

// Run answers all lines. It fails in the end if some could not be answered; with Inline the
// error wraps the first, or that about damage.
func (l *Lines) Run(ctx context.Context) error {
	l.out = bufio.NewWriterSize(l.App.Out, lines.Max)
	l.in = lines.NewReader(l.App.Stdin(ctx, l.flush))
	for {
		line, err := l.in.Next()
		if err == io.EOF {
			break
		}
		if l.number++; l.number == 1 {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
		if err == nil {
			err = l.answer(line)
		} else if errors.Is(err, lines.ErrLong) {
			l.asked++
			err = badLine{err}
		}
		if wrong, ok := errors.AsType[badLine](err); ok {
			err = l.report(wrong)
		}
		if err == nil && time.Since(l.flushed) > patience {
			err = l.flush()
		}
		if err != nil {
			return errors.Join(err, l.out.Flush())
		}
	}
	if err := l.out.Flush(); err != nil || l.bad == 0 {
		return err
	}
	if l.Inline {
		return fmt.Errorf("%d of %s without an answer, for instance %w", l.bad, Count(l.asked, "line"), l.worst)
	}
	return fmt.Errorf("%d of %s without an answer, the first is line %d", l.bad, Count(l.asked, "line"), l.firstBad)
}

// flush writes the answers that are buffered.
func (l *Lines) flush() error {
	l.flushed = time.Now()
	return l.out.Flush()
}

// Waiting returns text that was read beyond the line that Answer is called with.
func (l *Lines) Waiting() []byte { return l.in.Waiting() }

// content returns the content of a line: nothing if it is blank or a comment.
func content(line []byte) []byte {
	for i, c := range line {
		if c == ',' {
			line[i] = ' '
		}
	}
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '#' {
		return nil
	}
	return line
}

// answer writes the answer to a line. It fails with badLine when there is none.
func (l *Lines) answer(line []byte) error {
	if line = content(line); len(line) == 0 {
		return nil
	}
	l.asked++
	answer, err := l.Answer(l.out.AvailableBuffer(), line, l.number)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return badLine{err}
	}
	_, err = l.out.Write(answer)
	return err
}

// report reports the mistake in a line.
func (l *Lines) report(wrong badLine) error {
	text := OneLine(wrong)
	if l.bad++; l.bad == 1 {
		l.firstBad = l.number
	}
	if l.worst == nil || errors.Is(wrong, corrupt.ErrCorrupt) && !errors.Is(l.worst, corrupt.ErrCorrupt) {
		l.worst = fmt.Errorf("line %d: %w", l.number, wrong.error)
	}
	if !l.Inline {
		fmt.Fprintf(l.App.Err, "grenier: line %d: %s\n", l.number, text)
	}
	if l.JSON {
		return json.NewEncoder(l.out).Encode(LineError{Line: l.number, Error: text})
	}
	if l.Inline {
		_, err := fmt.Fprintf(l.out, "error: line %d: %s\n", l.number, text)
		return err
	}
	return nil
}

// Fields splits arguments, or a line of stdin, at blanks and commas. An empty argument
// is a field.
func Fields(args ...string) []string {
	var fields []string
	for _, arg := range args {
		parts := strings.FieldsFunc(arg, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' })
		if len(parts) == 0 {
			parts = []string{arg}
		}
		fields = append(fields, parts...)
	}
	return fields
}

// FieldsOfLine returns the fields of a line of stdin, none if it is blank or a comment.
func FieldsOfLine(line string) []string {
	line = strings.TrimSpace(strings.TrimPrefix(line, byteOrderMark))
	if strings.Trim(line, ", \t") == "" || line[0] == '#' {
		return nil
	}
	return Fields(line)
}

// maxWords bounds the numbers that Arguments reads from stdin.
const maxWords = 1 << 16

// Arguments returns args, split like Fields, or the fields of all lines of stdin if the only
// one is "-".
func (a *App) Arguments(ctx context.Context, args []string) ([]string, error) {
	if len(args) != 1 || args[0] != Stdout {
		return Fields(args...), nil
	}
	var fields []string
	in := lines.NewReader(a.Stdin(ctx, nil))
	for {
		line, err := in.Next()
		if err == io.EOF {
			return fields, nil
		}
		if err != nil {
			return nil, fmt.Errorf("stdin: %w", err)
		}
		fields = append(fields, FieldsOfLine(string(line))...)
		if len(fields) > maxWords {
			return nil, Usagef("stdin has more than %d numbers", maxWords)
		}
	}
}
