package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/compress"
	"grenier/kernels/planes"
	"grenier/kernels/transpose"
	"grenier/kernels/window"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// A pass goes over all strips of a class of rows, segment by segment.
type pass struct {
	stage fixpoint.Stage
	class board.RowClass
	reads bool // capture values
	// prune says that the streams are written again: with what is left of the values beyond the
	// base of the window in progress, from which work can remove what no later window needs.
	prune bool
	work  func(strip, *stripJob) error
	write func(strip, *stripJob) error // in order; nil: nothing
}

// stripJob is a strip on its way.
type stripJob struct {
	packet   packet
	captures []int8
	base     int // of the window in progress, less the clip of captures
	codes    []int8
	found    []byte // digits
	block    compress.Block
	scratch  *compress.Scratch // of the worker
	changes  transpose.Changes
}

// goOver makes a pass.
func (w *Windows) goOver(ctx context.Context, p pass) error {
	for segment, panels := range w.segments {
		strips := slices.Collect(stripsOf(panels, p.class))
		if err := w.passSegment(ctx, p, segment, strips); err != nil {
			return err
		}
	}
	return nil
}

func (w *Windows) passSegment(ctx context.Context, p pass, segment int, strips []strip) (err error) {
	work := func(worker, i int, j *stripJob) error {
		j.scratch = w.Scratch(worker)
		return p.work(strips[i], j)
	}
	s := crew.Ordered[*stripJob]{Work: work}
	if p.write != nil {
		s.Write = func(i int, j *stripJob) error { return p.write(strips[i], j) }
	}
	if !p.reads {
		return s.Run(ctx, w.Workers, len(strips), w.jobs)
	}
	name := rundir.CapturesName(segment, p.class == board.FullRows)
	r, clipped, err := w.openCaptures(name)
	if err != nil {
		return err
	}
	s.Read = func(_ int, j *stripJob) error { return j.packet.read(r, StripRows*board.Side) }
	s.Work = func(worker, i int, j *stripJob) error {
		if err := j.unpack(w.code.planes, r.Path(), strips[i]); err != nil {
			return err
		}
		j.base = w.base - clipped
		if p.prune {
			window.Clip(j.captures, j.base)
			j.base = 0
		}
		return work(worker, i, j)
	}
	run := func(s crew.Ordered[*stripJob]) error {
		err := s.Run(ctx, w.Workers, len(strips), w.jobs)
		if err == nil {
			err = atEnd(r)
		}
		w.Traffic.Read[p.stage].Add(uint64(r.Bytes()))
		return errors.Join(err, r.Close())
	}
	if !p.prune {
		return run(s)
	}
	out, err := w.createCaptures(name, w.base)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	if err := run(w.writing(s, out)); err != nil {
		return errors.Join(err, out.Abort())
	}
	return w.publish(w.Stage, func() {}, out) // what the window before found, which cannot be found again, is stored by then
}

// writing returns stages that write the capture values again that work leaves over.
func (w *Windows) writing(s crew.Ordered[*stripJob], out *spill.Writer) crew.Ordered[*stripJob] {
	work, write := s.Work, s.Write
	s.Work = func(worker, i int, j *stripJob) error {
		err := work(worker, i, j)
		j.packet.clear()
		j.packet.add(w.code.planes, j.captures)
		return err
	}
	s.Write = func(i int, j *stripJob) error {
		if _, err := out.Write(j.packet); err != nil || write == nil {
			return err
		}
		return write(i, j)
	}
	return s
}

// createCaptures begins a stream of capture values that are clipped by a base: they serve the window
// with that base and those after it.
func (w *stored) createCaptures(name string, base int) (*spill.Writer, error) {
	out, err := w.create(name, w.capturesHeader(), spill.LZ4)
	if err != nil {
		return nil, err
	}
	if _, err := out.Write(binary.LittleEndian.AppendUint32(nil, uint32(base))); err != nil {
		return nil, errors.Join(err, out.Abort())
	}
	return out, nil
}

// openCaptures opens a stream of capture values and reads its beginning: values are clipped by the
// base from which on they serve.
func (w *Windows) openCaptures(name string) (r *spill.Reader, clipped int, err error) {
	if r, err = w.open(name, w.capturesHeader(), w.Workers); err != nil {
		return nil, 0, err
	}
	if clipped, err = w.readBase(r); err != nil {
		return nil, 0, errors.Join(err, r.Close())
	}
	return r, clipped, nil
}

// errPruned reports capture values that serve later windows only.
var errPruned = errors.New("capture values for later windows only")

// readBase reads from which window on capture values serve. It fails with an error that
// matches errPruned if that comes after the one in progress.
func (w *Windows) readBase(r *spill.Reader) (int, error) {
	var base [4]byte
	if err := readFull(r, base[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(base[:])
	if n > uint32(w.base) {
		return 0, corrupt.New(r.Path(), "", "%w: from base %d on, not %d", errPruned, n, w.base)
	}
	return int(n), nil
}

// unpack unpacks the capture values of a strip.
func (j *stripJob) unpack(kernel planes.Kernel, path string, s strip) error {
	size := (s.end - s.begin) * board.Side
	j.captures = slices.Grow(j.captures[:0], size)[:size]
	return j.packet.unpack(kernel, path, j.captures)
}
