package stream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/io/vfs"
	"grenier/kernels/planes"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// Streams are the streams of a layer in its work directory.
type Streams struct {
	*fixpoint.Account
	Work      vfs.Dir // nil: there are none
	Workers   int
	Note      func(string) // nil: nobody listens
	Whose     []byte       // the layer, and the layers below: the beginning of identities
	InWindows bool
	noted     sync.Map     // names of streams that the user was told of
	looked    atomic.Int64 // bytes of streams of earlier runs that were read so far
}

// tellUser is for what is stored and damaged, and computed again.
func (s *Streams) tellUser(format string, args ...any) {
	if s.Note != nil {
		s.Note(fmt.Sprintf(format, args...))
	}
}

// whose is the beginning of the identity of all streams of a layer.
func whose(game awari.Game, n int) []byte {
	return fmt.Appendf(nil, "rules %v, pits %d, seeds %d, ", game.Rules(), game.Pits(), n)
}

// LayerAbove is the beginning of the identity of the streams of a layer: whose it is, what it is computed from, and by which
// plan, if there is one.
func LayerAbove(game awari.Game, n int, below Below, plan string) []byte {
	identity := append(whose(game, n), made(below)...)
	if plan != "" {
		identity = fmt.Appendf(identity, "plan %s, ", plan)
	}
	return identity
}

// identity is the identity of a stream: its layer, what its values were computed from, and
// format, which names what their places depend on.
func (s *Streams) identity(format string, args ...any) []byte {
	return fmt.Appendf(slices.Clone(s.Whose), format, args...)
}

// made says in an identity which layers a layer was computed from.
func made(below Below) string { return fmt.Sprintf("below %016x, ", uint64(below)) }

// Below identifies the layers below a layer that captures lead to: it is another number if the scores of one
// of them are others.
type Below uint64

// Checkpointed returns the seeds of the layer that the work directory has streams of, -1 if it has
// none; and whether they were computed from the layers that below identifies. Others are of no use.
func Checkpointed(work vfs.Dir, game awari.Game, below func(seeds int) Below) (seeds int, same bool) {
	if work == nil {
		return -1, false
	}
	for _, name := range []string{rundir.FoundName, rundir.OffersName, rundir.CapturesName(0, false), rundir.WindowName(0, 0)} {
		h, err := spill.ReadHeader(work, name)
		for n := 0; n <= awari.MaxSeeds && err == nil; n++ {
			if rest, ours := bytes.CutPrefix(h.Identity, whose(game, n)); ours {
				return n, bytes.HasPrefix(rest, []byte(made(below(n))))
			}
		}
	}
	return -1, false
}

// create begins a stream with the history of the layer.
func (s *Streams) create(name string, h spill.Header, p spill.Packing) (*spill.Writer, error) {
	return s.createBy(s.Workers, name, h, p)
}

func (s *Streams) createBy(workers int, name string, h spill.Header, p spill.Packing) (*spill.Writer, error) {
	w, err := spill.Create(s.Work, name, h, p, workers)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(appendLittle(nil, soFar(s.Account))); err != nil {
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

// abort gives up the streams that are not stored.
func abort(streams []*spill.Writer) (err error) {
	for _, s := range streams {
		err = errors.Join(err, s.Abort())
	}
	return err
}

// open opens a stream and skips its history.
func (s *Streams) open(name string, h spill.Header, workers int) (*spill.Reader, error) {
	r, err := spill.Open(s.Work, name, h, workers)
	if err != nil {
		return nil, err
	}
	if _, err := readHistory(r); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// isWhole is readWhole, and takes over the history.
func (s *Streams) isWhole(name string, h spill.Header, look func(*spill.Reader) error) (bool, error) {
	before, whole, err := s.readWhole(name, h, look)
	if whole {
		before.restore(s.Account)
	}
	return whole, err
}

// readWhole reads the history of a stream of an earlier run and lets look read the rest. It
// returns no error, and false, if there is no usable one; a damaged one is noted.
func (s *Streams) readWhole(name string, h spill.Header, look func(*spill.Reader) error) (before history, whole bool, err error) {
	whole, err = s.isUseful(name, h, func(r *spill.Reader) (err error) {
		if before, err = readHistory(r); err != nil {
			return err
		}
		return look(r)
	})
	return before, whole, err
}

// isUseful is readWhole for streams that look reads from the beginning.
func (s *Streams) isUseful(name string, h spill.Header, look func(*spill.Reader) error) (bool, error) {
	r, err := spill.Open(s.Work, name, h, s.Workers)
	if err == nil {
		err = crew.Run(func() error { return look(r) })
		if s.InWindows {
			s.looked.Add(r.Bytes())
			s.Traffic.Read[fixpoint.CaptureStage].Add(uint64(r.Bytes()))
		}
		err = errors.Join(err, r.Close())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), s.InWindows && errors.Is(err, corrupt.ErrMismatch), errors.Is(err, errPruned):
		return false, nil // of a window, any width will do
	case errors.Is(err, corrupt.ErrCorrupt):
		if _, again := s.noted.LoadOrStore(name, true); !again {
			s.tellUser("layer %d: what was kept as %q is computed again: %v", s.Seeds, name, err)
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

// read reads a packet of the given number of values at most.
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
