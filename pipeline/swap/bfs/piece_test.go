package bfs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// unpacked returns the states of a piece of the given words.
func unpacked(t *testing.T, b []byte, words int) states {
	t.Helper()
	p := must.Get(divide(b, words))(t)
	s := newStates(words)
	for w := range words { // what was there before does not matter
		s.newest[w], s.seen[w] = ^uint64(0), 99
	}
	p.unpackNewest(s.newest)
	p.unpackSeen(s.seen)
	return s
}

func (s states) equal(t states) bool {
	return slices.Equal(s.newest, t.newest) && slices.Equal(s.seen, t.seen)
}

// TestPack packs states of few and of many words, and unpacks them.
func TestPack(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, words := range []int{1, 6, 8, 42, 336, 3024} {
		for _, busy := range []float64{0, 0.1, 0.9, 1} {
			for _, open := range []float64{0, 0.5, 1} {
				s := newStates(words)
				for w := range words {
					s.seen[w] = uint8(rng.IntN(2)) * tailBits
					if rng.Float64() < open {
						s.seen[w] = 1 + uint8(rng.IntN(tailBits-1))
					}
					if rng.Float64() < busy {
						s.newest[w] = 1 + rng.Uint64N(1<<tailBits-1)
					}
				}
				b := pack([]byte("before"), s)
				should.Hold(t, string(b[:6]) == "before", "%d words: what was there before is %q", words, b[:6])
				b = b[6:]
				should.Not(t, len(b) < leastPiece(words) || len(b) > mostPiece(words), "%d words: a piece of %d bytes", words, len(b))
				should.Hold(t, unpacked(t, b, words).equal(s),
					"seed %d, %d words, %g with newest states, %g open: other states", seed, words, busy, open)
				should.Be(t, must.Err(divide(b[:len(b)-1], words)), errPiece, "%d words, a byte less", words)
			}
		}
	}
}

// FuzzPiece feeds any bytes: what is accepted becomes a piece of the same states.
func FuzzPiece(f *testing.F) {
	const words = 42
	s := newStates(words)
	f.Add(pack(nil, s))
	s.newest[0], s.seen[0], s.seen[41] = 1, 1, tailBits
	f.Add(pack(nil, s))
	f.Add([]byte{1, 2, 3})
	f.Add([]byte(" \x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00A00000000")) // a count of 65
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := divide(b, words); err != nil {
			must.Be(t, err, errPiece)
			return
		}
		s := unpacked(t, b, words)
		again := pack(nil, s)
		must.Hold(t, unpacked(t, again, words).equal(s), "%x becomes %x", b, again)
	})
}
