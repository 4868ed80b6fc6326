package halfboard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"syscall"
	"time"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/planes"
	"grenier/layers/awari"
)

// The checkpoint of a layer in memory is two streams in the work directory: its offers,
// written once, and the scores found so far, written between sweeps now and then. By the
// fixpoint theorem sweeps can resume from any found scores, so it does not matter which of
// them were out of date: all count as such. docs/format/spill.md describes the contents.

// keptVersion is that of both contents, and of the order of positions in memory.
const keptVersion = 1

// keeper makes checkpoints of a layer in memory, and finds those of earlier runs.
type keeper struct {
	options  *Options
	last     time.Time     // the last checkpoint, or the begin of the layer
	took     time.Duration // to write the found scores; before that, about what it will take
	stored   bool          // offers are, or are being
	storing  background    // of offers
	found    bool          // scores of an earlier run are in memory
	sweeping bool          // scores are those of the layer, not of those below
	filling  bool          // offers of full rows become scores
	given    bool          // up: the disk is full
}

// whose is the identity of the streams of a layer: all that the places of positions depend on.
func whose(game awari.Game, n int) []byte {
	l := layoutOf(game.Half(), n)
	return fmt.Appendf(nil, "rules %v, pits %d, seeds %d, lines of %d, %d scores, %d + %d offers",
		game.Rules(), game.Pits(), n, side, l.scores, l.offers[openRows], l.offers[fullRows])
}

// Checkpointed returns the seeds of the layer that is resumed if it is solved next, -1 if
// there is none.
func (e *Engine) Checkpointed() (seeds int) {
	if e.options.Work == nil {
		return -1
	}
	for _, name := range []string{rundir.FoundName, rundir.OffersName, rundir.CapturesName(0, false)} {
		h, err := spill.ReadHeader(e.options.Work, name)
		for n := 0; n <= awari.MaxSeeds && err == nil; n++ {
			if string(h.Identity) == string(whose(e.game, n)) || bytes.HasPrefix(h.Identity, whoseCaptures(e.game, n)) {
				return n
			}
		}
	}
	return -1
}

func (e *engine) header(kind string) spill.Header {
	return spill.Header{Kind: kind, Version: keptVersion, Identity: whose(e.game, e.grid.n)}
}

// keptHistory is the beginning of the stream of found scores.
type keptHistory struct {
	Sweeps uint64
	history
}

// quick is the time that a checkpoint may take. If it takes longer, it comes later by the
// same factor: of a minute, that leaves a fortieth for checkpoints. Before the first one
// it is taken to cost usual nanoseconds a score, as measured.
const (
	quick = 1500 * time.Millisecond
	usual = 0.75
)

// newKeeper returns the keeper of a layer with the given scores in memory.
func newKeeper(o *Options, scores int) *keeper {
	return &keeper{options: o, last: time.Now(), took: time.Duration(usual * float64(scores))}
}

// keepStreams makes a checkpoint if it is time for it, before a stage or sweep.
func (e *engine) keepStreams(stage Stage) error {
	k := e.keeper
	if k == nil || time.Since(k.last).Seconds() < k.options.Interval.Seconds()*max(1, k.took.Seconds()/quick.Seconds()) {
		return nil
	}
	e.changed.Store(0)
	return e.checkpoint(stage)
}

// leave makes a checkpoint of a layer that is interrupted, unless hardly any work would
// be lost.
func (e *engine) leave() error {
	k := e.keeper
	if k == nil || !k.sweeping || time.Since(k.last) < min(time.Second, k.options.Interval) {
		return nil
	}
	return errors.Join(e.checkpoint(e.stage), e.settled())
}

// checkpoint writes the streams. A full disk is no reason to stop: the layer is
// solved without them.
func (e *engine) checkpoint(stage Stage) error {
	k := e.keeper
	if k.given {
		return nil
	}
	if e.windows != nil { // the checkpoint takes the place of one of the window before, which must be stored
		if err := e.windows.publishing.wait(); err != nil {
			return err
		}
	}
	if err := e.settled(); err != nil {
		return err
	}
	err := e.writeStreams(stage)
	k.last = time.Now()
	return e.goOn(err)
}

// goOn returns the error of writing a stream, unless that is that the disk is full.
func (e *engine) goOn(err error) error {
	k := e.keeper
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	if !k.given {
		k.given = true
		k.options.note("layer %d goes on without checkpoints: %v", e.grid.n, err)
	}
	return nil
}

// writeStreams writes the found scores, and begins to write the offers if they are not
// stored.
func (e *engine) writeStreams(stage Stage) error {
	if e.windows != nil {
		return e.writeCodes(stage)
	}
	k := e.keeper
	if !k.stored && !k.filling {
		k.stored = true
		stream := e.offersStream()
		k.storing.begin(func() error { return e.writeStream(stream, func() {}) })
	}
	start := time.Now()
	err := e.writeStream(e.foundStream(e.encodeHistory()), func() { e.tell(stage, 0) })
	k.took = time.Since(start)
	return err
}

// settled waits until offers are stored, if they are being, which sweeps need not wait for:
// they only read them.
func (e *engine) settled() error {
	k := e.keeper
	if k == nil {
		return nil
	}
	return e.goOn(k.storing.wait())
}

// keptPiece is the number of scores that are packed together, and keptPieces how many such
// pieces each worker packs between reports.
const (
	keptPiece  = 1 << 18
	keptPieces = 2
)

// A keptStream is one of the two streams.
type keptStream struct {
	name, kind string
	begin      []byte // what stands before the scores
	scores     []int8
	blocked    int8       // what offers that are blocked are stored as, 0 if there are none
	workers    int        // that pack
	most       int        // seeds of the layer
	impossible [256]uint8 // 1 for bytes that are no score
	meaning    [256]int8  // of bytes as stored
	packed     [][]byte   // of a batch
	scratch    [][]int8   // likewise
}

func (e *engine) newStream(name, kind string, scores []int8, workers int) *keptStream {
	s := &keptStream{
		name: name, kind: kind, scores: scores, workers: workers, most: e.grid.n,
		packed: make([][]byte, keptPieces*workers), scratch: make([][]int8, keptPieces*workers),
	}
	for x := range s.meaning {
		s.meaning[x] = int8(x)
		if score := int(int8(x)); score < -s.most || score > s.most {
			s.impossible[x] = 1
		}
	}
	return s
}

func (e *engine) offersStream() *keptStream {
	s := e.newStream(rundir.OffersName, "awari-offers", e.offers, max(1, e.workers/4)) // beside sweeps
	s.blocked = int8(e.grid.n) + 1
	s.impossible[s.blocked], s.meaning[s.blocked] = 0, blocked
	return s
}

func (e *engine) foundStream(begin []byte) *keptStream {
	s := e.newStream(rundir.FoundName, "awari-found", e.scores, e.workers)
	s.begin = begin
	return s
}

// batches yields the pieces of a stream, as many at a time as can be packed.
func (s *keptStream) batches() iter.Seq[[][]int8] {
	return slices.Chunk(slices.Collect(slices.Chunk(s.scores, keptPiece)), len(s.packed))
}

// pack packs a piece: its length then, and lines of bit planes.
func (s *keptStream) pack(kernel planes.Kernel, i int, piece []int8) {
	most := planes.Bound(len(piece))
	s.packed[i] = slices.Grow(s.packed[i][:0], 4+most)[:4+most]
	if s.blocked != 0 {
		s.scratch[i] = slices.Grow(s.scratch[i][:0], len(piece))[:len(piece)]
		for j, x := range piece {
			if x == blocked {
				x = s.blocked
			}
			s.scratch[i][j] = x
		}
		piece = s.scratch[i]
	}
	n := kernel.Pack(s.packed[i][4:], piece)
	binary.LittleEndian.PutUint32(s.packed[i], uint32(n))
	s.packed[i] = s.packed[i][:4+n]
}

// writeStream writes a stream. It calls tell now and then.
func (e *engine) writeStream(s *keptStream, tell func()) error {
	w, err := spill.Create(e.keeper.options.Work, s.name, e.header(s.kind), spill.Stored, s.workers)
	if err != nil {
		return err
	}
	if err := crew.Run(func() error { return e.writePieces(w, s, tell) }); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Publish()
}

func (e *engine) writePieces(w *spill.Writer, s *keptStream, tell func()) error {
	if _, err := w.Write(s.begin); err != nil {
		return err
	}
	kernel := planes.For(e.keeper.options.Family)
	for batch := range s.batches() {
		tell()
		err := crew.Each(context.Background(), s.workers, len(batch), func(_, i int) error {
			s.pack(kernel, i, batch[i])
			return nil
		})
		if err != nil {
			return err
		}
		for _, packed := range s.packed[:len(batch)] {
			if _, err := w.Write(packed); err != nil {
				return err
			}
		}
	}
	return nil
}

// captureWhole computes all offers, or reads those of an earlier run, and then the scores
// that it has found.
func (e *engine) captureWhole(ctx context.Context, lower Lower) (err error) {
	k := e.keeper
	if k != nil {
		k.stored, err = e.readStream(ctx, e.offersStream())
	}
	switch {
	case err != nil:
		return errors.Join(err, lower.Close())
	case k != nil && k.stored:
		err = lower.Close()
	default:
		err = e.captureAll(ctx, lower)
	}
	if err != nil || k == nil {
		return err
	}
	return e.readFound(ctx)
}

// readFound reads the scores that an earlier run has found.
func (e *engine) readFound(ctx context.Context) error {
	s := e.foundStream(make([]byte, binary.Size(keptHistory{})))
	found, err := e.readStream(ctx, s)
	if err != nil || !found {
		return err
	}
	var h keptHistory
	if _, err := binary.Decode(s.begin, binary.LittleEndian, &h); err != nil {
		return err
	}
	if !h.possible() || h.Sweeps > mostSweeps {
		e.ignore(s, corrupt.New(e.keeper.options.Work.Path(s.name), "", "impossible times: %+v", h))
		return nil
	}
	e.rememberSweeps(&h)
	e.keeper.found = true
	return nil
}

// encodeHistory returns the beginning of a stream.
func (e *engine) encodeHistory() []byte {
	return appendLittle(nil, keptHistory{uint64(e.stats.Sweeps), e.history()})
}

func appendLittle(b []byte, x any) []byte {
	b, err := binary.Append(b, binary.LittleEndian, x)
	if err != nil {
		panic(err) // of fixed size
	}
	return b
}

// writeHistory begins a stream.
func (e *engine) writeHistory(w *spill.Writer) error {
	_, err := w.Write(e.encodeHistory())
	return err
}

// readHistory reads the beginning of a stream.
func readHistory(r *spill.Reader) (h keptHistory, err error) {
	b := make([]byte, binary.Size(h))
	if err := readFull(r, r.Path(), b); err != nil {
		return h, err
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &h); err != nil {
		return h, err
	}
	if !h.possible() || h.Sweeps > mostSweeps {
		return h, corrupt.New(r.Path(), "", "impossible times: %+v", h)
	}
	return h, nil
}

// rememberSweeps continues a history.
func (e *engine) rememberSweeps(h *keptHistory) {
	e.remember(&h.history)
	e.stats.Sweeps = int(h.Sweeps)
}

// mostSweeps is more than any layer takes.
const mostSweeps = 1 << 31

// readStream fills a stream. It returns false without an error if there is no usable
// one: note says so, and the scores are undefined.
func (e *engine) readStream(ctx context.Context, s *keptStream) (read bool, err error) {
	r, err := spill.Open(e.keeper.options.Work, s.name, e.header(s.kind), s.workers)
	if err == nil {
		err = crew.Run(func() error { return e.readPieces(ctx, r, s) })
		err = errors.Join(err, r.Close())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, corrupt.ErrCorrupt):
		e.ignore(s, err)
		return false, nil
	}
	return err == nil, err
}

// ignore notes that a stream is of no use.
func (e *engine) ignore(s *keptStream, err error) {
	e.keeper.options.note("layer %d: what was kept as %q is computed again: %v", e.grid.n, s.name, err)
}

func (e *engine) readPieces(ctx context.Context, r *spill.Reader, s *keptStream) error {
	path := e.keeper.options.Work.Path(s.name)
	if err := readFull(r, path, s.begin); err != nil {
		return err
	}
	kernel := planes.For(e.keeper.options.Family)
	for batch := range s.batches() {
		e.tell(CaptureStage, 0)
		for i, piece := range batch {
			if err := s.read(r, path, i, planes.Bound(len(piece))); err != nil {
				return err
			}
		}
		err := crew.Each(ctx, s.workers, len(batch), func(_, i int) error {
			return s.unpack(kernel, path, i, batch[i])
		})
		if err != nil {
			return err
		}
	}
	return atEnd(r)
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

// read reads piece i, packed in at most most bytes.
func (s *keptStream) read(r io.Reader, path string, i, most int) error {
	var length [4]byte
	if err := readFull(r, path, length[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(length[:])
	if int64(n) > int64(most) {
		return corrupt.New(path, "", "%d bytes for a piece, of which at most %d are possible", n, most)
	}
	s.packed[i] = slices.Grow(s.packed[i][:0], most)[:n]
	return readFull(r, path, s.packed[i])
}

// readFull fills b with bytes of a stream that should have as many.
func readFull(r io.Reader, path string, b []byte) error {
	_, err := io.ReadFull(r, b)
	if len(b) > 0 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
		return corrupt.New(path, "", "shorter than what it should hold")
	}
	return err
}

// unpack is the inverse of pack. It fails for scores that are impossible in the layer.
func (s *keptStream) unpack(kernel planes.Kernel, path string, i int, piece []int8) error {
	if kernel.Unpack(piece, s.packed[i]) != len(s.packed[i]) {
		return corrupt.New(path, "", "%d bytes are not %d scores", len(s.packed[i]), len(piece))
	}
	met := uint8(0)
	for i, x := range piece {
		met |= s.impossible[uint8(x)]
		piece[i] = s.meaning[uint8(x)]
	}
	if met != 0 {
		return corrupt.New(path, "", "a score beyond -%d and %d", s.most, s.most)
	}
	return nil
}
