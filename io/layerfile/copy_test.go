package layerfile

import (
	"bytes"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/vfs"
)

// TestCopy: a file made of the blocks of others, plain ones among them, is the one that is made of all scores.
func TestCopy(t *testing.T) {
	const size = 64
	scores := layerScores(tries.Rand(t), 1000)
	scores[600] = maxTestScore + 1 // which the model lacks
	h := testHeader(size, len(scores))
	path := filepath.Join(t.TempDir(), "layer.gl")
	p := must.Get(vfs.Begin(path))(t)
	w := must.Get(Create(p, h, family))(t)
	var b Block
	dst := make([]int8, size)
	take := func(scores []int8) (*File, *Decoder) {
		f, d := openFile(t, size, scores)
		for i := range f.NumBlocks() {
			must.OK(t, d.Copy(t.Context(), &b, i, dst))
			must.OK(t, w.Append(&b))
		}
		return f, d
	}
	take(scores[:5*size])
	f, d := take(scores[5*size:])
	must.OK(t, must.Err(w.Finish()))
	must.OK(t, w.Publish())
	want := layerBytes(t, size, scores)
	should.Hold(t, bytes.Equal(must.Read(t, path), want), "another file")
	should.Be(t, d.Copy(t.Context(), &b, f.NumBlocks(), dst), ErrRange, "a block too many")
	f.Bound(maxTestScore)
	should.Be(t, f.NewDecoder(family).Copy(t.Context(), &b, 600/size-5, dst), corrupt.ErrCorrupt, "an impossible score")
}
