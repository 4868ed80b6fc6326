package exchange

import (
	"slices"
	"strconv"

	"grenier/io/npy"
	"grenier/io/tally"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
)

// encoder turns pieces of a layer into the bytes of a format. It belongs to one goroutine.
type encoder interface {
	// encode returns the bytes of the boards from rank first on with the given scores. It may
	// use the memory of dst and of scores.
	encode(dst []byte, first uint64, scores []int8) ([]byte, error)
}

// newEncoder returns an encoder of the layer.
func (f Format) newEncoder(s *shape) encoder {
	switch f {
	case Vu:
		return vuEncoder{s}
	case CSV:
		return &csvEncoder{shape: s, board: make([]uint8, 2*s.q)}
	}
	return plainEncoder{}
}

// header returns what comes before the first piece.
func (f Format) header(s *shape) []byte {
	switch f {
	case Npy:
		return npy.Header(s.Positions())
	case CSV:
		var line []byte
		for pit := range 2 * s.q {
			line = append(strconv.AppendInt(append(line, 'p'), int64(pit), 10), ',')
		}
		return append(line, "score\n"...)
	}
	return nil
}

// most returns the largest number of bytes that a score takes.
func (f Format) most(s *shape) int {
	if f == CSV {
		digits := len(strconv.Itoa(s.n))
		return 2*s.q*(digits+1) + len("-") + digits + len("\n")
	}
	return 1
}

// plainEncoder writes scores as they are.
type plainEncoder struct{}

func (plainEncoder) encode(_ []byte, _ uint64, scores []int8) ([]byte, error) {
	return tally.Bytes(scores), nil
}

// vuEncoder drops full boards and turns the order round.
type vuEncoder struct{ *shape }

func (e vuEncoder) encode(_ []byte, first uint64, scores []int8) ([]byte, error) {
	kept := scores[:0]
	err := e.spans(first, first+uint64(len(scores)), func(x span) {
		if !x.full {
			kept = append(kept, scores[x.from-first:x.to-first]...)
		}
	})
	slices.Reverse(kept)
	return tally.Bytes(kept), err
}

// csvEncoder writes boards and scores.
type csvEncoder struct {
	*shape
	board []uint8
}

// fields are the numbers of seeds, each with a comma.
var fields = func() (all [awari.MaxSeeds + 1]string) {
	for i := range all {
		all[i] = strconv.Itoa(i) + ","
	}
	return all
}()

// pits appends half a board.
func (e *csvEncoder) pits(dst []byte, h packed.Half) []byte {
	for range e.q {
		dst = append(dst, fields[h&0xff]...)
		h >>= 8
	}
	return dst
}

func (e *csvEncoder) encode(dst []byte, first uint64, scores []int8) ([]byte, error) {
	if err := e.halves.Board().Unrank(e.n, first, e.board); err != nil {
		return nil, err
	}
	b := packed.Board{Own: packed.Pack(e.board[:e.q]), Other: packed.Pack(e.board[e.q:])}
	dst = dst[:0]
	for i, score := range scores {
		if i > 0 {
			b = b.Next(e.q)
		}
		dst = e.pits(e.pits(dst, b.Own), b.Other)
		dst = append(strconv.AppendInt(dst, int64(score), 10), '\n')
	}
	return dst, nil
}
