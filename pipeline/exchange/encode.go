package exchange

import (
	"cmp"
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
		return &csvEncoder{shape: s, board: make([]uint8, 2*s.q), plies: make([]int8, pieceSize)}
	case WDL:
		return wdlEncoder{}
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
		line = append(line, "score"...)
		if s.plies != nil {
			line = append(line, ",plies"...)
		}
		return append(line, '\n')
	}
	return nil
}

// bytes returns the length of so many scores: the most that it can be for CSV.
func (f Format) bytes(s *shape, scores uint64) uint64 {
	if f == WDL {
		return (scores + wdlScores - 1) / wdlScores
	}
	return scores * uint64(f.most(s))
}

// most returns the largest number of bytes that a score takes.
func (f Format) most(s *shape) int {
	if f == CSV {
		digits := len(strconv.Itoa(s.n))
		return 2*s.q*(digits+1) + len("-") + digits + len(",255") + len("\n")
	}
	return 1
}

// plainEncoder writes scores as they are.
type plainEncoder struct{}

func (plainEncoder) encode(_ []byte, _ uint64, scores []int8) ([]byte, error) {
	return tally.Bytes(scores), nil
}

// wdlScores is the number of scores in a byte of a WDL file.
const wdlScores = 4

// wdlEncoder keeps the sign of each score, as a number of two bits in two's complement: 0 for a draw, 1 for a win, 3 for a
// loss of the mover. The first of four is in the lowest bits. Pieces begin at multiples of four.
type wdlEncoder struct{}

func (wdlEncoder) encode(_ []byte, _ uint64, scores []int8) ([]byte, error) {
	signs := tally.Bytes(scores)[:(len(scores)+wdlScores-1)/wdlScores]
	for i := range signs {
		four := byte(0)
		for j, score := range scores[i*wdlScores : min((i+1)*wdlScores, len(scores))] {
			four |= byte(cmp.Compare(score, 0)&3) << (2 * j)
		}
		signs[i] = four // its first score was read before, and those that follow lie behind it
	}
	return signs, nil
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

// csvEncoder writes boards and scores, and plies if the layer has some.
type csvEncoder struct {
	*shape
	board []uint8
	plies []int8
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
	if e.shape.plies != nil {
		if err := e.shape.plies(first, e.plies[:len(scores)]); err != nil {
			return nil, err
		}
	}
	for i, score := range scores {
		if i > 0 {
			b = b.Next(e.q)
		}
		dst = e.pits(e.pits(dst, b.Own), b.Other)
		dst = strconv.AppendInt(dst, int64(score), 10)
		if e.shape.plies != nil {
			dst = strconv.AppendUint(append(dst, ','), uint64(uint8(e.plies[i])), 10)
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}
