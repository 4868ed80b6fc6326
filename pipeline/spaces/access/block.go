package access

import (
	"context"
	"math/bits"

	"grenier/io/crew"
	"grenier/kernels/bitset"
)

// block is the boards of a layer of which the mover has own seeds.
type block struct {
	seeds, own    int
	rows, columns int // halves of the opponent, of the mover
	stride        int // words of a row
	reached, todo set
	all           bool // all boards that were reached are to do
}

func (s *search) newBlock(seeds, own int) *block {
	b := &block{seeds: seeds, own: own, rows: int(s.half.Size(seeds - own)), columns: int(s.half.Size(own))}
	b.stride = bitset.Words(b.columns)
	b.reached = set{size: b.rows * b.stride, stride: b.stride, unused: ^uint64(1) << ((b.columns - 1) % 64)}
	b.todo = b.reached
	return b
}

// pending returns the number of boards to do.
func (b *block) pending() uint64 {
	if b.all {
		return b.reached.count
	}
	return b.todo.count
}

// turned is boards by columns: those with one half of the mover are a row here, if there are any.
type turned struct {
	stride int // words of a row, padding included
	words  []uint64
	rows   []int32 // by the half of the mover, -1 if it has no boards
}

// row returns the boards with a half of the mover, nil if there are none.
func (t *turned) row(half uint32) []uint64 {
	if t.rows[half] < 0 {
		return nil
	}
	return t.words[int(t.rows[half])*t.stride:][:t.stride]
}

// turnedStride returns the words of a row of the boards of a block by columns.
func (b *block) turnedStride() int { return bitset.Words(b.rows) + bitset.Padding }

// take returns the boards to do of a block, of which there are none then, and the bytes that it
// has reserved for them.
func (s *search) take(ctx context.Context, b *block) (*turned, int, error) {
	from := &b.todo
	if b.all {
		from = &b.reached
	}
	if err := s.store.pin(from); err != nil {
		return nil, 0, err
	}
	defer s.store.unpin(from)
	t, live, err := s.findRows(ctx, b, from.words)
	if err != nil {
		return nil, 0, err
	}
	size := live * t.stride
	if err := s.store.reserve(size); err != nil {
		return nil, 0, err
	}
	t.words = make([]uint64, size)
	if err := s.turn(ctx, t, b, from.words); err != nil {
		return nil, size, err
	}
	if !b.all {
		s.store.clear(from)
	}
	b.all = false
	return t, size, nil
}

// lineWords is the words of a cache line: as many columns of words are turned at a time.
const lineWords = 8

// eachLine shares out the columns of words of a block.
func (s *search) eachLine(ctx context.Context, b *block, do func(first, last int)) error {
	return crew.Each(ctx, s.Workers, (b.stride+lineWords-1)/lineWords, func(_, i int) error {
		do(i*lineWords, min((i+1)*lineWords, b.stride))
		return ctx.Err()
	})
}

// findRows finds the halves of the mover that have boards in a set of a block, and numbers them.
func (s *search) findRows(ctx context.Context, b *block, words []uint64) (t *turned, live int, err error) {
	any := make([]uint64, b.stride)
	err = s.eachLine(ctx, b, func(first, last int) {
		for at := 0; at < len(words); at += b.stride {
			for i, x := range words[at+first : at+last] {
				any[first+i] |= x
			}
		}
	})
	t = &turned{stride: b.turnedStride(), rows: make([]int32, b.columns)}
	for i := range t.rows {
		t.rows[i] = -1
		if any[i/64]>>(i%64)&1 != 0 {
			t.rows[i] = int32(live)
			live++
		}
	}
	return t, live, err
}

// turn turns a set of a block, and empties it unless all that was reached is to do.
func (s *search) turn(ctx context.Context, t *turned, b *block, words []uint64) error {
	return s.eachLine(ctx, b, func(first, last int) {
		for row := 0; row < b.rows; row += 64 {
			for column := first; column < last; column++ {
				t.square(b, words, row, column)
			}
		}
	})
}

// square turns the bits of 64 rows from the given one on in a column of words.
func (t *turned) square(b *block, words []uint64, row, column int) {
	var square [64]uint64
	any := uint64(0)
	for k := range min(64, b.rows-row) {
		word := &words[(row+k)*b.stride+column]
		if *word == 0 {
			continue
		}
		square[k] = *word
		any |= *word
		if !b.all {
			*word = 0
		}
	}
	if any == 0 {
		return
	}
	bitset.Transpose(&square)
	for any != 0 {
		k := bits.TrailingZeros64(any)
		any &= any - 1
		t.words[int(t.rows[column*64+k])*t.stride+row/64] = square[k]
	}
}
