package compress

import (
	"fmt"
	"testing"
	"unsafe"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
)

// fenced returns a copy of items that ends at an unreadable page. Items hold no
// pointers.
func fenced[T Word | Group | uint32](tb testing.TB, items []T) []T {
	if len(items) == 0 {
		return nil
	}
	var item T
	bytes := guard.New[uint8](tb, len(items)*int(unsafe.Sizeof(item))).At(guard.High, len(items)*int(unsafe.Sizeof(item)))
	copied := unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), len(items))
	copy(copied, items)
	return copied
}

// fence puts what a kernel reads to find scores at the end of memory.
func (c *call) fence(tb testing.TB) {
	c.program.Groups = fenced(tb, c.program.Groups)
	c.program.Rows = fenced(tb, c.program.Rows)
	for i := range c.routes {
		c.routes[i].Words = fenced(tb, c.routes[i].Words)
		c.routes[i].First = fenced(tb, c.routes[i].First)
	}
}

// print returns all that a kernel could change, as text.
func (c *call) print(lines []int8) string {
	return fmt.Sprint(c.offers, c.columns, c.program, c.routes, c.chunk, lines)
}

// TestLongFetchChangesNothing fetches random blocks, with all that is read at the edges of
// memory.
func TestLongFetchChangesNothing(t *testing.T) {
	eachTwin(t, func(t *testing.T, f cpu.Family, width int) {
		d, m := dealer{tries.Rand(t).Uint64}, newFence(t)
		for i := range tries.Runs(500) {
			end := guard.Ends[i%2]
			c := d.call(width, m.memory(end))
			c.fence(t)
			lines, offers := m.dst.At(end, d.below(Side+1)*lineBytes(width)), (*Block)(m.offers.Copy(end, c.offers[:]))
			d.scores(lines)
			before := c.print(lines)
			FetchFor(f, width)(c.blocks(offers), c.columns, &c.program, c.routes, c.chunk, lines, d.mask())
			if c.print(lines) != before || *offers != c.offers {
				t.Fatalf("something is written; columns %x of %+v, chunk %d", c.columns, c.program.Groups, c.chunk)
			}
		}
	})
}

// TestLongFetchAsksForTheLast has one column, of the last group, with the last row, word
// and line there are; in short runs it is the first column, the tenth and so on.
func TestLongFetchAsksForTheLast(t *testing.T) {
	eachTwin(t, func(t *testing.T, f cpu.Family, width int) {
		m, line := newFence(t), lineBytes(width)
		scores := m.memory(guard.High)(0, 5*line)
		for column := range Side {
			if !tries.Long() && column%9 > 0 {
				continue
			}
			c := &call{
				columns: 1 << column,
				program: Program{
					Groups: []Group{{Columns: ^uint64(1 << column), First: 0}, {Columns: 1 << column, First: Side - 1}},
					Rows:   append(make([]uint32, Side-1), 4),
				},
				routes: []Route{{Scores: scores, Stride: 5 * line, Words: []Word{{Pick: 1, Place: 1}}, First: []uint32{0, 0, 1}}},
				chunk:  1,
				width:  width,
			}
			c.fence(t)
			offers, lines := (*Block)(m.offers.At(guard.High, Side*Side)), m.dst.At(guard.High, Side*line)
			before := c.print(lines)
			FetchFor(f, width)(c.blocks(offers), c.columns, &c.program, c.routes, c.chunk, lines, 1<<(Side-1))
			if c.print(lines) != before {
				t.Fatalf("column %d: something is written", column)
			}
		}
	})
}
