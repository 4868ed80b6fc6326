package halfboard

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/spill"
	"grenier/kernels/planes"
)

// create begins a stream with the history of the layer.
func (e *engine) create(name string, h spill.Header, p spill.Packing) (*spill.Writer, error) {
	w, err := spill.Create(e.options.Work, name, h, p, e.workers)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(appendLittle(nil, e.history())); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// complete writes a stream to its end and stores it.
func complete(w *spill.Writer, write func() error) error {
	if err := crew.Run(write); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Publish()
}

// abort gives up those of streams that are not stored.
func abort(streams []*spill.Writer) (err error) {
	for _, s := range streams {
		err = errors.Join(err, s.Abort())
	}
	return err
}

// open opens a stream and skips its history.
func (e *engine) open(name string, h spill.Header, workers int) (*spill.Reader, error) {
	r, err := spill.Open(e.options.Work, name, h, workers)
	if err != nil {
		return nil, err
	}
	if _, err := readHistory(r); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// isWhole is readWhole, and takes over the history.
func (e *engine) isWhole(name string, h spill.Header, look func(*spill.Reader) error) (bool, error) {
	before, whole, err := e.readWhole(name, h, look)
	if whole {
		e.remember(&before)
	}
	return whole, err
}

// readWhole reads the history of a stream of an earlier run and lets look read the rest. It
// returns no error, and false, if there is no usable one; a damaged one is noted.
func (e *engine) readWhole(name string, h spill.Header, look func(*spill.Reader) error) (before history, whole bool, err error) {
	whole, err = e.isUseful(name, h, func(r *spill.Reader) (err error) {
		if before, err = readHistory(r); err != nil {
			return err
		}
		return look(r)
	})
	return before, whole, err
}

// isUseful is readWhole for streams that look reads from the beginning.
func (e *engine) isUseful(name string, h spill.Header, look func(*spill.Reader) error) (bool, error) {
	r, err := spill.Open(e.options.Work, name, h, 1)
	if err == nil {
		err = crew.Run(func() error { return look(r) })
		if e.windows != nil {
			e.windows.traffic.read[CaptureStage].Add(uint64(r.Bytes()))
		}
		err = errors.Join(err, r.Close())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), e.windows != nil && errors.Is(err, corrupt.ErrMismatch), errors.Is(err, errPruned):
		return false, nil // of a window, any width will do
	case errors.Is(err, corrupt.ErrCorrupt):
		if _, again := e.noted.LoadOrStore(name, true); !again {
			e.options.note("layer %d: what was kept as %q is computed again: %v", e.grid.n, name, err)
		}
		return false, nil
	}
	return err == nil, err
}

// readFull fills b with bytes of a stream that should have as many.
func readFull(r *spill.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if len(b) > 0 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
		return corrupt.New(r.Path(), "", "shorter than what it should hold")
	}
	return err
}

// atEnd fails unless a stream has given all.
func atEnd(r *spill.Reader) error {
	n, err := io.ReadFull(r, make([]byte, 1))
	if n > 0 {
		return corrupt.New(r.Path(), "", "longer than what it should hold")
	}
	if err != io.EOF {
		return err
	}
	return nil
}

// A packet is values as they are in streams: their length in bytes, packed, and then lines of
// planes.
type packet []byte

const packetHead = 4

// clear begins a packet, in the same memory.
func (p *packet) clear() { *p = append((*p)[:0], make([]byte, packetHead)...) }

// add appends lines of values.
func (p *packet) add(kernel planes.Kernel, values []int8) {
	n, most := len(*p), planes.Bound(len(values))
	b := slices.Grow(*p, most)[:n+most]
	b = b[:n+kernel.Pack(b[n:], values)]
	binary.LittleEndian.PutUint32(b, uint32(len(b)-packetHead))
	*p = b
}

// read reads a packet of so many values at most.
func (p *packet) read(r *spill.Reader, values int) error {
	p.clear()
	if err := readFull(r, *p); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(*p))
	if most := planes.Bound(values); n > int64(most) {
		return corrupt.New(r.Path(), "", "%d bytes for %d values, which take at most %d", n, values, most)
	}
	*p = slices.Grow(*p, int(n))[:packetHead+n]
	return readFull(r, (*p)[packetHead:])
}

// unpack fills values. It fails for a packet of fewer or more of them.
func (p packet) unpack(kernel planes.Kernel, path string, values []int8) error {
	if kernel.Unpack(values, p[packetHead:]) != len(p)-packetHead {
		return corrupt.New(path, "", "%d bytes are not %d values", len(p)-packetHead, len(values))
	}
	return nil
}
