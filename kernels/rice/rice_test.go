package rice

import (
	"bytes"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/twins"
	"grenier/kernels/cpu"
)

func layout(ranks []byte) []byte {
	out := pack(ranks, func(r byte) bool { return r&1 != 0 })
	for least := byte(2); len(ranks) > 0; least += 2 {
		out = append(out, pack(ranks, func(r byte) bool { return r >= least })...)
		var rest []byte
		for _, r := range ranks {
			if r >= least {
				rest = append(rest, r)
			}
		}
		ranks = rest
	}
	return out
}

func pack(ranks []byte, bit func(r byte) bool) []byte {
	out := make([]byte, stride(len(ranks)))
	for i, r := range ranks {
		if bit(r) {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// TestExample is the example in docs/format/layer-file.md.
func TestExample(t *testing.T) {
	got := make([]byte, 4)
	n := For(cpu.Generic).Split(got, []byte{0, 3, 1, 0, 5, 2})
	// low 0 1 1 0 1 0; level 0: 0 1 0 0 1 1; level 1, of 3, 5, 2: 0 1 0;
	// level 2, of 5: 0.
	if want := []byte{0x16, 0x32, 0x02, 0x00}; n != len(want) || !bytes.Equal(got, want) {
		t.Errorf("% x", got[:n])
	}
}

func TestDamage(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		k, ranks := For(f), make([]byte, 9)
		for name, src := range map[string][]byte{
			"empty":       {},
			"no level":    {1, 0},
			"short level": {1, 0, 0},
			"tail":        {1, 0, 0, 0, 0},
			"padding":     {1, 2, 0, 0},
			"missing":     {1, 0, 1, 0},
			"too many":    append([]byte{0, 0}, bytes.Repeat([]byte{0xff, 1}, 70)...),
		} {
			should.Be(t, k.Join(ranks, src), ErrCode, "%s", name)
			should.Be(t, k.JoinPart(ranks[:2], src, 3, 9, make([]byte, PartScratch(2))), ErrCode, "%s: a part", name)
		}
		must.OK(t, k.Join(nil, nil))
	})
}

func TestNoRoom(t *testing.T) {
	twins.Test(t, func(t *testing.T, f cpu.Family) {
		ranks := bytes.Repeat([]byte{9, 0, 3}, 50)
		want := layout(ranks)
		for n := range want {
			must.Equal(t, For(f).Split(make([]byte, n), bytes.Clone(ranks)), -1, "%d bytes hold %d", n, len(want))
		}
	})
}
