package access

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"
	"time"

	"github.com/pierrec/lz4/v4"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/workfile"
	"grenier/pipeline/internal/resume"
)

// pieceWords is the most words of a set that are a piece of the work file.
const pieceWords = 1 << 20

// packer packs and unpacks pieces.
type packer struct {
	compressor lz4.Compressor
	raw        []byte
	packed     []byte
}

// write brings a set on disk up to date.
func (s *store) write(x *set) error {
	if !x.changed && len(x.pieces) > 0 || x.count == 0 {
		return nil
	}
	s.drop(x)
	for words := range slices.Chunk(x.words, pieceWords) {
		e, err := s.dir.Put(s.pack.pack(words))
		if err != nil {
			return err
		}
		x.pieces = append(x.pieces, e)
		s.live += uint64(e.Length)
	}
	x.changed = false
	return nil
}

// pack returns the bytes of words: an lz4 block if that is shorter.
func (p *packer) pack(words []uint64) []byte {
	p.raw = p.raw[:0]
	for _, w := range words {
		p.raw = binary.LittleEndian.AppendUint64(p.raw, w)
	}
	if len(p.packed) < len(p.raw) {
		p.packed = make([]byte, len(p.raw))
	}
	n, err := p.compressor.CompressBlock(p.raw, p.packed[:len(p.raw)-1])
	if err != nil || n == 0 {
		return p.raw
	}
	return p.packed[:n]
}

var errPiece = errors.New("not a piece of a set")

// unpack is the inverse of pack.
func (p *packer) unpack(words []uint64, data []byte) error {
	if len(data) != 8*len(words) {
		if len(p.raw) < 8*len(words) {
			p.raw = make([]byte, 8*len(words))
		}
		n, err := lz4.UncompressBlock(data, p.raw[:8*len(words)])
		if err != nil || n != 8*len(words) {
			return errPiece
		}
		data = p.raw
	}
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return nil
}

// load reads a set that is on disk.
func (s *store) load(x *set) error {
	count, rest := uint64(0), x.words
	for i, e := range x.pieces {
		data, err := s.dir.Get(e, s.pack.packed[:cap(s.pack.packed)])
		if err != nil {
			return err
		}
		s.pack.packed = data[:cap(data)]
		n := min(len(rest), pieceWords)
		if err := s.pack.unpack(rest[:n], data); err != nil {
			return s.dir.Damaged(fmt.Sprintf("piece %d of a set", i), err)
		}
		for _, w := range rest[:n] {
			count += uint64(bits.OnesCount64(w))
		}
		rest = rest[n:]
	}
	for last := x.stride - 1; last < x.size; last += x.stride {
		if x.words[last]&x.unused != 0 {
			return s.dir.Damaged("", errPiece)
		}
	}
	if count != x.count || len(rest) > 0 {
		return s.dir.Damaged("", fmt.Errorf("a set of %d boards has %d", x.count, count))
	}
	return nil
}

// Kind and version of a checkpoint. See docs/format/access-search.md.
const (
	checkpointKind    = "access-search"
	checkpointVersion = 1
)

// checkpoint is a search between two plays.
type checkpoint struct {
	Start   []int        `json:"start"`
	Seeds   int          `json:"seeds"`  // of the layer in progress, -1 if all are done
	Counts  []uint64     `json:"counts"` // of the layers above it
	Emptied bool         `json:"emptied"`
	Blocks  []savedBlock `json:"blocks"` // with a set that is not empty
}

type savedBlock struct {
	Seeds   int      `json:"seeds"`
	Own     int      `json:"own"`
	All     bool     `json:"all"`
	Reached savedSet `json:"reached"`
	ToDo    savedSet `json:"todo"`
}

type savedSet struct {
	Count  uint64            `json:"count"`
	Pieces []workfile.Extent `json:"pieces"`
}

// identity names the search of a run directory.
func (s *search) identity() manifest.Identity {
	h := fnv.New32a()
	h.Write(s.start[:s.game.Pits()])
	return manifest.Identity{Game: "access", Rules: fmt.Sprintf("%s-%08x", s.game.Rules(), h.Sum32()), Pits: s.game.Pits()}
}

// openDir opens the run directory and takes over its checkpoint if there is one.
func (s *search) openDir() (err error) {
	s.store.dir, err = resume.Open(s.Dir, resume.Search{
		Identity: s.identity(), Kind: checkpointKind, Version: checkpointVersion,
		Load: func(path string, payload []byte) ([]workfile.Extent, error) {
			var c checkpoint
			err := json.Unmarshal(payload, &c)
			if err == nil {
				err = s.restore(&c)
			}
			if err != nil {
				return nil, corrupt.New(path, "", "%w", err)
			}
			return s.live(), nil
		},
	})
	return err
}

// live returns the extents of all sets.
func (s *search) live() (live []workfile.Extent) {
	for _, layer := range s.blocks {
		for _, b := range layer {
			live = append(append(live, b.reached.pieces...), b.todo.pieces...)
		}
	}
	for _, e := range live {
		s.store.live += uint64(e.Length)
	}
	return live
}

// restore takes over a checkpoint. It fails if that contradicts itself or is of another search.
func (s *search) restore(c *checkpoint) error {
	if !slices.Equal(c.Start, s.game.Numbers(s.start)) {
		return fmt.Errorf("a search from %v %w the expected %v", c.Start, corrupt.ErrMismatch, s.game.Numbers(s.start))
	}
	if c.Seeds < -1 || c.Seeds > s.n || len(c.Counts) != len(s.counts) {
		return fmt.Errorf("layer %d, %d counts", c.Seeds, len(c.Counts))
	}
	for _, layer := range s.blocks { // the start
		for _, b := range layer {
			s.store.forget(&b.todo)
		}
	}
	s.n = c.Seeds
	copy(s.counts, c.Counts)
	s.emptied.Store(c.Emptied)
	for _, saved := range c.Blocks {
		if saved.Seeds < 0 || saved.Seeds > c.Seeds || saved.Own < 0 || saved.Own > saved.Seeds {
			return fmt.Errorf("a block of %d seeds, %d of them the mover's", saved.Seeds, saved.Own)
		}
		b := s.blocks[saved.Seeds][saved.Own]
		b.all = saved.All
		if err := errors.Join(b.reached.restore(&saved.Reached), b.todo.restore(&saved.ToDo)); err != nil {
			return fmt.Errorf("block of %d seeds, %d of them the mover's: %w", saved.Seeds, saved.Own, err)
		}
	}
	return nil
}

// restore takes over a set, which must be empty.
func (x *set) restore(saved *savedSet) error {
	want := 0
	if saved.Count > 0 {
		want = (x.size + pieceWords - 1) / pieceWords
	}
	if x.count > 0 || saved.Count > 64*uint64(x.size) || len(saved.Pieces) != want || slices.ContainsFunc(saved.Pieces, workfile.Extent.IsZero) {
		return fmt.Errorf("%d boards in %d pieces", saved.Count, len(saved.Pieces))
	}
	x.count, x.pieces = saved.Count, saved.Pieces
	return nil
}

// save writes a checkpoint, if there is a directory.
func (s *search) save() error {
	if s.store.dir == nil {
		return nil
	}
	began := time.Now()
	c := checkpoint{Start: s.game.Numbers(s.start), Seeds: s.n, Counts: s.counts, Emptied: s.emptied.Load()}
	for _, layer := range s.blocks {
		for _, b := range layer {
			if b.reached.count == 0 && b.todo.count == 0 {
				continue
			}
			if err := errors.Join(s.store.write(&b.reached), s.store.write(&b.todo)); err != nil {
				return err
			}
			c.Blocks = append(c.Blocks, savedBlock{b.seeds, b.own, b.all, b.reached.saved(), b.todo.saved()})
		}
	}
	payload, err := json.Marshal(&c)
	if err != nil {
		return err
	}
	err = s.store.dir.Checkpoint(payload)
	s.store.waste = 0
	s.saved = time.Now()
	s.saving = s.saved.Sub(began)
	return err
}

func (x *set) saved() savedSet { return savedSet{x.count, x.pieces} }

// A checkpoint is due saveShare times as long after the last as that took, or when as much is wasted on disk as is used,
// and no less than leastWaste bytes.
const (
	saveShare  = 20
	leastWaste = 256 << 20
)
