// Package tally sums up runs of scores: how often each occurs (Histogram) and a
// checksum of all of them in order (Hash).
//
// A score is one signed byte; a positive one is a win for the player to move, a
// negative one a loss, 0 a draw. Histograms of parts can be made by several
// goroutines and merged in any order. The hash cannot: it is FNV-1a with 64
// bits over the scores as bytes in rank order, from the offset that the reference
// values for awari use, so that anybody can recompute it in four lines of any
// language and compare.
package tally

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"grenier/kernels/cpu"
	"grenier/kernels/fnv"
)

// ErrHistogram reports JSON that is not a histogram.
var ErrHistogram = errors.New("tally: bad histogram")

// Bytes returns the scores as the bytes that files hold, two's complement. It
// shares memory with scores.
func Bytes(scores []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(scores))), len(scores))
}

// Histogram counts scores. Its index is the score as an unsigned byte; use
// Count to look one up.
type Histogram [256]uint64

// Add counts scores.
func (h *Histogram) Add(scores []int8) {
	for len(scores) > 0 {
		n := min(len(scores), math.MaxInt32)
		h.add(Bytes(scores[:n]))
		scores = scores[n:]
	}
}

// add counts at most MaxInt32 scores. Runs of equal scores are the rule, and a
// counter can only be increased every few cycles; hence four sets of them.
func (h *Histogram) add(scores []byte) {
	var c [4][256]uint32
	i := 0
	for ; i+4 <= len(scores); i += 4 {
		s := scores[i : i+4 : i+4]
		c[0][s[0]]++
		c[1][s[1]]++
		c[2][s[2]]++
		c[3][s[3]]++
	}
	for _, s := range scores[i:] {
		c[0][s]++
	}
	for s := range h {
		h[s] += uint64(c[0][s]) + uint64(c[1][s]) + uint64(c[2][s]) + uint64(c[3][s])
	}
}

// Merge adds the counts of other.
func (h *Histogram) Merge(other *Histogram) {
	for s, n := range other {
		h[s] += n
	}
}

// Count returns how often score occurs.
func (h *Histogram) Count(score int8) uint64 { return h[uint8(score)] }

// Total returns the number of scores counted.
func (h *Histogram) Total() uint64 {
	win, draw, loss := h.WinDrawLoss()
	return win + draw + loss
}

// WinDrawLoss returns how many scores are positive, zero and negative.
func (h *Histogram) WinDrawLoss() (win, draw, loss uint64) {
	for s, n := range h {
		switch {
		case int8(s) > 0:
			win += n
		case int8(s) < 0:
			loss += n
		}
	}
	return win, h[0], loss
}

// Within reports whether all scores counted are from low to high.
func (h *Histogram) Within(low, high int8) bool {
	for s, n := range h {
		if n > 0 && (int8(s) < low || int8(s) > high) {
			return false
		}
	}
	return true
}

// Mean returns the mean score, 0 when nothing was counted.
func (h *Histogram) Mean() float64 {
	sum, total := 0.0, h.Total()
	for s, n := range h {
		sum += float64(int8(s)) * float64(n)
	}
	return sum / float64(max(total, 1))
}

// MarshalJSON writes an object from score to count, in increasing order of the
// score; scores that do not occur are left out.
func (h Histogram) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for s := math.MinInt8; s <= math.MaxInt8; s++ {
		n := h.Count(int8(s))
		if n == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(out, '"'), int64(s), 10)
		out = strconv.AppendUint(append(out, '"', ':'), n, 10)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads the output of MarshalJSON, keys in any order, with any white
// space. It fails with ErrHistogram when a key is not a score in plain decimal
// notation. Opening a directory reads hundreds of counts: a map of them would take
// most of the time.
func (h *Histogram) UnmarshalJSON(data []byte) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return fmt.Errorf("%w: %w", ErrHistogram, err)
	}
	inner, opened := strings.CutPrefix(compact.String(), "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !opened || !closed {
		return fmt.Errorf("%w: expected an object", ErrHistogram)
	}
	*h = Histogram{}
	for inner != "" {
		var entry string
		entry, inner, _ = strings.Cut(inner, ",")
		if err := h.setEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// setEntry sets the count that entry, "score":count, gives.
func (h *Histogram) setEntry(entry string) error {
	key, value, _ := strings.Cut(entry, ":")
	s, err := strconv.ParseInt(strings.Trim(key, `"`), 10, 8)
	if err != nil || key != `"`+strconv.FormatInt(s, 10)+`"` {
		return fmt.Errorf("%w: key %s is not a score from -128 to 127", ErrHistogram, strings.ToValidUTF8(key, "?"))
	}
	if h[uint8(s)], err = strconv.ParseUint(value, 10, 64); err != nil {
		return fmt.Errorf("%w: %s is no count", ErrHistogram, strings.ToValidUTF8(value, "?"))
	}
	return nil
}

// Hash is a 64-bit FNV-1a hash.
type Hash uint64

// The offset is not the usual 14695981039346656037: its last digit is missing,
// as in the reference values for awari layers that others have computed, with
// which ours shall compare.
const fnvOffset = 1469598103934665603

// Hasher computes a Hash. Start from NewHash.
type Hasher struct {
	hash uint64
	add  fnv.AddFunc
}

// NewHash returns a Hasher that has hashed no scores; the kernel family must be
// supported.
func NewHash(family cpu.Family) Hasher { return Hasher{hash: fnvOffset, add: fnv.For(family)} }

// Add returns a Hasher that has hashed the scores of h, followed by scores.
func (h Hasher) Add(scores []int8) Hasher {
	h.hash = h.add(h.hash, Bytes(scores))
	return h
}

// Sum returns the hash of the scores hashed so far.
func (h Hasher) Sum() Hash { return Hash(h.hash) }

// String returns the hash as 16 hexadecimal digits.
func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// MarshalText returns String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the output of MarshalText. It fails on anything else.
func (h *Hash) UnmarshalText(text []byte) error {
	x, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || Hash(x).String() != string(text) {
		return fmt.Errorf("tally: bad hash %q: expected 16 hexadecimal digits", text)
	}
	*h = Hash(x)
	return nil
}
