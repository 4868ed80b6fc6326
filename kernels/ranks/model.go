package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// MaxSymbols bounds the range of scores of a model: the highest less the lowest
// score, plus 1.
const MaxSymbols = 128

// ErrModel reports bytes that are no model.
var ErrModel = errors.New("bad model of ranks")

// Model says which ranks the scores have in each context. It is the bytes that
// a file holds:
//
//	lowest score, as a signed byte
//	number of symbols n, 1 to MaxSymbols; symbol s stands for the score lowest + s
//	the usual list: all n symbols, the most frequent one first
//	for c = 0 to n-1, for a = 0 to n-1: the length k of a list, and k symbols
//
// The list for symbol a one score back and c three scores back begins with the
// symbols given for c and a; the others follow as in the usual list.
type Model string

// Range returns the lowest and the highest score that m has a symbol for.
func (m Model) Range() (low, high int8) { return int8(m[0]), int8(m[0]) + int8(m[1]-1) }

// Check fails with ErrModel unless m can be used.
func (m Model) Check() error {
	if len(m) < 2 {
		return fmt.Errorf("%w: %d bytes", ErrModel, len(m))
	}
	low, n := int8(m[0]), int(m[1])
	if n < 1 || n > MaxSymbols || int(low)+n-1 > 127 {
		return fmt.Errorf("%w: %d symbols from score %d on", ErrModel, n, low)
	}
	rest, err := string(m[2:]), error(nil)
	if rest, err = checkList(rest, n, n); err != nil {
		return fmt.Errorf("usual list: %w", err)
	}
	for context := range n * n {
		if len(rest) == 0 {
			return fmt.Errorf("%w: it ends before context %d", ErrModel, context)
		}
		if rest, err = checkList(rest[1:], int(rest[0]), n); err != nil {
			return fmt.Errorf("context %d: %w", context, err)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes too many", ErrModel, len(rest))
	}
	return nil
}

// checkList checks a list of k different symbols out of n at the beginning of
// s and returns the rest of s.
func checkList(s string, k, n int) (rest string, err error) {
	if k > len(s) || k > n {
		return "", fmt.Errorf("%w: a list of %d symbols in %d bytes", ErrModel, k, len(s))
	}
	var seen [MaxSymbols]bool
	for _, x := range []byte(s[:k]) {
		if int(x) >= n || seen[x] {
			return "", fmt.Errorf("%w: symbol %d twice or not one of %d", ErrModel, x, n)
		}
		seen[x] = true
	}
	return s[k:], nil
}

// lists passes the complete list of each context to use.
func (m Model) lists(use func(c, a int, symbols []byte)) {
	n := int(m[1])
	usual, rest := m[2:2+n], m[2+n:]
	symbols := make([]byte, 0, n)
	for context := range n * n {
		k := int(rest[0])
		var seen [MaxSymbols]bool
		symbols = append(symbols[:0], rest[1:1+k]...)
		for _, s := range symbols {
			seen[s] = true
		}
		for _, s := range []byte(usual) {
			if !seen[s] {
				symbols = append(symbols, s)
			}
		}
		use(context/n, context%n, symbols)
		rest = rest[1+k:]
	}
}

// Encoding is a model made ready to turn scores into ranks. It is safe for
// concurrent use. The rank of the symbol x after c and a is at c*stride + a<<shift + x.
type Encoding struct {
	cells  []byte
	stride uint // an odd multiple of 1<<shift: powers of two share cache sets
	shift  uint // 5, 6 or 7: 1<<shift is at least the number of symbols
	low    int8
}

// NewEncoding prepares a model that Check has accepted.
func NewEncoding(m Model) *Encoding {
	n := uint(m[1])
	t := &Encoding{shift: 5, low: int8(m[0])}
	for 1<<t.shift < n {
		t.shift++
	}
	t.stride = (n | 1) << t.shift
	t.cells = make([]byte, n*t.stride)
	m.lists(func(c, a int, symbols []byte) {
		row := t.cells[uint(c)*t.stride+uint(a)<<t.shift:]
		for rank, s := range symbols {
			row[s] = byte(rank)
		}
	})
	return t
}

// Decoding is a model made ready to turn ranks into scores. It is safe for
// concurrent use. The symbol of the rank x after c and a is at offsets[x] + c*stride + a*rowSize: the
// first eight ranks, which are almost all that occur, lie close together for all contexts.
type Decoding struct {
	offsets [256]uint32
	cells   []byte
	stride  uint
	low     int8
}

// rowSize is the number of ranks of a context that lie together.
const rowSize = 8

// planes returns how many times rowSize ranks n symbols have.
func planes(n uint) uint { return (n + rowSize - 1) / rowSize }

// NewDecoding prepares a model that Check has accepted. Ranks of a damaged file may be anything, whatever the model:
// they give some symbol.
func NewDecoding(m Model) *Decoding {
	n := uint(m[1])
	t := &Decoding{stride: n * rowSize, low: int8(m[0])}
	plane := n * t.stride
	t.cells = make([]byte, planes(n)*plane)
	for x := range t.offsets {
		t.offsets[x] = uint32(min(uint(x)/rowSize, planes(n)-1)*plane + uint(x)%rowSize)
	}
	m.lists(func(c, a int, symbols []byte) {
		row := uint(c)*t.stride + uint(a)*rowSize
		for rank, s := range symbols {
			t.cells[uint(t.offsets[rank])+row] = s
		}
	})
	return t
}

// DecodingBytes returns the size in bytes of the Decoding of a model of the given number of values.
func DecodingBytes(symbols int) uint64 {
	n := uint(min(symbols, MaxSymbols))
	return uint64(planes(n)*rowSize*n*n) + uint64(unsafe.Sizeof(Decoding{}))
}

// prior is how many scores the counts of a context are worth before the first.
const prior = 16

// Counts counts scores by context. A model of these counts suits scores that
// resemble the counted ones.
type Counts struct {
	low     int8
	symbols int
	cells   []uint32 // of context (c, a) and symbol x: at (c*symbols + a)*symbols + x
}

// NewCounts returns counts of scores from low to high. It fails with ErrModel
// unless these are 1 to MaxSymbols values.
func NewCounts(low, high int8) (*Counts, error) {
	n := int(high) - int(low) + 1
	if n < 1 || n > MaxSymbols {
		return nil, fmt.Errorf("%w: scores from %d to %d: expected 1 to %d values", ErrModel, low, high, MaxSymbols)
	}
	return &Counts{low: low, symbols: n, cells: make([]uint32, n*n*n)}, nil
}

// Add counts a run of scores, all of which must be in the range.
func (n *Counts) Add(scores []int8) {
	size := uint(n.symbols)
	var a, b, c uint
	for _, x := range scores {
		y := uint(uint8(x - n.low))
		n.cells[(c*size+a)*size+y]++
		a, b, c = y, a, b
	}
}

// Model returns the model in which more frequent symbols come first.
func (n *Counts) Model() Model {
	size := n.symbols
	usual, near := make([]uint64, size), make([]uint64, size*size)
	for i, count := range n.cells {
		usual[i%size] += uint64(count)
		near[i%(size*size)] += uint64(count)
	}
	list := make([]byte, size)
	for s := range list {
		list[s] = byte(s)
	}
	slices.SortStableFunc(list, func(s, t byte) int { return cmp.Compare(usual[t], usual[s]) })
	out := append([]byte{byte(n.low), byte(size)}, list...)
	for context := range size * size {
		a := context % size
		out = appendList(out, n.cells[context*size:][:size], near[a*size:][:size], list)
	}
	return Model(out)
}

// appendList appends the list of a context with the given counts, in the order
// of the counts plus prior times the shares of the counts near of all contexts
// with the same score before: a count of few is chance.
func appendList(out []byte, counts []uint32, near []uint64, usual []byte) []byte {
	var list []byte
	sum := uint64(0)
	for _, s := range usual {
		if counts[s] > 0 {
			list = append(list, s)
			sum += near[s]
		}
	}
	weight := func(s byte) uint64 { return uint64(counts[s])*sum + prior*near[s] }
	slices.SortStableFunc(list, func(s, t byte) int { return cmp.Compare(weight(t), weight(s)) })
	return append(append(out, byte(len(list))), list...)
}
