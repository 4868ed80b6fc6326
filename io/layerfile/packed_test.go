package layerfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/vfs"
)

// packed encodes scores and returns the blocks, packed one behind the other.
func packed(t *testing.T, h Header, scores []int8) (all []byte) {
	t.Helper()
	e, err := NewEncoder(h, family)
	must.OK(t, err)
	for piece := range slices.Chunk(scores, h.BlockSize) {
		var b Block
		must.OK(t, e.Encode(&b, piece))
		all = b.Packed(all)
	}
	return all
}

// TestPacked: a file made of packed blocks, plain ones among them, is the one that is made of scores.
func TestPacked(t *testing.T) {
	rng := tries.Rand(t)
	scores := layerScores(rng, 1000)
	scores[600] = maxTestScore + 1 // which the model lacks
	h := testHeader(64, len(scores))
	r := bytes.NewReader(packed(t, h, scores))
	u, err := NewUnpacker("here", h, maxTestScore+1, family)
	must.OK(t, err)
	path := filepath.Join(t.TempDir(), "layer.gl")
	p, err := vfs.Begin(path)
	must.OK(t, err)
	w, err := Create(p, h, family)
	must.OK(t, err)
	var b Block
	var one []byte
	got := make([]int8, h.BlockSize)
	for i := range h.Blocks() {
		one, err = ReadPacked(r, one)
		must.OK(t, err)
		must.OK(t, u.Unpack(&b, i, one, got))
		must.OK(t, w.Append(&b))
	}
	if _, err := ReadPacked(r, one); err != io.EOF {
		t.Errorf("behind the last block: %v", err)
	}
	_, err = w.Finish()
	must.OK(t, err)
	must.OK(t, w.Publish())
	if want := layerBytes(t, h.BlockSize, scores); !bytes.Equal(must.Read(t, path), want) {
		t.Error("another file")
	}
}

// TestPackedDamage: no changed byte of a packed block goes unnoticed, nor a score that the layer cannot have.
func TestPackedDamage(t *testing.T) {
	scores := layerScores(rand.New(rand.NewPCG(1, 2)), 64)
	h := testHeader(64, len(scores))
	good := packed(t, h, scores)
	unpack := func(data []byte, most int) error {
		u, err := NewUnpacker("here", h, most, family)
		must.OK(t, err)
		one, err := ReadPacked(bytes.NewReader(data), nil)
		if err != nil {
			return err
		}
		err = u.Unpack(new(Block), 0, one, make([]int8, 64))
		if err != nil && !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		return err
	}
	must.OK(t, unpack(good, maxTestScore))
	if unpack(good, 0) == nil {
		t.Error("impossible scores")
	}
	for i := range good {
		for bit := range 8 {
			data := slices.Clone(good)
			data[i] ^= 1 << bit
			if unpack(data, maxTestScore) == nil && i >= 8 { // the offset says nothing
				t.Errorf("bit %d of byte %d: not noticed", bit, i)
			}
		}
		if i > 0 && unpack(good[:i], maxTestScore) != io.ErrUnexpectedEOF {
			t.Errorf("cut after %d bytes: not noticed", i)
		}
	}
}
