package swapbfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/layers/swap"
)

// Names in the work directory, and what a checkpoint says it is. See
// docs/format/swap-search.md.
const (
	blocksName        = "blocks"
	checkpointName    = "checkpoint"
	checkpointKind    = "swap-bfs"
	checkpointVersion = 1
)

// disk keeps the blocks in a work file. A piece is a block of one parity: the
// number of states seen of each word, then the newest ones if there are any. A
// block that nothing is known about, or that is full without newest states, has
// no piece.
type disk struct {
	words, size int // of a block, and blocks of a tile
	window      []uint64
	extents     [2][]workfile.Extent // by parity and block
	first       int                  // block of the window
	parity      int                  // of the window

	rows, cols int
	dir        *rundir.Locked
	file       *workfile.File
}

// openDisk makes the store on disk, and takes in what a search has left there.
func (s *search) openDisk(g *swap.Grid) error {
	id := manifest.Identity{Game: "swap", Rules: fmt.Sprintf("%dx%d", g.Rows(), g.Cols()), Pits: g.Cells()}
	dir, err := rundir.Lock(s.options.Dir, id)
	if err != nil {
		return err
	}
	blocks := int(s.layout.blocks())
	d := &disk{words: s.tables.words, size: blocks / s.layout.tiles(), rows: g.Rows(), cols: g.Cols(), dir: dir}
	d.window = make([]uint64, d.size*d.words)
	d.first = -d.size // none
	for p := range d.extents {
		d.extents[p] = make([]workfile.Extent, blocks)
	}
	if err := d.resume(s); err != nil {
		return errors.Join(err, dir.Unlock())
	}
	s.store = d
	return nil
}

// resume opens the work file, and the checkpoint if there is one.
func (d *disk) resume(s *search) error {
	path := d.dir.WorkPath(checkpointName)
	data, err := workfile.ReadFile(workfile.OS, path)
	if errors.Is(err, fs.ErrNotExist) {
		d.file, err = workfile.Create(workfile.OS, d.dir.WorkPath(blocksName))
		return err
	}
	if err != nil {
		return err
	}
	_, payload, err := workfile.Unseal(path, checkpointKind, checkpointVersion, data)
	if err != nil {
		return err
	}
	if s.depths, err = d.decode(path, payload, &s.sides); err != nil {
		return err
	}
	var live []workfile.Extent
	for _, side := range d.extents {
		for _, e := range side {
			if !e.IsZero() {
				live = append(live, e)
			}
		}
	}
	d.file, err = workfile.Open(workfile.OS, d.dir.WorkPath(blocksName), live)
	return err
}

// encode returns the contents of a checkpoint.
func (d *disk) encode(depths []uint64, sides *[2]flags) []byte {
	b := []byte{uint8(d.rows), uint8(d.cols), uint8(len(depths))}
	for _, n := range depths {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	for p, side := range sides {
		b = append(append(b, side.busy...), side.full...)
		for _, e := range d.extents[p] {
			b = binary.LittleEndian.AppendUint64(b, uint64(e.Offset))
			b = binary.LittleEndian.AppendUint32(b, e.Length)
			b = binary.LittleEndian.AppendUint32(b, e.Sum)
		}
	}
	return b
}

// decode is the inverse of encode.
func (d *disk) decode(path string, b []byte, sides *[2]flags) (depths []uint64, err error) {
	const perExtent = 16
	blocks := len(sides[0].busy)
	if len(b) < 3 || len(b) != 3+8*int(b[2])+2*blocks*(2+perExtent) {
		return nil, corrupt.New(path, "", "%d bytes are not those of a %d x %d grid", len(b), d.rows, d.cols)
	}
	if int(b[0]) != d.rows || int(b[1]) != d.cols {
		return nil, corrupt.New(path, "", "a %d x %d grid %w the expected %d x %d", b[0], b[1], corrupt.ErrMismatch, d.rows, d.cols)
	}
	depths, b = make([]uint64, b[2]), b[3:]
	for i := range depths {
		depths[i], b = binary.LittleEndian.Uint64(b), b[8:]
	}
	for p := range sides {
		b = b[copy(sides[p].busy, b):]
		b = b[copy(sides[p].full, b):]
		for i := range d.extents[p] {
			d.extents[p][i] = workfile.Extent{
				Offset: int64(binary.LittleEndian.Uint64(b)), Length: binary.LittleEndian.Uint32(b[8:]), Sum: binary.LittleEndian.Uint32(b[12:]),
			}
			b = b[perExtent:]
		}
	}
	return depths, nil
}

func (d *disk) tiles() int { return len(d.extents[0]) / d.size }

func (d *disk) enter(parity, first int) { d.parity, d.first = parity, first }

func (d *disk) fill(block int, busy bool, b *buffer) error {
	newest := part(d.window, block-d.first, d.words)
	if !busy {
		clear(newest)
		return nil
	}
	return d.read(d.parity, block, newest, b)
}

func (d *disk) newest(parity, block int, b *buffer) ([]uint64, error) {
	if parity == d.parity && block >= d.first && block < d.first+d.size {
		return part(d.window, block-d.first, d.words), nil
	}
	if b.newest == nil {
		b.newest = make([]uint64, d.words)
	}
	return b.newest, d.read(parity, block, b.newest, b)
}

// read writes the newest states of a block to newest.
func (d *disk) read(parity, block int, newest []uint64, b *buffer) error {
	packed, err := d.get(parity, block, b.packed)
	if err != nil {
		return err
	}
	b.packed = packed
	d.unpackNewest(newest, packed)
	return nil
}

// get returns the piece of a block, in the memory of packed if that has room.
func (d *disk) get(parity, block int, packed []byte) ([]byte, error) {
	e := d.extents[parity][block]
	b, err := d.file.Get(e, packed)
	if err == nil && len(b) != d.words && len(b) != 9*d.words {
		err = corrupt.New(d.dir.WorkPath(blocksName), fmt.Sprintf("offset %d", e.Offset), "%d bytes are no block", len(b))
	}
	return b, err
}

// unpackNewest writes the newest states of a piece to newest.
func (d *disk) unpackNewest(newest []uint64, packed []byte) {
	if len(packed) == d.words {
		clear(newest)
		return
	}
	packed = packed[d.words:]
	for i := range newest {
		newest[i] = binary.LittleEndian.Uint64(packed[8*i:])
	}
}

func (d *disk) load(parity, block int, s *states) error {
	if s.seen == nil {
		s.newest, s.seen, s.packed = make([]uint64, d.words), make([]uint8, d.words), make([]byte, 0, 9*d.words)
	}
	if d.extents[parity][block].IsZero() {
		clear(s.newest)
		clear(s.seen)
		return nil
	}
	b, err := d.get(parity, block, s.packed)
	if err != nil {
		return err
	}
	s.packed = b
	copy(s.seen, b)
	d.unpackNewest(s.newest, b)
	return nil
}

func (d *disk) save(parity, block int, s *states, busy, full bool) error {
	e := &d.extents[parity][block]
	if !e.IsZero() {
		d.file.Drop(*e)
		*e = workfile.Extent{}
	}
	if full && !busy {
		return nil
	}
	b := append(s.packed[:0], s.seen...)
	if busy {
		for _, x := range s.newest {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	s.packed = b
	var err error
	*e, err = d.file.Put(b)
	return err
}

func (d *disk) commit(depths []uint64, sides *[2]flags) error {
	return d.file.Commit(d.dir.WorkPath(checkpointName), workfile.Seal(checkpointKind, checkpointVersion, d.encode(depths, sides)))
}

func (d *disk) close() error { return errors.Join(d.file.Close(), d.dir.Unlock()) }
