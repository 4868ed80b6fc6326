package classes

import (
	"encoding/binary"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/workfile"
	"grenier/kernels/perm"
	"grenier/layers/swap"
)

// What a checkpoint says it is. See docs/format/swap-classes.md.
const (
	checkpointKind    = "swap-classes"
	checkpointVersion = 1
)

// Sizes in a checkpoint, in bytes.
const (
	headBytes  = 3  // rows, columns, depths
	depthBytes = 16 // states, classes
	countBytes = 8  // blocks of two lists
	entryBytes = 28 // a block
)

// checkpoint is a search after a depth.
type checkpoint struct {
	rows, cols int
	// states and classes are those of each depth that is expanded.
	states, classes []uint64
	// before is the last of these depths, newest the one that comes next; it is
	// empty at the end of the search.
	before, newest list
}

func (c *checkpoint) encode() []byte {
	size := headBytes + depthBytes*len(c.states) + countBytes + entryBytes*(len(c.before)+len(c.newest))
	b := append(make([]byte, 0, size), uint8(c.rows), uint8(c.cols), uint8(len(c.states)))
	for i := range c.states {
		b = binary.LittleEndian.AppendUint64(b, c.states[i])
		b = binary.LittleEndian.AppendUint64(b, c.classes[i])
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.before)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.newest)))
	for _, l := range []list{c.before, c.newest} {
		for i := range l {
			b = l[i].encode(b)
		}
	}
	return b
}

func (b *block) encode(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, b.first)
	dst = binary.LittleEndian.AppendUint32(dst, b.keys)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.at.Offset))
	dst = binary.LittleEndian.AppendUint32(dst, b.at.Length)
	return binary.LittleEndian.AppendUint32(dst, b.at.Sum)
}

// decode is the inverse of encode for a grid. It fails with errors that match
// corrupt.ErrCorrupt.
func decode(path string, b []byte, g *swap.Grid) (*checkpoint, error) {
	short := func() (*checkpoint, error) {
		return nil, corrupt.New(path, "", "%d bytes left are not what follows", len(b))
	}
	if len(b) < headBytes {
		return short()
	}
	c := &checkpoint{rows: int(b[0]), cols: int(b[1])}
	if c.rows != g.Rows() || c.cols != g.Cols() {
		return nil, corrupt.New(path, "", "a %d x %d grid %w the expected %d x %d", c.rows, c.cols, corrupt.ErrMismatch, g.Rows(), g.Cols())
	}
	depths := int(b[2])
	if b = b[headBytes:]; len(b) < depthBytes*depths+countBytes {
		return short()
	}
	for range depths {
		c.states = append(c.states, binary.LittleEndian.Uint64(b))
		c.classes = append(c.classes, binary.LittleEndian.Uint64(b[8:]))
		b = b[depthBytes:]
	}
	before, newest := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
	if b = b[countBytes:]; uint64(len(b)) != entryBytes*(before+newest) {
		return short()
	}
	c.before = decodeList(b[:entryBytes*before])
	c.newest = decodeList(b[entryBytes*before:])
	return c, c.check(path, g)
}

func decodeList(b []byte) list {
	l := make(list, len(b)/entryBytes)
	for i := range l {
		l[i] = block{
			first: binary.LittleEndian.Uint64(b),
			keys:  binary.LittleEndian.Uint32(b[8:]),
			at: workfile.Extent{
				Offset: int64(binary.LittleEndian.Uint64(b[12:])), Length: binary.LittleEndian.Uint32(b[20:]), Sum: binary.LittleEndian.Uint32(b[24:]),
			},
		}
		b = b[entryBytes:]
	}
	return l
}

// check tells whether a checkpoint contradicts itself, or what is known of the grid.
func (c *checkpoint) check(path string, g *swap.Grid) error {
	if err := g.CheckDepths(c.states); err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	left := perm.Factorial(g.Cells())
	for d, n := range c.states {
		// A class has a state for each symmetry and its inverse at most.
		if most := uint64(2 * len(g.Symmetries())); c.classes[d] > n || (n-1)/most >= c.classes[d] {
			return corrupt.New(path, "", "%d states in %d classes at depth %d, of up to %d states", n, c.classes[d], d, most)
		}
		left -= n
	}
	for _, l := range []list{c.before, c.newest} {
		if i := slices.IndexFunc(l, func(b block) bool { return !b.possible() }); i >= 0 {
			return corrupt.New(path, "", "block %d has %d keys in %d bytes", i, l[i].keys, l[i].at.Length)
		}
		for i := 1; i < len(l); i++ {
			if l[i].first <= l[i-1].first {
				return corrupt.New(path, "", "block %d does not follow the one before", i)
			}
		}
	}
	want := uint64(0)
	if len(c.classes) > 0 {
		want = c.classes[len(c.classes)-1]
	}
	if got := c.before.keys(); got != want {
		return corrupt.New(path, "", "%d classes in the blocks of a depth of %d", got, want)
	}
	if got := c.newest.keys(); got > left || got == 0 && left > 0 {
		return corrupt.New(path, "", "%d classes at the newest depth, when %d states are left", got, left)
	}
	return nil
}

// possible tells whether a block can be as its entry says.
func (b *block) possible() bool {
	return b.keys > 0 && b.keys <= b.at.Length && b.at.Length <= blockBytes
}
