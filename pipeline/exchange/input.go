package exchange

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize/english"

	"grenier/io/corrupt"
	"grenier/io/frame"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/io/vfs"
)

// Detected stands for the codec that the first bytes of a file tell, which no scores begin with.
const Detected frame.Codec = ""

// detect returns the codec of the file at path if that is a file; the first bytes of a stream can be read once only.
func detect(path string) (frame.Codec, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Detected, err
	}
	f, err := vfs.OpenStream(path)
	if err != nil {
		return Detected, err
	}
	defer f.Close()
	var head [frame.HeadBytes]byte
	n, err := io.ReadFull(f, head[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return frame.Detect(head[:n]), err
}

// input is a file of scores to be read anywhere: the file as it was given, or a file
// unpacked from it.
type input struct {
	path string // as given, for errors
	io.ReaderAt
	close  func() error // removes an unpacked file too
	scores uint64       // that it holds
	most   int8         // largest score that makes sense
}

// open opens the file, which is packed by codec, or reads from instead, unless that is nil.
// A stream that can only be read from beginning to end goes to a file in work. Unpacking takes up to
// room bytes of memory; progress is called with each piece.
func (in *input) open(ctx context.Context, from io.Reader, codec frame.Codec, work vfs.Dir, room uint64, progress func(uint64)) error {
	if from != nil {
		return in.unpack(ctx, from, codec, work, room, progress)
	}
	f, err := vfs.OpenStream(in.path)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Unix(0, 0)) }) // ends waiting for a FIFO
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	in.ReaderAt, in.close = f, f.Close
	if codec == frame.None && info.Mode().IsRegular() {
		if size := uint64(info.Size()); size != in.scores {
			return errors.Join(in.wrongLength(size), f.Close())
		}
		return nil
	}
	return errors.Join(in.unpack(ctx, f, codec, work, room, progress), f.Close())
}

// wrongLength reports a file that does not hold as many scores as it should.
func (in *input) wrongLength(has uint64) error {
	return corrupt.New(in.path, "", "has %d %s; the layer has %d", has, english.PluralWord(int(has), "score", ""), in.scores)
}

// unpack writes the contents of f to a file in work, and makes that the one to read.
func (in *input) unpack(ctx context.Context, f io.Reader, codec frame.Codec, work vfs.Dir, room uint64, progress func(uint64)) error {
	out, err := vfs.Renew(work, rundir.ScoresName)
	if err != nil {
		return err
	}
	if codec == Detected {
		head := bufio.NewReader(f)
		first, _ := head.Peek(frame.HeadBytes) // a failure is reported when it is read
		f, codec = head, frame.Detect(first)
	}
	r, err := frame.NewReader(f, codec, room)
	if err == nil {
		err = errors.Join(in.copy(ctx, out, r, progress), r.Close())
	}
	if errors.Is(err, frame.ErrDamaged) {
		err = corrupt.New(in.path, "", "%s: %w", codec, err)
	}
	in.ReaderAt = out
	in.close = func() error { return errors.Join(out.Close(), work.Remove(rundir.ScoresName)) }
	if err != nil {
		return errors.Join(err, in.close())
	}
	return nil
}

// copy copies the scores, no more than there should be.
func (in *input) copy(ctx context.Context, out io.Writer, r io.Reader, progress func(uint64)) error {
	r = io.LimitReader(r, int64(in.scores)+1)
	buffer, done := make([]byte, 1<<20), uint64(0)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buffer)
		if _, err := out.Write(buffer[:n]); err != nil {
			return err
		}
		done += uint64(n)
		progress(min(done, in.scores))
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return err
		case done > in.scores:
			return corrupt.New(in.path, "", "it holds more than the %d scores of the layer", in.scores)
		case done < in.scores:
			return in.wrongLength(done)
		default:
			return nil
		}
	}
}

// read fills dst with the scores from byte start on.
func (in *input) read(start uint64, dst []int8) error {
	n, err := in.ReadAt(tally.Bytes(dst), int64(start))
	if n < len(dst) && errors.Is(err, io.EOF) {
		return corrupt.New(in.path, "", "it ends at byte %d: it was cut while it was read", start+uint64(n))
	}
	if n < len(dst) {
		return err
	}
	for i, score := range dst {
		if score < -in.most || score > in.most {
			return corrupt.New(in.path, fmt.Sprintf("byte %d", start+uint64(i)), "score %d, but the layer has %d to %d",
				score, -in.most, in.most)
		}
	}
	return nil
}

// Close closes the file and removes an unpacked one.
func (in *input) Close() error { return in.close() }
