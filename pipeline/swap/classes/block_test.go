package classes

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// packed returns the list of some keys and the store that it is in.
func packed(t testing.TB, keys []uint64) (list, *memory) {
	t.Helper()
	m := &memory{}
	p := packer{store: m}
	p.start()
	for _, k := range keys {
		if err := p.add(k); err != nil {
			t.Fatal(err)
		}
	}
	l, err := p.finish()
	if err != nil {
		t.Fatal(err)
	}
	return l, m
}

// TestPacker packs and unpacks lists of keys that are close and far apart.
func TestPacker(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 0))
	const limit = 1 << 50
	for _, c := range []struct {
		n    int
		step uint64
	}{{0, 1}, {1, 1}, {2, 1 << 40}, {blockBytes * (blocksAtOnce + 2), 1}, {blockBytes * (blocksAtOnce + 2), 200}, {100_000, 1 << 33}} {
		keys := make([]uint64, c.n)
		next := uint64(0)
		for i := range keys {
			keys[i] = next
			next += 1 + random.Uint64N(c.step)
		}
		l, m := packed(t, keys)
		var got []uint64
		for i := range l {
			data, err := m.get(list{l[i]}.extents(nil), nil)
			if err != nil || !l[i].possible() {
				t.Fatalf("block %d: %+v, %v", i, l[i], err)
			}
			if got, err = l[i].unpack(got, data, limit); err != nil {
				t.Fatalf("block %d: %v", i, err)
			}
		}
		if !slices.Equal(got, keys) || l.keys() != uint64(c.n) {
			t.Errorf("%d keys up to %d apart: %d keys, %d in the index", c.n, c.step, len(got), l.keys())
		}
		m.drop(l)
		if len(m.free) != len(m.pages) {
			t.Errorf("%d of %d pages are free after all were dropped", len(m.free), len(m.pages))
		}
	}
}

// FuzzUnpack unpacks anything: keys are as many as said, ascend and are below the
// limit, or it is refused; and what is accepted is what the packer makes.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{5, 1, 2}, uint64(5), uint32(3))
	f.Add([]byte{5, 0}, uint64(5), uint32(2))
	f.Add([]byte{0x80, 0x01, 0xff}, uint64(128), uint32(2))
	f.Add([]byte{}, uint64(0), uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, first uint64, keys uint32) {
		const limit = 1 << 45
		b := block{first: first, keys: keys}
		b.at.Length = uint32(len(data))
		if !b.possible() {
			return
		}
		got, err := b.unpack(nil, data, limit)
		if err != nil {
			return
		}
		if len(got) != int(keys) || got[0] != first || got[len(got)-1] >= limit || !slices.IsSorted(got) {
			t.Fatalf("%x: %v", data, got)
		}
		again := binary.AppendUvarint(nil, first)
		for i, k := range got[1:] {
			if k == got[i] {
				t.Fatalf("%x: %d twice", data, k)
			}
			again = binary.AppendUvarint(again, k-got[i])
		}
		if len(again) > len(data) {
			t.Fatalf("%x: packed again: %x", data, again)
		}
	})
}

// TestBlockBytes checks the bytes of a block: they are those that
// docs/format/swap-classes.md tells.
func TestBlockBytes(t *testing.T) {
	l, m := packed(t, []uint64{300, 301, 429, 20000})
	data, err := m.get(l.extents(nil), nil)
	want := []byte{0xac, 0x02, 0x01, 0x80, 0x01, 0xf3, 0x98, 0x01}
	if err != nil || !slices.Equal(data, want) {
		t.Errorf("%x, %v, want %x", data, err, want)
	}
}
