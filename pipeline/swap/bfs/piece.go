package bfs

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// A piece is a block of one parity on disk. In the first depths
// and the last ones most words have no newest states, and are seen in full or not
// at all; so three bits of each word say which parts of it follow:
//
//	a bit for each word: it has newest states
//	a bit for each word: it is open, some of its states are seen and some are not
//	a bit for each word: all of its states are seen
//	for each open word, a byte: the number of states seen
//	for each word with newest states, 8 bytes: these
//
// Bits are numbered from the lowest one of the first byte on.

// errPiece reports bytes that no block becomes.
var errPiece = errors.New("its parts contradict each other")

// mapBytes returns the number of bytes with a bit for each word.
func mapBytes(words int) int { return (words + 7) / 8 }

// leastPiece and mostPiece return the lengths of the shortest and of the longest
// piece of the given words.
func leastPiece(words int) int { return 3 * mapBytes(words) }
func mostPiece(words int) int  { return 3*mapBytes(words) + 9*words }

// pack appends a piece to b.
func pack(b []byte, s states) []byte {
	words := len(s.newest)
	size, at := mapBytes(words), len(b)
	b = slices.Grow(b, mostPiece(words)+8)
	b = b[:cap(b)]
	newest, open, full := b[at:at+size], b[at+size:at+2*size], b[at+2*size:at+3*size]
	at += 3 * size
	for k := range size {
		var isOpen, isFull uint8
		for i, n := range s.seen[8*k : min(8*k+8, words)] {
			is := bit(n-1 < tailBits-1)
			b[at] = n // for nothing, if the next one overwrites it
			at += int(is)
			isOpen |= is << i
			isFull |= bit(n >= tailBits) << i
		}
		open[k], full[k] = isOpen, isFull
	}
	for k := range size {
		var has uint8
		for i, x := range s.newest[8*k : min(8*k+8, words)] {
			is := bit(x != 0)
			binary.LittleEndian.PutUint64(b[at:], x)
			at += 8 * int(is)
			has |= is << i
		}
		newest[k] = has
	}
	return b[:at]
}

func bit(is bool) uint8 {
	if is {
		return 1
	}
	return 0
}

// packed are the parts of a piece.
type packed struct{ newest, open, full, counts, states []byte }

// divide finds the parts of a piece of the given words.
func divide(b []byte, words int) (p packed, err error) {
	size := mapBytes(words)
	if len(b) < 3*size {
		return p, errPiece
	}
	p = packed{newest: b[:size], open: b[size : 2*size], full: b[2*size : 3*size]}
	if beyond := uint8(0xff) << ((words-1)%8 + 1); (p.newest[size-1]|p.open[size-1]|p.full[size-1])&beyond != 0 {
		return p, errPiece
	}
	n := 3*size + ones(p.open)
	if n+8*ones(p.newest) != len(b) {
		return p, errPiece
	}
	p.counts, p.states = b[3*size:n], b[n:]
	for k, open := range p.open {
		if open&p.full[k] != 0 {
			return p, errPiece
		}
	}
	for _, count := range p.counts {
		if count-1 >= tailBits-1 {
			return p, errPiece
		}
	}
	return p, nil
}

func ones(set []byte) (n int) {
	for ; len(set) >= 8; set = set[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(set))
	}
	for _, x := range set {
		n += bits.OnesCount8(x)
	}
	return n
}

// count returns the numbers of newest states and of states seen. It fails with errPiece if a
// word has other newest states than there can be.
func (p packed) count() (newest, seen uint64, err error) {
	for b := p.states; len(b) > 0; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		if x == 0 || x>>tailBits != 0 {
			return 0, 0, errPiece
		}
		newest += uint64(bits.OnesCount64(x))
	}
	for _, n := range p.counts {
		seen += uint64(n)
	}
	return newest, seen + uint64(tailBits*ones(p.full)), nil
}

// unpackNewest sets the newest states of all words.
func (p packed) unpackNewest(newest []uint64) {
	from := p.states
	for k, has := range p.newest {
		to := newest[8*k : min(8*k+8, len(newest))]
		if has == 0xff {
			for i := range to {
				to[i] = binary.LittleEndian.Uint64(from[8*i:])
			}
			from = from[64:]
			continue
		}
		clear(to)
		for ; has != 0; has &= has - 1 {
			to[bits.TrailingZeros8(has)] = binary.LittleEndian.Uint64(from)
			from = from[8:]
		}
	}
}

// unpackSeen sets the number of states seen of all words.
func (p packed) unpackSeen(seen []uint8) {
	counts := p.counts
	for k, open := range p.open {
		to := seen[8*k : min(8*k+8, len(seen))]
		full := p.full[k]
		for i := range to {
			to[i] = tailBits * (full >> i & 1)
		}
		for ; open != 0; open &= open - 1 {
			to[bits.TrailingZeros8(open)] = counts[0]
			counts = counts[1:]
		}
	}
}
