// Package spilltest reads and replaces whole spill streams.
package spilltest

import (
	"errors"
	"io"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/io/spill"
	"grenier/io/vfs"
)

// Read returns the header and the contents of a stream.
func Read(t testing.TB, dir vfs.Dir, name string) (spill.Header, []byte) {
	t.Helper()
	h := must.Get(spill.ReadHeader(dir, name))(t)
	r := must.Get(spill.Open(dir, name, h, 1))(t)
	data, err := io.ReadAll(r)
	must.OK(t, errors.Join(err, r.Close()))
	return h, data
}

// Write replaces what a stream holds, under right checksums.
func Write(t testing.TB, dir vfs.Dir, name string, h spill.Header, data []byte) {
	t.Helper()
	w := must.Get(spill.Create(dir, name, h, spill.LZ4, 1))(t)
	must.OK(t, errors.Join(must.Err(w.Write(data)), w.Publish()))
}
