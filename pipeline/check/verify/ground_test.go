package verify

import (
	"testing"

	"grenier/internal/testkit/must"
	"grenier/kernels/bitset"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

// framesOf calls test with frames of small layers.
func framesOf(t *testing.T, test func(t *testing.T, s *sowings, space *awari.Space, f *frame)) {
	for _, c := range []struct{ pits, seeds int }{{4, 20}, {6, 14}, {8, 9}, {12, 8}} {
		s, space := sowingsOf(t, c.pits, c.seeds)
		for n := range c.seeds + 1 {
			f, err := newFrame(s, space, n)
			must.OK(t, err)
			test(t, s, space, f)
		}
	}
}

// TestFrame looks every board up by its halves.
func TestFrame(t *testing.T) {
	framesOf(t, func(t *testing.T, s *sowings, space *awari.Space, f *frame) {
		q := space.Half()
		for rank := range space.Size(f.seeds) {
			b := space.Unrank(f.seeds, rank)
			mover, opponent := pack(b[:q]), pack(b[q:2*q])
			kept := 0
			for _, x := range b[q : 2*q] {
				kept += int(x)
			}
			if got := f.starts[kept][f.rank(opponent)] + f.rank(mover); got != rank || f.halves[f.seeds-kept][f.rank(mover)] != mover {
				t.Fatalf("%v: rank %d, want %d", b, got, rank)
			}
		}
	})
}

// TestGains: what a move gives makes of each half of the opponent the one that a gain has in its place.
func TestGains(t *testing.T) {
	extract := bitset.ExtractFor(cpu.Best())
	framesOf(t, func(t *testing.T, s *sowings, _ *awari.Space, f *frame) {
		for _, moves := range s.byPit {
			for i := range f.seeds {
				for opponent := range f.seeds - i {
					f.checkGain(t, extract, &moves[i], opponent)
				}
			}
		}
	})
}

// checkGain marks each half after a move alone.
func (f *frame) checkGain(t *testing.T, extract bitset.ExtractFunc, w *move, opponent int) {
	t.Helper()
	for rank, h := range f.halves[opponent] {
		gain := &f.gains[w.effect][opponent][rank/64/chunkWords]
		seeds := 0
		for pit := range 8 {
			seeds += (h + w.given).pit(pit)
		}
		row := make([]uint64, f.words(seeds))
		after := f.rank(h + w.given)
		row[after/64] |= 1 << (after % 64)
		row = row[gain.first:][:gain.words]
		if !gain.all {
			children := make([]uint64, gain.mask.Extracted())
			extract(children, row, &gain.mask)
			row = children
		}
		for i, x := range row {
			if want := uint64(1) << (rank % 64); i == rank/64%chunkWords && x != want || i != rank/64%chunkWords && x != 0 {
				t.Fatalf("half %x of %d: word %d is %x", h, opponent, i, x)
			}
		}
	}
}

// TestTrace compares the moves that keep scores with each pair of them.
func TestTrace(t *testing.T) {
	column, row := make([]int8, 200), make([]int8, 300)
	for i := range column {
		if column[i] = int8(i%7 - 3); column[i] == 0 {
			column[i] = drawn
		}
	}
	for i := range row {
		row[i] = int8(i%5 - 2)
	}
	spans := []span{newSpan(3, 10) + 69<<(2*rankBits), newSpan(80, 7), newSpan(190, 290) + 9<<(2*rankBits)}
	bits := []uint64{1, 2, 3, 4}
	trace(bits, column, row, spans)
	for i, score := range column {
		want := false
		for _, r := range spans {
			if k := i - r.from(); k >= 0 && k < r.n() {
				want = score == -row[r.to()+k]
			}
		}
		if got := bits[i/64]>>(i%64)&1 != 0; got != want {
			t.Errorf("position %d: %v", i, got)
		}
	}
}

// TestWindow marks ranks one by one and many at a time.
func TestWindow(t *testing.T) {
	var one, many window
	for from := uint64(0); from < 20; from++ {
		one.set(from, 200)
		many.set(from, 200)
		for start := from; start+64 <= 200; start += 31 {
			x := 0x9e3779b97f4a7c15 * (start + 1)
			many.add(start, x)
			for i := range uint64(64) {
				if x>>i&1 != 0 {
					one.mark(start + i)
				}
			}
		}
		if must.Same(t, "another window", one.bits, many.bits); one.empty() {
			t.Error("empty")
		}
	}
}
