package heuristic

import (
	"context"
	"math"
	"slices"
)

// walkTable has the walking distances of lines of tiles: the swaps between
// neighbouring lines that bring every tile to its home line, when tiles of one line
// are free to change places. It has an entry for each matrix that says how many tiles
// of each home line are in each line; all lines and columns of such a matrix add up to
// the length of a line.
//
// # Ranks
//
// A line of a matrix is a number, its key, with the entries as digits in base length+1,
// the first home lowest. Keys of lines that come one after the other add up to a key of
// their uses of each home; no digit exceeds the length. The key of the uses decides
// how many ways there are for the lines after it, and so how many matrices come before those
// that continue with a given line, in ascending order of keys. The rank of a matrix is
// the sum of these offsets over its lines. The last line is the rest: its offset is
// 0.
//
// # Distances
//
// Only one swap between two lines matters: the tile of the latest home x in the upper line
// with the tile of the earliest home y in the lower line, if x > y.
//
// Proof. Let a matrix have a tile p above a tile q, with the home of p below the home of q.
// To exchange them never takes it further from home: follow a shortest way home, with p
// and q in each other's place, until they are in one line, where places do not
// matter, or about to be swapped with each other, which is then left out. One of these
// happens, as p ends below q and passes no line without stopping. So a swap that is the
// reverse of such an exchange does not lead home, and after a swap of other tiles
// than x and y, exchanges of this kind (x with the tile that went down, y with the one
// that went up) lead to where the swap of x and y leads.
//
// The swap makes the upper line smaller as a number, hence the rank: a walk through the
// matrices by rank finds all distances, each from at most lines-1 smaller ranks. By how
// much the rank falls depends on the two lines and on the uses before, not on
// other lines.
type walkTable struct {
	lines, length int
	place         []uint32 // key of one tile, by its home line
	keys          []uint32 // of uses, by number: of one line, then the others, each ascending
	ids           []int32  // number of a key
	kinds         int      // different lines
	offsets       []uint64 // by number of the uses before, times kinds, plus number of the line
	depths        []uint8  // walking distance by rank
}

// maxLines is more than the lines of any table that could be made.
const maxLines = 16

// newWalkTable fails with ErrTooLarge if the table takes more than memory bytes, or with
// the error of ctx. There is more than one line, and more than one tile in it.
func newWalkTable(ctx context.Context, lines, length int, memory uint64) (*walkTable, error) {
	entries, overhead := walkSize(lines, length)
	if lines > maxLines || math.Pow(float64(length+1), float64(lines)) > math.MaxInt32 || entries+overhead > float64(memory) {
		return nil, ErrTooLarge
	}
	t := &walkTable{lines: lines, length: length}
	t.number()
	n, ok := t.count(memory - uint64(overhead))
	if !ok {
		return nil, ErrTooLarge
	}
	t.depths = make([]uint8, n)
	f := walkFill{walkTable: t, ctx: ctx}
	f.prepare()
	return t, f.run(0, 0, 0, 0)
}

// bytes returns how much memory the table takes once it is made.
func (t *walkTable) bytes() uint64 {
	return uint64(len(t.depths) + 8*len(t.offsets) + 4*(len(t.keys)+len(t.ids)))
}

// walkSize returns a lower bound on the number of entries of a table, and how many bytes
// it takes besides.
func walkSize(lines, length int) (entries, overhead float64) {
	uses := []float64{1} // number of keys by their tiles
	for range lines {
		next := make([]float64, len(uses)+length)
		for n, keys := range uses {
			for more := range length + 1 {
				next[n+more] += keys
			}
		}
		uses = next
	}
	states := 0.0
	for n := 0; n < len(uses); n += length {
		states += uses[n]
	}
	// Of all ways to fill the lines without regard to columns, those where the columns
	// are equal are at least their share: no other sums of columns have more.
	kinds := uses[length]
	columns := 1.0 // sums of columns
	for i := range lines - 1 {
		columns *= float64(lines*length+i+1) / float64(i+1)
	}
	return math.Pow(kinds, float64(lines)) / columns, 4*math.Pow(float64(length+1), float64(lines)) + 16*states*kinds
}

// number lists the keys of uses.
func (t *walkTable) number() {
	size := uint32(1)
	for range t.lines {
		t.place = append(t.place, size)
		size *= uint32(t.length + 1)
	}
	var others []uint32
	for key := range size {
		switch n := t.tiles(key); {
		case n == t.length:
			t.keys = append(t.keys, key)
		case n%t.length == 0:
			others = append(others, key)
		}
	}
	t.kinds = len(t.keys)
	t.keys = append(t.keys, others...)
	t.ids = slices.Repeat([]int32{-1}, int(size))
	for i, key := range t.keys {
		t.ids[key] = int32(i)
	}
}

// tiles returns the sum of the digits of a key.
func (t *walkTable) tiles(key uint32) int {
	n := 0
	for base := uint32(t.length + 1); key > 0; key /= base {
		n += int(key % base)
	}
	return n
}

// fits reports whether a line can follow the uses before.
func (t *walkTable) fits(used, line uint32) bool {
	for base := uint32(t.length + 1); line > 0; line, used = line/base, used/base {
		if line%base+used%base >= base {
			return false
		}
	}
	return true
}

// count sets the offsets and returns the number of matrices, unless it is above limit.
func (t *walkTable) count(limit uint64) (entries uint64, ok bool) {
	ways := make([]uint64, len(t.ids)) // to continue, by key of the uses before
	ways[len(ways)-1] = 1
	t.offsets = make([]uint64, len(t.keys)*t.kinds)
	for used := len(ways) - 2; used >= 0; used-- {
		if t.ids[used] < 0 {
			continue
		}
		offsets := t.offsetsAfter(uint32(used))
		for i, line := range t.keys[:t.kinds] {
			offsets[i] = ways[used]
			if t.fits(uint32(used), line) {
				ways[used] += ways[used+int(line)]
			}
			if ways[used] > limit {
				return 0, false
			}
		}
	}
	return ways[0], true
}

// offsetsAfter returns the offsets of lines, by their number, that follow the uses before.
func (t *walkTable) offsetsAfter(used uint32) []uint64 {
	return t.offsets[int(t.ids[used])*t.kinds:][:t.kinds]
}

// distance returns the entry of the matrix whose lines have these keys.
func (t *walkTable) distance(keys []uint32) int {
	rank, used := uint64(0), uint32(0)
	for _, key := range keys[:t.lines-1] {
		rank += t.offsetsAfter(used)[t.ids[key]]
		used += key
	}
	return int(t.depths[rank])
}

// walkFill is the walk through all matrices by rank.
type walkFill struct {
	*walkTable
	ctx      context.Context
	follow   [][]int32        // numbers of the lines that fit, by number of the uses before
	ends     [][]uint64       // where they are the last but one, falls of the swap with the last
	earliest []uint32         // key of the tile of the earliest home in a line, by its number
	latest   []uint32         // the same for the latest home
	falls    [maxLines]uint64 // by how much the swap of lines i and i+1 makes the rank fall, 0 if it does not lead home
}

func (f *walkFill) prepare() {
	for _, line := range f.keys[:f.kinds] {
		var homes []uint32
		for _, place := range f.place {
			if line/place%uint32(f.length+1) > 0 {
				homes = append(homes, place)
			}
		}
		f.earliest = append(f.earliest, homes[0])
		f.latest = append(f.latest, homes[len(homes)-1])
	}
	all := uint32(len(f.ids) - 1)
	for _, used := range f.keys {
		var follow []int32
		var ends []uint64
		for i, line := range f.keys[:f.kinds] {
			if !f.fits(used, line) {
				continue
			}
			follow = append(follow, int32(i))
			if last := all - used - line; f.tiles(last) == f.length {
				ends = append(ends, f.fall(used, int32(i), f.ids[last]))
			}
		}
		f.follow, f.ends = append(f.follow, follow), append(f.ends, ends)
	}
}

// run sets the distances of all matrices that begin with i lines, fewer than all but
// one; the last of these has the number upper. They use used; the first
// of these matrices has the rank.
func (f *walkFill) run(i int, upper int32, used uint32, rank uint64) error {
	if i == f.lines/2 && f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	id, offsets := f.ids[used], f.offsetsAfter(used)
	for j, line := range f.follow[id] {
		rank := rank + offsets[line]
		if i > 0 {
			f.falls[i-1] = f.fall(used-f.keys[upper], upper, line)
		}
		if i == f.lines-2 {
			f.falls[i] = f.ends[id][j]
			f.depths[rank] = f.depth(rank)
		} else if err := f.run(i+1, line, used+f.keys[line], rank); err != nil {
			return err
		}
	}
	return nil
}

// fall returns by how much the swap of two lines makes the rank fall, 0 if it does not
// lead home.
func (f *walkFill) fall(used uint32, upper, lower int32) uint64 {
	x, y := f.latest[upper], f.earliest[lower]
	if x <= y {
		return 0
	}
	up, down := f.keys[upper]-x+y, f.keys[lower]-y+x
	before, after := f.offsetsAfter(used), f.offsetsAfter(used+f.keys[upper])
	return before[upper] + after[lower] - before[f.ids[up]] - f.offsetsAfter(used + up)[f.ids[down]]
}

// depth returns the distance of a matrix from matrices of smaller rank.
func (f *walkFill) depth(rank uint64) uint8 {
	least, home := uint8(math.MaxUint8), true
	for _, fall := range f.falls[:f.lines-1] {
		if fall > 0 {
			least, home = min(least, f.depths[rank-fall]), false
		}
	}
	if home {
		return 0
	}
	return least + 1
}
