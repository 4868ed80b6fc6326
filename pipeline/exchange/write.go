package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"

	"grenier/io/crew"
	"grenier/io/frame"
	"grenier/io/layerfile"
	"grenier/io/memory"
	"grenier/pipeline/exchange/internal/output"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

// Options say what to export or import, and how.
type Options struct {
	job.Job // whose Note gets messages of WriteAll
	// Seeds is the layer, Format and Codec describe the file. Import reads Colex and
	// Vu only.
	Seeds  int
	Skip   int // of Import: see solve.Options
	Format Format
	Codec  frame.Codec
	Layers []int // of WriteAll; empty for all
	// Part is the part of each file that an export writes, an equal share of its pieces: the parts one behind the other are the
	// file, or, if it is compressed, several frames with the same contents.
	Part job.Part
	// From, if not nil, is read by Import in the place of the file; the path is then a name
	// for errors.
	From io.Reader
}

// Summary says what was written.
type Summary struct {
	Rules     string      `json:"rules"`
	Pits      int         `json:"pits"`
	Seeds     int         `json:"seeds"`
	Format    Format      `json:"format"`
	Codec     frame.Codec `json:"codec"`
	Positions uint64      `json:"positions"` // scores in the file
	Bytes     uint64      `json:"bytes"`     // of the file
}

// What an export takes besides its pieces: the program itself, and garbage.
const baseMemory = 24 << 20

// pieceSize is the number of scores that are decoded together.
const pieceSize = layerfile.MaxBlockSize

// WriteFile writes a layer of the run directory dir to the file at path. The file has its name
// only when it is complete, and replaces a file of that name, but nothing else.
// It fails like Write.
func WriteFile(ctx context.Context, dir, path string, o Options) (Summary, error) {
	return output.ToFile(path, func(w io.Writer) (Summary, error) { return Write(ctx, dir, w, o) })
}

// Write writes a layer of the run directory dir to w. It fails with ErrFormat, with a
// *memory.Error, like tables.Open and Tables.Read, and with the error of ctx or w; what was
// written then is of no use.
func Write(ctx context.Context, dir string, w io.Writer, o Options) (Summary, error) {
	e, err := newExport(ctx, dir, o)
	if err != nil {
		return Summary{}, err
	}
	return e.run(ctx, w)
}

// export is an export in progress.
type export struct {
	Options
	tables *tables.Tables
	shape  *shape
	pieces []*piece // memory for some
}

// piece is a part of the layer in flight. Pieces are reused.
type piece struct {
	scores []int8
	text   []byte // memory for encoded bytes
	bytes  []byte // encoded
}

// newExport opens the layer and checks what is asked for.
func newExport(ctx context.Context, dir string, o Options) (e *export, err error) {
	o.Workers = max(1, o.Workers)
	t, err := openLayer(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	if err := o.Format.check(t.Game()); err != nil {
		return nil, err
	}
	if _, err := t.File(ctx, o.Seeds); err != nil { // whether there is such a layer
		return nil, err
	}
	s, err := newShape(t.Game(), o.Seeds)
	if err != nil {
		return nil, err
	}
	e = &export{Options: o, tables: t, shape: s}
	if o.Format == CSV {
		err = e.findPlies(ctx)
	}
	return e, errors.Join(err, e.makePieces())
}

// findPlies adds a column for the distances of the layer, if the manifest lists some.
func (e *export) findPlies(ctx context.Context) error {
	f, err := e.tables.ListedDistances(ctx, e.Seeds)
	if f != nil {
		e.shape.plies = func(first uint64, dst []int8) error {
			_, err := e.tables.ReadDistances(ctx, e.Seeds, first, dst)
			return err
		}
	}
	return err
}

// openLayer opens a run directory so that reading the layer stays within the memory.
func openLayer(ctx context.Context, dir string, o Options) (*tables.Tables, error) {
	t, err := tables.Open(ctx, dir, tables.Kernel(o.Family))
	if err != nil || o.Memory == 0 || o.Seeds < 0 || o.Seeds > t.MaxSeeds() || mapped(t, o.Seeds) <= o.Memory/4 {
		return t, err
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	return tables.Open(ctx, dir, tables.Kernel(o.Family), tables.Sparing(true))
}

// mapped returns the bytes of memory that the files of a layer which are mapped may take.
func mapped(t *tables.Tables, n int) uint64 {
	l := t.Layers()[n]
	return uint64(l.Bytes + l.Distances.Bytes)
}

// makePieces makes as many pieces as keep the workers busy and fit into the memory.
func (e *export) makePieces() error {
	size := min(pieceSize, int(e.shape.Positions()))
	text := 0
	if e.Format == CSV {
		text = size * e.Format.most(e.shape)
	}
	count := int(min(uint64(4*e.Workers+4), e.count()))
	if e.Memory > 0 {
		fixed := baseMemory + frame.Memory(e.Codec, e.Workers) + min(e.Memory/4, mapped(e.tables, e.Seeds))
		each := uint64(size + text)
		if need := fixed + 2*each; need > e.Memory {
			return &memory.Error{What: fmt.Sprintf("layer %d as %s", e.Seeds, e.Format), Need: need, Allowed: e.Memory}
		}
		count = int(min(uint64(count), (e.Memory-fixed)/each))
	}
	for range count {
		e.pieces = append(e.pieces, &piece{scores: make([]int8, size), text: make([]byte, 0, text)})
	}
	return nil
}

// run writes the layer and closes it.
func (e *export) run(ctx context.Context, w io.Writer) (summary Summary, err error) {
	defer func() { err = errors.Join(err, e.tables.Close()) }()
	below := &output.Counter{W: w}
	positions, err := e.scores()
	if err != nil {
		return Summary{}, err
	}
	var header []byte
	if e.Part.Index <= 1 {
		header = e.Format.header(e.shape)
	}
	packer, err := e.packer(below, uint64(len(header))+e.Format.bytes(e.shape, positions))
	if err != nil {
		return Summary{}, err
	}
	_, err = packer.Write(header)
	if err == nil {
		err = e.stream(ctx, packer)
	}
	if err = errors.Join(err, packer.Close()); err != nil {
		return Summary{}, err
	}
	return Summary{
		Rules: e.tables.Game().Rules().String(), Pits: e.tables.Game().Pits(), Seeds: e.Seeds,
		Format: e.Format, Codec: e.Codec, Positions: positions, Bytes: below.N,
	}, nil
}

// packer returns the writer of the frame, which states its size if that is known in advance.
func (e *export) packer(w io.Writer, size uint64) (io.WriteCloser, error) {
	if e.Format == CSV {
		size = 0
	}
	return frame.NewWriter(w, e.Codec, size, e.Workers)
}

// stream decodes, encodes and writes the pieces in the order of the file.
func (e *export) stream(ctx context.Context, w io.Writer) error {
	encoders := make([]encoder, e.Workers)
	for i := range encoders {
		encoders[i] = e.Format.newEncoder(e.shape)
	}
	from, to := e.share()
	begin, end := e.ranks(from, to)
	done := uint64(0)
	return crew.Ordered[*piece]{
		Work: func(worker, i int, p *piece) (err error) {
			first, last := e.ranks(from+uint64(i), from+uint64(i)+1)
			scores := p.scores[:last-first]
			if err := e.tables.Read(ctx, e.Seeds, first, scores); err != nil {
				return err
			}
			p.bytes, err = encoders[worker].encode(p.text, first, scores)
			return err
		},
		Write: func(i int, p *piece) error {
			if _, err := w.Write(p.bytes); err != nil {
				return err
			}
			first, last := e.ranks(from+uint64(i), from+uint64(i)+1)
			done += last - first
			s := job.OfLayer(e.Seeds, 0, done, end-begin)
			s.Doing += ", export"
			e.Tell(s)
			return nil
		},
	}.Run(ctx, e.Workers, int(to-from), e.pieces)
}

// scores returns how many scores are to be written.
func (e *export) scores() (uint64, error) {
	first, end := e.ranks(e.share())
	return e.shape.between(e.Format, first, end)
}

// share returns which pieces of the file are to be written: from to to-1.
func (e *export) share() (from, to uint64) { return e.Part.Share(e.count()) }

// count returns how many pieces the file has.
func (e *export) count() uint64 { return (e.shape.Positions() + pieceSize - 1) / pieceSize }

// ranks returns the ranks of the pieces from..to-1 of the file, first to end-1.
func (e *export) ranks(from, to uint64) (first, end uint64) {
	if e.Format == Vu { // backwards
		from, to = e.count()-to, e.count()-from
	}
	return min(from*pieceSize, e.shape.Positions()), min(to*pieceSize, e.shape.Positions())
}
