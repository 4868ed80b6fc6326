package sample

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"grenier/io/npy"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// Format is the format of a sample.
type Format string

// The formats.
const (
	CSV   Format = "csv"
	JSONL Format = "jsonl"
	Npy   Format = "npy"
)

// ErrFormat reports a format that does not exist.
var ErrFormat = fault.New(fault.Usage, "format")

// ParseFormat returns the format of that name. It fails with ErrFormat.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case CSV, JSONL, Npy:
		return f, nil
	}
	return "", fmt.Errorf("%w %q: must be npy, csv or jsonl", ErrFormat, name)
}

// Illegal is the value of a pit that cannot be played in npy: no score is as low.
const Illegal = math.MinInt8

// encoder writes positions in a format.
type encoder struct {
	pits, q int
	format  Format
	plies   bool // there is a column for plies
	// header returns the bytes before count positions.
	header func(count uint64) []byte
	// encode appends a position, whose plies are -1 if they are not known.
	encode func(dst []byte, p *tables.Probe, plies int16) []byte
}

func newEncoder(game awari.Game, f Format, plies bool) *encoder {
	e := &encoder{pits: game.Pits(), q: game.Half(), format: f, plies: plies}
	switch f {
	case CSV:
		e.header, e.encode = e.csvHeader, e.csv
	case JSONL:
		e.header, e.encode = func(uint64) []byte { return nil }, e.jsonl
	default:
		e.encode = e.npy
		e.header = func(count uint64) []byte {
			fields := fmt.Sprintf("('pits', '|i1', (%d,)), ('value', '|i1'), ('moves', '|i1', (%d,)), ('best', '|b1', (%d,))", e.pits, e.q, e.q)
			if e.plies {
				fields += ", ('plies', '<i2')"
			}
			return npy.HeaderOf("["+fields+"]", count)
		}
	}
	return e
}

func (e *encoder) csvHeader(uint64) []byte {
	var line []byte
	for pit := range e.pits {
		line = append(strconv.AppendInt(append(line, 'p'), int64(pit), 10), ',')
	}
	line = append(line, "value,"...)
	for pit := range e.q {
		line = append(strconv.AppendInt(append(line, 'm'), int64(pit), 10), ',')
	}
	line = append(line, "best"...)
	if e.plies {
		line = append(line, ",plies"...)
	}
	return append(line, '\n')
}

// csv appends the pits, the value, the values of the moves, empty if a pit cannot be played, the
// best pits, and the plies, empty if they are not known.
func (e *encoder) csv(dst []byte, p *tables.Probe, plies int16) []byte {
	for _, seeds := range p.Board[:e.pits] {
		dst = append(strconv.AppendInt(dst, int64(seeds), 10), ',')
	}
	dst = append(strconv.AppendInt(dst, int64(p.Value), 10), ',')
	for _, m := range p.Moves[:e.q] {
		if m.Legal {
			dst = strconv.AppendInt(dst, int64(m.Value), 10)
		}
		dst = append(dst, ',')
	}
	dst = e.best(dst, p, " ")
	if e.plies {
		dst = e.known(append(dst, ','), plies, "")
	}
	return append(dst, '\n')
}

// known appends plies, or what stands for those that are not known.
func (e *encoder) known(dst []byte, plies int16, unknown string) []byte {
	if plies < 0 {
		return append(dst, unknown...)
	}
	return strconv.AppendInt(dst, int64(plies), 10)
}

func (e *encoder) jsonl(dst []byte, p *tables.Probe, plies int16) []byte {
	dst = append(dst, `{"pits":[`...)
	for i, seeds := range p.Board[:e.pits] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(seeds), 10)
	}
	dst = strconv.AppendInt(append(dst, `],"value":`...), int64(p.Value), 10)
	dst = append(dst, `,"moves":[`...)
	for i, m := range p.Moves[:e.q] {
		if i > 0 {
			dst = append(dst, ',')
		}
		if m.Legal {
			dst = strconv.AppendInt(dst, int64(m.Value), 10)
		} else {
			dst = append(dst, "null"...)
		}
	}
	dst = append(e.best(append(dst, `],"best":[`...), p, ","), ']')
	if e.plies {
		dst = e.known(append(dst, `,"plies":`...), plies, "null")
	}
	return append(dst, "}\n"...)
}

// best appends the pits whose moves are best.
func (e *encoder) best(dst []byte, p *tables.Probe, between string) []byte {
	first := true
	for pit := range e.q {
		if !isBest(p, pit) {
			continue
		}
		if !first {
			dst = append(dst, between...)
		}
		dst, first = strconv.AppendInt(dst, int64(pit), 10), false
	}
	return dst
}

func isBest(p *tables.Probe, pit int) bool {
	return p.Moves[pit].Legal && p.Moves[pit].Value == p.Value
}

func (e *encoder) npy(dst []byte, p *tables.Probe, plies int16) []byte {
	dst = append(append(dst, p.Board[:e.pits]...), byte(p.Value))
	for _, m := range p.Moves[:e.q] {
		value := Illegal
		if m.Legal {
			value = m.Value
		}
		dst = append(dst, byte(value))
	}
	for pit := range e.q {
		best := byte(0)
		if isBest(p, pit) {
			best = 1
		}
		dst = append(dst, best)
	}
	if e.plies {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(plies))
	}
	return dst
}
