// Package writetest writes layer files for tests, with the scores that a test wants, and reads them.
package writetest

import (
	"errors"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/io/layerfile"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
)

// File publishes a layer file with the header and all scores at path: see Layer.
func File(t testing.TB, path string, h layerfile.Header, scores []int8) layerfile.Summary {
	t.Helper()
	p := must.Get(vfs.Begin(path))(t)
	return Layer(t, p, h, scores)
}

// Layer publishes a layer file with the header and all scores as p.
func Layer(t testing.TB, p *vfs.Pending, h layerfile.Header, scores []int8) layerfile.Summary {
	t.Helper()
	w := must.Get(layerfile.Create(p, h, cpu.Generic))(t)
	defer w.Abort()
	e := must.Get(layerfile.NewEncoder(h, cpu.Generic))(t)
	var b layerfile.Block
	for i := range h.Blocks() {
		must.OK(t, errors.Join(e.Encode(&b, scores[:h.BlockLen(i)]), w.Append(&b)))
		scores = scores[h.BlockLen(i):]
	}
	summary, err := w.Finish()
	must.OK(t, errors.Join(err, w.Publish()))
	return summary
}

// Read returns the header of the layer file at path, and what it holds.
func Read(t testing.TB, path string) (h layerfile.Header, scores []int8) {
	t.Helper()
	f := must.Get(layerfile.Open(path))(t)
	h = f.Header()
	scores = make([]int8, h.Positions)
	must.OK(t, errors.Join(f.NewDecoder(cpu.Generic).Read(t.Context(), scores, 0), f.Close()))
	return h, scores
}
