package solitaire

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"grenier/layers/solitaire"
	"grenier/pipeline/internal/runs"
)

// Words of a record. A position is the whole record in layers; in winning layers follow the pegs
// that may begin, the number of moves and the number of solutions, low word first.
const (
	keyWords  = 2 // of a position, high and low
	pegsAt    = 2
	movesAt   = 4
	countAt   = 5 // and to the end
	wordBits  = 32
	jumpsBits = 8 // no position has more than 4 * 64 jumps
)

func position(row []uint32) solitaire.Position { return uint64(row[0])<<32 | uint64(row[1]) }

func putPosition(row []uint32, p solitaire.Position) { row[0], row[1] = uint32(p>>32), uint32(p) }

// record is the record of a winning position.
type record struct {
	position solitaire.Position
	pegs     solitaire.Position // that may begin a shortest rest
	moves    uint32
	count    []uint32 // of solutions, from it and its images
}

func recordOf(row []uint32) record {
	return record{position(row), position(row[pegsAt:]), row[movesAt], row[countAt:]}
}

// put writes a record; count may have fewer words.
func (r *record) put(row []uint32) {
	putPosition(row, r.position)
	putPosition(row[pegsAt:], r.pegs)
	row[movesAt] = r.moves
	clear(row[countAt:])
	copy(row[countAt:], r.count)
}

// combine adds another record of the same position to that in a row.
func combine(row, other []uint32) {
	switch {
	case other[movesAt] < row[movesAt]:
		copy(row[pegsAt:countAt], other[pegsAt:countAt])
	case other[movesAt] == row[movesAt]:
		row[pegsAt] |= other[pegsAt]
		row[pegsAt+1] |= other[pegsAt+1]
	}
	carry := uint32(0)
	for i := countAt; i < len(row); i++ {
		row[i], carry = bits.Add32(row[i], other[i], carry)
	}
}

// numberOf returns the number with the given words, the low one first.
func numberOf(words []uint32) *big.Int {
	bytes := make([]byte, 4*len(words))
	for i, x := range words {
		at := bytes[4*(len(words)-1-i):]
		at[0], at[1], at[2], at[3] = byte(x>>24), byte(x>>16), byte(x>>8), byte(x)
	}
	return new(big.Int).SetBytes(bytes)
}

// wordsFor returns how many words the numbers of a layer need if the numbers of the layer below have
// this sum.
func wordsFor(sum *big.Int) int { return (sum.BitLen()+jumpsBits)/wordBits + 1 }

// cursor reads the positions of a layer, and fails unless they can be those.
type cursor struct {
	position solitaire.Position
	end      bool // there is none

	rows  *runs.Cursor
	check func(row []uint32) error
}

// open returns a cursor on the first position of a layer with the given pegs. It fails like next.
func (s *search) open(layer *runs.Run, pegs int) (*cursor, error) {
	rows, err := s.store.Open(layer)
	if err != nil {
		return nil, err
	}
	c := &cursor{rows: rows, check: s.keyCheck(pegs)}
	return c, c.take()
}

// next goes to the next position. It fails as a work file does, and with errors that match
// corrupt.ErrCorrupt.
func (c *cursor) next() error {
	if err := c.rows.Next(); err != nil {
		return err
	}
	return c.take()
}

func (c *cursor) take() error {
	if c.rows.Row == nil {
		c.end = true
		return nil
	}
	c.position = position(c.rows.Row)
	return c.check(c.rows.Row)
}

// keyCheck returns a function that fails if a record cannot be the next one of positions with the
// given pegs.
func (s *search) keyCheck(pegs int) func(row []uint32) error {
	before, first := solitaire.Position(0), true
	return func(row []uint32) error {
		p := position(row)
		switch {
		case p&^s.Board.Full() != 0 || bits.OnesCount64(p) != pegs:
			return s.damaged(p, fmt.Errorf("%d pegs are expected", pegs))
		case !first && p <= before:
			return s.damaged(p, errors.New("it is out of order"))
		}
		before, first = p, false
		return nil
	}
}

// damaged returns the error for the record of a position.
func (s *search) damaged(p solitaire.Position, err error) error {
	return s.store.Damaged(fmt.Sprintf("record of position %#x", p), err)
}
