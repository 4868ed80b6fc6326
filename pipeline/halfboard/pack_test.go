package halfboard

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/kernels/cpu"
	"grenier/kernels/planes"
)

// packs are the two ways in which tiles are packed.
var packs = map[string]struct {
	pack   func(p *packer, runs [][]int8) int
	unpack func(p *packer, runs [][]int8, packed []byte) error
}{
	"scores": {(*packer).scores, (*packer).unpackScores},
	"offers": {(*packer).offers, func(_ *packer, runs [][]int8, packed []byte) error { return unpackOffers(runs, packed) }},
}

func newPacker(family cpu.Family) *packer { return &packer{planes: planes.For(family)} }

// randomRuns returns runs of whole lines: of few values, of one value but for a few, or of
// any bytes, which cannot be made shorter.
func randomRuns(rng *rand.Rand) (runs [][]int8) {
	values := []int{1, 2, 30, 256}[rng.IntN(4)]
	for range 1 + rng.IntN(4) {
		run := make([]int8, side*(1+rng.IntN(200)))
		for i := range run {
			run[i] = blocked
			if values > 30 || rng.IntN(5) == 0 {
				run[i] = int8(rng.IntN(values) - values/2)
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// like returns as many runs, as long as the given ones, of something else.
func like(runs [][]int8) (others [][]int8) {
	for _, run := range runs {
		others = append(others, slices.Repeat([]int8{77}, len(run)))
	}
	return others
}

func equalRuns(a, b [][]int8) bool { return slices.EqualFunc(a, b, slices.Equal) }

// TestPackedRunsComeBack packs some tiles one behind the other.
func TestPackedRunsComeBack(t *testing.T) {
	rng := newRand(t)
	for name, way := range packs {
		for _, family := range cpu.Available() {
			p := newPacker(family)
			for range runs(60) {
				p.reset()
				var tiles [][][]int8
				var lengths []int
				for range 1 + rng.IntN(3) {
					tiles = append(tiles, randomRuns(rng))
					lengths = append(lengths, way.pack(p, tiles[len(tiles)-1]))
				}
				packed := slices.Clone(p.packed)
				for i, want := range tiles {
					got := like(want)
					if err := way.unpack(p, got, packed[:lengths[i]]); err != nil || !equalRuns(got, want) {
						t.Fatalf("%s, %v: tile %d differs; %v", name, family, i, err)
					}
					packed = packed[lengths[i]:]
				}
				if len(packed) > 0 {
					t.Fatalf("%s, %v: %d bytes too many", name, family, len(packed))
				}
			}
		}
	}
}

// TestOffersAreUnpackedOneByOne unpacks a run without those before.
func TestOffersAreUnpackedOneByOne(t *testing.T) {
	rng := newRand(t)
	for range runs(60) {
		p, want := newPacker(cpu.Best()), randomRuns(rng)
		p.offers(want)
		for _, i := range rng.Perm(len(want)) {
			got := like(want[i : i+1])[0]
			if err := unpackOffer(got, p.packed, i); err != nil || !slices.Equal(got, want[i]) {
				t.Fatalf("run %d of %d differs; %v", i, len(want), err)
			}
		}
	}
}

// TestPackedMost: no tile takes more than is reserved for it.
func TestPackedMost(t *testing.T) {
	rng := newRand(t)
	for range runs(100) {
		x := &tile{paged: paged{runs: randomRuns(rng)}}
		for _, run := range x.runs {
			x.bytes += int64(len(run))
		}
		if n := newPacker(cpu.Best()).offers(x.runs); int64(n) > packedMost(x) {
			t.Fatalf("%d offers take %d bytes, %d at most are expected", x.bytes, n, packedMost(x))
		}
	}
}

// TestPackedBytesAreMissing cuts packed runs off at every byte.
func TestPackedBytesAreMissing(t *testing.T) {
	rng := newRand(t)
	for name, way := range packs {
		for range runs(8) {
			p, want := newPacker(cpu.Best()), randomRuns(rng)
			way.pack(p, want)
			got := like(want)
			for n := range p.packed {
				if err := way.unpack(p, got, p.packed[:n:n]); !errors.Is(err, errPacked) {
					t.Fatalf("%s: %d of %d bytes: %v", name, n, len(p.packed), err)
				}
			}
		}
	}
}

// TestPackedBytesAreWrong: changed bytes, and other runs, give an error or other scores.
func TestPackedBytesAreWrong(t *testing.T) {
	rng := newRand(t)
	for name, way := range packs {
		for range runs(300) {
			p, want := newPacker(cpu.Best()), randomRuns(rng)
			way.pack(p, want)
			got := like(want)
			for range 1 + rng.IntN(5) {
				p.packed[rng.IntN(len(p.packed))] = byte(rng.IntN(256))
			}
			if rng.IntN(2) == 0 {
				got = like(randomRuns(rng))
			}
			if err := way.unpack(p, got, p.packed); err != nil && !errors.Is(err, errPacked) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
