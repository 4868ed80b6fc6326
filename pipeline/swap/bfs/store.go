package bfs

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/workfile"
	"grenier/layers/swap"
	"grenier/pipeline/internal/resume"
)

// Kind and version of a checkpoint. See docs/format/swap-search.md.
const (
	checkpointKind    = "swap-bfs"
	checkpointVersion = 2
)

// states are the states of one block of one parity.
type states struct {
	newest []uint64 // by word, of the newest depth
	seen   []uint8  // by word, the number of states of all depths so far
}

func newStates(words int) states {
	return states{newest: make([]uint64, words), seen: make([]uint8, words)}
}

// of returns the states of the k-th of several blocks of the given words.
func (s states) of(k, words int) states {
	return states{newest: part(s.newest, k, words), seen: part(s.seen, k, words)}
}

// desk is a worker's part of a store: the states of the block that it changes, and
// buffers for reads and writes.
type desk struct {
	states
	own     states     // room for states, if they are not in memory
	in, out pieces     // of the blocks that are changed
	around  pieces     // of blocks that they are pulled from
	fetched [][]uint64 // newest states of some of these
}

// span are the blocks from first up to end.
type span struct{ first, end int }

// part returns the k-th part of size elements.
func part[T any](list []T, k, size int) []T { return list[k*size : (k+1)*size : (k+1)*size] }

// store keeps the states of all blocks. Its methods are safe for concurrent use on different blocks and desks; states
// that newest and fill read do not change meanwhile.
//
// The first blocks, as many as there is memory for, are in memory: all of them unless there is a directory. With one,
// all blocks are in a work file, as pieces (piece.go); pieces of blocks in memory are read only when a search is
// resumed. A block that nothing is known about, or that is full without newest states, has no piece.
type store struct {
	words, size int                  // of a block, and blocks of a tile
	held        int                  // number of blocks that are in memory
	inMemory    [2]states            // of these, by parity
	window      []uint64             // newest states of the tile that is pulled
	first       int                  // block of the window
	parity      int                  // of the window
	extents     [2][]workfile.Extent // by parity and block

	// By parity, the states that recall has counted.
	newestStates, seenStates [2]atomic.Uint64

	grid *swap.Grid
	run  *resume.Dir // nil without a directory
}

// openStore makes the store; on disk, from the checkpoint of an interrupted search if there is one.
func (s *search) openStore(g *swap.Grid) (err error) {
	blocks := int(s.layout.blocks())
	d := &store{words: s.tables.words, size: blocks, held: blocks, grid: g}
	s.store = d
	if s.options.Dir != "" {
		d.size = blocks / s.layout.tiles()
		d.held = s.layout.held(s.options.Memory, s.options.Workers)
	}
	if d.held < blocks {
		d.window = make([]uint64, d.size*d.words)
	}
	d.first = -d.size // none
	for p := range d.inMemory {
		d.inMemory[p] = newStates(d.held * d.words)
	}
	if s.options.Dir == "" {
		return nil
	}
	for p := range d.extents {
		d.extents[p] = make([]workfile.Extent, blocks)
	}
	d.run, err = resume.Open(s.options.Dir, resume.Search{
		Identity: manifest.GridIdentity("swap", g.Rows(), g.Cols()),
		Kind:     checkpointKind, Version: checkpointVersion,
		Load: func(path string, payload []byte) (live []workfile.Extent, err error) {
			s.depths, err = d.decode(path, payload, &s.sides)
			return slices.Concat(d.extents[0], d.extents[1]), err
		},
	})
	return err
}

// perExtent is the length of an extent in a checkpoint.
const perExtent = 16

// checkpointBytes returns the length of the contents of a checkpoint.
func checkpointBytes(depths, blocks int) int { return 3 + 8*depths + 2*blocks*(2+perExtent) }

// encode returns the contents of a checkpoint.
func (d *store) encode(depths []uint64, sides *[2]flags) []byte {
	b := make([]byte, 0, checkpointBytes(len(depths), len(sides[0].busy)))
	b = append(b, uint8(d.grid.Rows()), uint8(d.grid.Cols()), uint8(len(depths)))
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
func (d *store) decode(path string, b []byte, sides *[2]flags) (depths []uint64, err error) {
	blocks := len(sides[0].busy)
	if len(b) < 3 || len(b) != checkpointBytes(int(b[2]), blocks) {
		return nil, corrupt.New(path, "", "%d bytes: a %d x %d grid has another number", len(b), d.grid.Rows(), d.grid.Cols())
	}
	if int(b[0]) != d.grid.Rows() || int(b[1]) != d.grid.Cols() {
		return nil, corrupt.New(path, "", "a %d x %d grid %w the expected %d x %d", b[0], b[1], corrupt.ErrMismatch, d.grid.Rows(), d.grid.Cols())
	}
	depths, b = make([]uint64, b[2]), b[3:]
	for i := range depths {
		depths[i], b = binary.LittleEndian.Uint64(b), b[8:]
	}
	if len(depths) == 0 {
		return nil, corrupt.New(path, "", "no depth is done")
	}
	if err := d.grid.CheckDepths(depths, false); err != nil {
		return nil, corrupt.New(path, "", "%w", err)
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

// possible reports whether the piece of a block fits its flags.
func (d *store) possible(parity, block int, f *flags) bool {
	e, busy := d.extents[parity][block], f.busy[block]
	if busy > 1 || f.full[block] > 1 || e.IsZero() != (e.Length == 0) {
		return false
	}
	if e.IsZero() {
		return busy == 0
	}
	if busy == 0 && f.full[block] != 0 {
		return false
	}
	return int(e.Length) >= leastPiece(d.words) && int(e.Length) <= mostPiece(d.words)
}

// pieces of some blocks, one behind the other.
type pieces struct {
	blocks  []int
	extents []workfile.Extent // of pieces that are read
	lengths []int             // of pieces to be written
	bytes   []byte
}

// reset empties p and keeps its memory.
func (p *pieces) reset() {
	*p = pieces{blocks: p.blocks[:0], extents: p.extents[:0], lengths: p.lengths[:0], bytes: p.bytes[:0]}
}

// get reads the pieces of blocks, of those that have one, by their place in the
// file.
func (d *store) get(p *pieces, parity int, blocks iter.Seq[int]) (err error) {
	p.reset()
	for b := range blocks {
		if !d.extents[parity][b].IsZero() {
			p.blocks = append(p.blocks, b)
		}
	}
	if len(p.blocks) == 0 {
		return nil
	}
	place := d.extents[parity]
	slices.SortFunc(p.blocks, func(a, b int) int { return cmp.Compare(place[a].Offset, place[b].Offset) })
	p.blocks = slices.Compact(p.blocks)
	for _, b := range p.blocks {
		p.extents = append(p.extents, place[b])
	}
	p.bytes, err = d.run.GetAll(p.extents, p.bytes)
	return err
}

// of returns the piece of a block that get has read, or nil if there is none.
func (p *pieces) of(block int) []byte {
	at := 0
	for i, e := range p.extents {
		if p.blocks[i] == block {
			return p.bytes[at : at+int(e.Length)]
		}
		at += int(e.Length)
	}
	return nil
}

// divide finds the parts of the piece of a block that get has read.
func (d *store) divide(p *pieces, block int) (packed, error) {
	parts, err := divide(p.of(block), d.words)
	if err != nil {
		return packed{}, d.damagedBlock(block, err)
	}
	return parts, nil
}

func (d *store) damagedBlock(block int, err error) error {
	return d.run.Damaged(fmt.Sprintf("block %d", block), err)
}

// notHeld yields the blocks of a span that are not in memory, if wanted is nil or
// not 0 for them.
func (d *store) notHeld(blocks span, wanted []uint8) iter.Seq[int] {
	return func(yield func(int) bool) {
		for b := max(d.held, blocks.first); b < blocks.end; b++ {
			if (wanted == nil || wanted[b] != 0) && !yield(b) {
				return
			}
		}
	}
}

// recall resumes an interrupted search: it loads the blocks of both parities that stay in memory and checks the
// others. After all blocks, recalled compares them with the number of states at each depth.
func (d *store) recall(blocks span, sides *[2]flags, k *desk) error {
	for p := range d.inMemory {
		err := d.get(&k.in, p, func(yield func(int) bool) {
			for b := blocks.first; b < blocks.end && yield(b); b++ {
			}
		})
		if err != nil {
			return err
		}
		for _, b := range k.in.blocks {
			if err := d.recallBlock(p, b, &sides[p], k); err != nil {
				return err
			}
		}
		for b := blocks.first; b < blocks.end; b++ {
			if d.extents[p][b].IsZero() && sides[p].full[b] != 0 {
				d.seenStates[p].Add(uint64(tailBits * d.words))
			}
		}
	}
	return nil
}

// recallBlock counts the states of a piece that get has read, and unpacks it if the block
// stays in memory.
func (d *store) recallBlock(parity, block int, f *flags, k *desk) error {
	parts, err := d.divide(&k.in, block)
	if err != nil {
		return err
	}
	newest, seen, err := parts.count()
	if err != nil {
		return d.damagedBlock(block, err)
	}
	if (newest > 0) != (f.busy[block] != 0) || (seen == uint64(tailBits*d.words)) != (f.full[block] != 0) {
		return d.damagedBlock(block, fmt.Errorf("%d newest states and %d seen, but flags %d, %d", newest, seen, f.busy[block], f.full[block]))
	}
	d.newestStates[parity].Add(newest)
	d.seenStates[parity].Add(seen)
	if block < d.held {
		s := d.inMemory[parity].of(block, d.words)
		parts.unpackNewest(s.newest)
		parts.unpackSeen(s.seen)
	}
	return nil
}

func (d *store) recalled(depths []uint64) error {
	var newest, seen [2]uint64
	for depth, n := range depths {
		newest[depth&1] = n
		seen[depth&1] += n
	}
	for p := range newest {
		if got := d.newestStates[p].Load(); got != newest[p] {
			return d.damaged(fmt.Errorf("%d newest states of parity %d instead of %d", got, p, newest[p]))
		}
		if got := d.seenStates[p].Load(); got != seen[p] {
			return d.damaged(fmt.Errorf("%d states of parity %d seen instead of %d", got, p, seen[p]))
		}
	}
	return nil
}

// unpack sets s to the states of a piece that get has read.
func (d *store) unpack(s states, p *pieces, block int) error {
	parts, err := d.divide(p, block)
	if err == nil {
		parts.unpackNewest(s.newest)
		parts.unpackSeen(s.seen)
	}
	return err
}

// enter makes room for the newest states of the tile that begins with a block: it is pulled next.
func (d *store) enter(parity, first int) { d.parity, d.first = parity, first }

// fill loads the newest states of some blocks of that tile; busy says which have any.
func (d *store) fill(blocks span, busy []uint8, k *desk) error {
	if err := d.get(&k.in, d.parity, d.notHeld(blocks, busy)); err != nil {
		return err
	}
	for _, b := range k.in.blocks {
		parts, err := d.divide(&k.in, b)
		if err != nil {
			return err
		}
		parts.unpackNewest(part(d.window, b-d.first, d.words))
	}
	return nil
}

// inWindow reports whether the newest states of a block, if any, are in memory.
func (d *store) inWindow(block int) bool { return block >= d.first && block < d.first+d.size }

// newest returns the newest states of a busy block, for reading. They may be in the i-th element of k.fetched.
func (d *store) newest(parity, block int, k *desk, i int) ([]uint64, error) {
	switch {
	case block < d.held:
		return part(d.inMemory[parity].newest, block, d.words), nil
	case d.inWindow(block):
		return part(d.window, block-d.first, d.words), nil
	}
	if k.fetched[i] == nil {
		k.fetched[i] = make([]uint64, d.words)
	}
	parts, err := d.divide(&k.around, block)
	if err != nil {
		return nil, err
	}
	parts.unpackNewest(k.fetched[i])
	return k.fetched[i], nil
}

// open prepares some blocks for load and save, and the busy blocks of the other parity that sources lists, some more
// than once, for newest; shut ends that.
func (d *store) open(parity int, blocks span, sources iter.Seq[int], k *desk) error {
	k.out.reset()
	if err := d.get(&k.in, parity, d.notHeld(blocks, nil)); err != nil {
		return err
	}
	k.around.reset()
	if d.window == nil {
		return nil // all are held
	}
	return d.get(&k.around, 1-parity, func(yield func(int) bool) {
		for b := range sources {
			if b >= d.held && !d.inWindow(b) && !yield(b) {
				return
			}
		}
	})
}

// load puts the states of one of these blocks on the desk.
func (d *store) load(parity, block int, k *desk) error {
	if block < d.held {
		k.states = d.inMemory[parity].of(block, d.words)
		return nil
	}
	if k.own.seen == nil {
		k.own = newStates(d.words)
	}
	k.states = k.own
	if d.extents[parity][block].IsZero() {
		clear(k.own.newest)
		clear(k.own.seen)
		return nil
	}
	return d.unpack(k.own, &k.in, block)
}

// save stores them after a change: busy says that there are newest ones, full that all are seen.
func (d *store) save(parity, block int, k *desk, busy, full bool) {
	if d.run == nil {
		return
	}
	if e := &d.extents[parity][block]; !e.IsZero() {
		d.run.Drop(*e)
		*e = workfile.Extent{}
	}
	if full && !busy {
		return
	}
	before := len(k.out.bytes)
	k.out.bytes = pack(k.out.bytes, k.states)
	k.out.blocks, k.out.lengths = append(k.out.blocks, block), append(k.out.lengths, len(k.out.bytes)-before)
}

func (d *store) shut(parity int, k *desk) error {
	if len(k.out.blocks) == 0 {
		return nil
	}
	extents, err := d.run.PutAll(k.out.bytes, k.out.lengths)
	if err != nil {
		return err
	}
	for i, b := range k.out.blocks {
		d.extents[parity][b] = extents[i]
	}
	return nil
}

// commit makes the saved pieces durable, with the number of states at each depth that is done.
func (d *store) commit(depths []uint64, sides *[2]flags) error {
	if d.run == nil {
		return nil
	}
	return d.run.Checkpoint(d.encode(depths, sides))
}

// damaged returns the error for stored states that are impossible.
func (d *store) damaged(err error) error {
	if d.run == nil {
		return err
	}
	return d.run.Damaged("", err)
}

func (d *store) close() error {
	if d.run == nil {
		return nil
	}
	return d.run.Close()
}
