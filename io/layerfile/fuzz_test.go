package layerfile

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/io/corrupt"
	"grenier/io/tally"
	"grenier/kernels/crc32c"
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// FuzzFile feeds whole files, mapped and from afar, once as they are, once with the checksums of
// header, index and footer made to fit, and once with those of the blocks as well.
func FuzzFile(f *testing.F) {
	data, _ := smallFile(f)
	f.Add(data)
	path := filepath.Join(f.TempDir(), "fuzzed.gl")
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, next := range []func([]byte) []byte{layerfiletest.Reseal, layerfiletest.ResealBlocks, bytes.Clone} {
			must.Write(t, path, data)
			scores, err := readAll(path)
			s, problems := check(path)
			for _, err := range problems {
				must.Be(t, err, corrupt.ErrCorrupt)
			}
			must.Not(t, len(problems) == 0 && (err != nil || s.Footer.Hash != tally.NewHash(family).Add(scores).Sum()),
				"checked, but cannot be read: %v", err)
			parts, partsErr := readParts(data)
			must.Not(t, partsErr != nil && !errors.Is(partsErr, corrupt.ErrCorrupt) || err == nil && !slices.Equal(parts, scores),
				"read in parts: %v", partsErr)
			if len(data) < headerSize+footerSize {
				return
			}
			data = next(bytes.Clone(data))
		}
	})
}

// FuzzHeader checks that a header that is accepted has no other encoding, but for
// the layers below and its model.
func FuzzHeader(f *testing.F) {
	h := testHeader(64, 70)
	f.Add(h.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == headerSize {
			b = bytes.Clone(b)
			copy(b, headerMagic+string([]byte{2 + b[hVersion]&1, 0, 0, 0}))
			b = h.withChecksum(b)
		}
		got, err := parseHeader("f", b)
		if err != nil {
			must.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		again := got.encode()
		copy(again[hVersion:hPits], b[hVersion:])
		copy(again[hBelow:hBlockSize], b[hBelow:])
		must.Hold(t, bytes.Equal(again[:hModelLen], b[:hModelLen]) && got.Blocks() >= 0, "%x becomes %x", b, got.encode())
	})
}

func (h *Header) withChecksum(b []byte) []byte {
	sum := crc32c.Of(b[:hChecksum])
	return append(b[:hChecksum], byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
}

// FuzzForged feeds a model and a block that go under right checksums, those of the scores
// included: what is decoded is what the definition gives, and in bounds.
func FuzzForged(f *testing.F) {
	f.Add([]byte(testModel), []byte{1, 2, 3, 4}, uint16(9), int8(3))
	h := testHeader(512, 512)
	e := must.Get(NewEncoder(h, family))(f)
	var b Block
	must.OK(f, e.Encode(&b, layerScores(rand.New(rand.NewPCG(13, 14)), 512)))
	f.Add([]byte(testModel), b.stored, uint16(512), int8(20))
	f.Fuzz(func(t *testing.T, model, stored []byte, n uint16, most int8) {
		if n < 1 || len(stored) < 1 || len(stored) >= int(n) || most < 0 {
			return
		}
		scores := make([]int8, n)
		usable := ranks.Model(model).Check() == nil
		if usable {
			if want := expandBy(ranks.Model(model), int(n), stored); want != nil {
				scores = want
			}
		}
		forged := layerfiletest.File{
			Model: model, Blocks: []layerfiletest.Block{{Stored: stored, Scores: scores}},
		}
		data := forged.Encode()
		file := newFile("forged", &mapping{open: true, data: data})
		problems := file.load(t.Context(), int64(len(data)))
		must.Not(t, usable != (len(problems) == 0) && len(model) > 0, "model %q: %v", model, problems)
		if len(problems) > 0 {
			return
		}
		file.Bound(int(most))
		d := file.NewDecoder(family)
		got, err := d.Block(t.Context(), 0, nil)
		must.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt) || err == nil && within(got, int(most)) != nil, "%v: %v", got, err)
		decodes := usable && expandBy(ranks.Model(model), int(n), stored) != nil
		must.Not(t, decodes && within(scores, int(most)) == nil && !slices.Equal(got, scores), "%v: %v, want %v", err, got, scores)
		for i := range min(int(n), 100) {
			score, one := d.Score(t.Context(), uint64(i))
			must.Not(t, one != nil && !errors.Is(one, corrupt.ErrCorrupt) || one == nil && int(max(score, -score)) > int(most) || err == nil && (one != nil || score != got[i]),
				"score %d: %d, %v; the block: %v, %v", i, score, one, got, err)
		}
	})
}

// forge returns a decoder for a file of one block with the given stored bytes,
// which is what the checksums say as well.
func forge(t *testing.T, h Header, stored []byte, scores []int8) *Decoder {
	e := entry{offset: uint64(h.start()), length: uint32(len(stored)), storedCRC: crc32c.Of(stored), scoresCRC: crc32c.Of(tally.Bytes(scores))}
	index := e.append(nil)
	footer := Footer{Draw: h.Positions, indexOffset: h.start() + int64(len(stored)), indexCRC: crc32c.Of(index)}
	footer.Bytes = footer.indexOffset + indexEntrySize + footerSize
	data := slices.Concat(h.encode(), []byte(h.Model), stored, index, footer.encode(&h))
	f := newFile("forged", &mapping{open: true, data: data})
	problems := f.load(t.Context(), footer.Bytes)
	must.Not(t, len(problems) > 0, "%v", problems)
	d := f.NewDecoder(family)
	return d
}

// expandBy returns the scores of a block under a model, nil if it cannot be decoded.
func expandBy(model ranks.Model, n int, stored []byte) []int8 {
	var z lz4Codec
	code, err := z.decompress(make([]byte, n), stored)
	if err != nil {
		return nil
	}
	scores := make([]int8, n)
	if rice.For(family).Join(tally.Bytes(scores), code) != nil {
		return nil
	}
	ranks.For(family).Scores(ranks.NewDecoding(model), tally.Bytes(scores))
	return scores
}
