package halfboard

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
)

// A pass goes over all strips of a class of rows, segment by segment.
type pass struct {
	stage Stage
	class rowClass
	reads bool // capture values
	// prune says that work removes capture values that no later window needs: the streams
	// are written again then.
	prune bool
	work  func(strip, *stripJob) error
	write func(strip, *stripJob) error // in order; nil: nothing
}

// stripJob is a strip on its way.
type stripJob struct {
	path     string // of the stream that packed is of
	packed   []byte
	captures []int8
	codes    []int8
	found    []byte // digits
	block    compress.Block
	changes  transpose.Changes
}

// goOver makes a pass.
func (e *engine) goOver(ctx context.Context, p pass) error {
	spare := spares[stripJob](e.workers)
	for segment, panels := range e.windows.segments {
		strips := slices.Collect(stripsOf(panels, p.class))
		if err := e.passSegment(ctx, p, segment, strips, spare); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) passSegment(ctx context.Context, p pass, segment int, strips []strip, spare []*stripJob) (err error) {
	s := crew.Ordered[*stripJob]{Work: func(_, i int, j *stripJob) error { return p.work(strips[i], j) }}
	if p.write != nil {
		s.Write = func(i int, j *stripJob) error { return p.write(strips[i], j) }
	}
	if !p.reads {
		return s.Run(ctx, e.workers, len(strips), spare)
	}
	name := rundir.CapturesName(segment, p.class == fullRows)
	r, err := e.openCaptures(name)
	if err != nil {
		return err
	}
	s.Read = func(_ int, j *stripJob) error { return j.read(r) }
	s.Work = func(_, i int, j *stripJob) error {
		if err := j.unpack(e, strips[i]); err != nil {
			return err
		}
		return p.work(strips[i], j)
	}
	run := func(s crew.Ordered[*stripJob]) error {
		err := s.Run(ctx, e.workers, len(strips), spare)
		e.windows.traffic.read[p.stage].Add(uint64(r.Bytes()))
		return errors.Join(err, r.Close())
	}
	if !p.prune {
		return run(s)
	}
	w, err := e.createCaptures(name, spill.LZ4)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	if err := run(e.writing(s, w)); err != nil {
		return errors.Join(err, w.Abort())
	}
	return e.windows.publish(e.stage, w) // what the window before found, which cannot be found again, is stored by then
}

// writing returns stages that write the capture values again that work leaves over.
func (e *engine) writing(s crew.Ordered[*stripJob], w *spill.Writer) crew.Ordered[*stripJob] {
	work, write := s.Work, s.Write
	s.Work = func(worker, i int, j *stripJob) error {
		err := work(worker, i, j)
		packed, head := beginStrip(j.packed[:0])
		j.packed = e.windows.appendLines(packed, j.captures)
		endStrip(j.packed, head)
		return err
	}
	s.Write = func(i int, j *stripJob) error {
		if _, err := w.Write(j.packed); err != nil || write == nil {
			return err
		}
		return write(i, j)
	}
	return s
}

// Strips of capture values begin with their length in bytes, packed.
const stripHead = 4

func beginStrip(packed []byte) (_ []byte, head int) {
	return append(packed, make([]byte, stripHead)...), len(packed)
}

func endStrip(packed []byte, head int) {
	binary.LittleEndian.PutUint32(packed[head:], uint32(len(packed)-head-stripHead))
}

// appendLines packs lines of capture values.
func (w *windows) appendLines(packed []byte, lines []int8) []byte {
	most := planes.Bound(len(lines))
	packed = slices.Grow(packed, most)
	n := w.planes.Pack(packed[len(packed):len(packed)+most], lines)
	return packed[:len(packed)+n]
}

// createCaptures begins a stream of capture values that serve the window in progress and
// those after it.
func (e *engine) createCaptures(name string, p spill.Packing) (*spill.Writer, error) {
	w, err := spill.Create(e.windows.options.Work, name, e.capturesHeader(), p, e.workers)
	if err != nil {
		return nil, err
	}
	err = e.writeHistory(w)
	if err == nil {
		_, err = w.Write(binary.LittleEndian.AppendUint32(nil, uint32(e.windows.base)))
	}
	if err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// openCaptures opens a stream of capture values and reads its beginning.
func (e *engine) openCaptures(name string) (*spill.Reader, error) {
	r, err := spill.Open(e.windows.options.Work, name, e.capturesHeader(), 1)
	if err != nil {
		return nil, err
	}
	_, err = readHistory(r)
	if err == nil {
		err = e.checkBase(r)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// errPruned reports capture values that serve later windows only.
var errPruned = errors.New("capture values for later windows only")

// checkBase reads from which window on capture values serve. It fails with an error that
// matches errPruned if that comes after the one in progress.
func (e *engine) checkBase(r *spill.Reader) error {
	var base [4]byte
	if err := readFull(r, r.Path(), base[:]); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint32(base[:]); n > uint32(e.windows.base) {
		return corrupt.New(r.Path(), "", "%w: from base %d on, not %d", errPruned, n, e.windows.base)
	}
	return nil
}

// read reads the packed capture values of a strip.
func (j *stripJob) read(r *spill.Reader) error {
	var length [stripHead]byte
	if err := readFull(r, r.Path(), length[:]); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	if most := planes.Bound(stripRows * side); n > int64(most) {
		return corrupt.New(r.Path(), "", "%d bytes for a strip, of which at most %d are possible", n, most)
	}
	j.path, j.packed = r.Path(), slices.Grow(j.packed[:0], int(n))[:n]
	return readFull(r, r.Path(), j.packed)
}

// unpack unpacks the capture values of a strip.
func (j *stripJob) unpack(e *engine, s strip) error {
	size := (s.end - s.begin) * side
	j.captures = slices.Grow(j.captures[:0], size)[:size]
	if e.windows.planes.Unpack(j.captures, j.packed) != len(j.packed) {
		return corrupt.New(j.path, "", "%d bytes are not %d capture values", len(j.packed), size)
	}
	return nil
}
