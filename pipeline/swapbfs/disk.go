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
			if !d.possible(p, i, &sides[p]) {
				return nil, corrupt.New(path, "", "block %d of parity %d has flags %d, %d and a piece of %d bytes",
					i, p, sides[p].busy[i], sides[p].full[i], d.extents[p][i].Length)
			}
		}
	}
	return depths, nil
}

// possible tells whether the piece of a block and its flags go together.
func (d *disk) possible(parity, block int, f *flags) bool {
	e, busy := d.extents[parity][block], f.busy[block]
	if busy > 1 || f.full[block] > 1 || e.IsZero() != (e.Length == 0) {
		return false
	}
	if busy != 0 {
		return int(e.Length) == 9*d.words
	}
	return e.Length == 0 || int(e.Length) == d.words && f.full[block] == 0
}

func (d *disk) tiles() int { return len(d.extents[0]) / d.size }

// pieces are those of some blocks, one behind the other.
type pieces struct {
	packed  []byte
	blocks  []int
	extents []workfile.Extent // of pieces that are read
	lengths []int             // of pieces to be written
}

// reset empties p and keeps its memory.
func (p *pieces) reset() {
	*p = pieces{packed: p.packed[:0], blocks: p.blocks[:0], extents: p.extents[:0], lengths: p.lengths[:0]}
}

// get reads the pieces of the blocks for which wanted is true, those that have
// one.
func (d *disk) get(p *pieces, parity int, blocks span, wanted func(block int) bool) error {
	p.reset()
	for b := blocks.first; b < blocks.end; b++ {
		if e := d.extents[parity][b]; !e.IsZero() && wanted(b) {
			p.blocks, p.extents = append(p.blocks, b), append(p.extents, e)
		}
	}
	var err error
	p.packed, err = d.file.GetAll(p.extents, p.packed)
	return err
}

// each calls visit for the pieces that get read.
func (p *pieces) each(visit func(block int, packed []byte)) {
	at := 0
	for i, b := range p.blocks {
		n := int(p.extents[i].Length)
		visit(b, p.packed[at:at+n])
		at += n
	}
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

func (d *disk) enter(parity, first int) { d.parity, d.first = parity, first }

func (d *disk) fill(blocks span, busy []uint8, k *desk) error {
	clear(d.window[(blocks.first-d.first)*d.words : (blocks.end-d.first)*d.words])
	err := d.get(&k.in, d.parity, blocks, func(b int) bool { return busy[b] != 0 })
	if err != nil {
		return err
	}
	k.in.each(func(b int, packed []byte) { d.unpackNewest(part(d.window, b-d.first, d.words), packed) })
	return nil
}

func (d *disk) newest(parity, block int, k *desk, i int) ([]uint64, error) {
	if parity == d.parity && block >= d.first && block < d.first+d.size {
		return part(d.window, block-d.first, d.words), nil
	}
	f := &k.fetched[i]
	if f.newest == nil {
		f.newest = make([]uint64, d.words)
	}
	var err error
	if f.packed, err = d.file.Get(d.extents[parity][block], f.packed); err != nil {
		return nil, err
	}
	d.unpackNewest(f.newest, f.packed)
	return f.newest, nil
}

func (d *disk) open(parity int, blocks span, k *desk) error {
	if k.seen == nil {
		k.states = states{newest: make([]uint64, d.words), seen: make([]uint8, d.words)}
	}
	k.out.reset()
	return d.get(&k.in, parity, blocks, func(int) bool { return true })
}

func (d *disk) load(_, block int, k *desk) error {
	clear(k.states.newest)
	clear(k.states.seen)
	k.in.each(func(b int, packed []byte) {
		if b == block {
			copy(k.states.seen, packed)
			d.unpackNewest(k.states.newest, packed)
		}
	})
	return nil
}

func (d *disk) save(parity, block int, k *desk, busy, full bool) {
	if e := &d.extents[parity][block]; !e.IsZero() {
		d.file.Drop(*e)
		*e = workfile.Extent{}
	}
	if full && !busy {
		return
	}
	before := len(k.out.packed)
	b := append(k.out.packed, k.states.seen...)
	if busy {
		for _, x := range k.states.newest {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	k.out.packed, k.out.blocks, k.out.lengths = b, append(k.out.blocks, block), append(k.out.lengths, len(b)-before)
}

func (d *disk) shut(parity int, k *desk) error {
	if len(k.out.blocks) == 0 {
		return nil
	}
	extents, err := d.file.PutAll(k.out.packed, k.out.lengths)
	if err != nil {
		return err
	}
	for i, b := range k.out.blocks {
		d.extents[parity][b] = extents[i]
	}
	return nil
}

func (d *disk) commit(depths []uint64, sides *[2]flags) error {
	return d.file.Commit(d.dir.WorkPath(checkpointName), workfile.Seal(checkpointKind, checkpointVersion, d.encode(depths, sides)))
}

func (d *disk) close() error { return errors.Join(d.file.Close(), d.dir.Unlock()) }
