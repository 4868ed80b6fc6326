package pagecache_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/pagecache"
)

// TestNoFile shows that a Bound of no file does nothing.
func TestNoFile(t *testing.T) {
	var zero pagecache.Bound
	zero.Wrote(0, 1<<30)
	zero.Read(1 << 30)
	zero.Synced()
	must.OK(t, zero.Close())
}

// refusing is a file that fails once.
type refusing struct {
	io.Writer
	calls int // until then
	part  int // bytes that it writes before
	err   error
}

func (r *refusing) Write(b []byte) (n int, err error) {
	if r.calls--; r.calls != 0 {
		return r.Writer.Write(b)
	}
	if n, err = r.Writer.Write(b[:min(r.part, len(b))]); err == nil {
		err = r.err
	}
	return n, err
}

// direct writes data in pieces, and refuses as r says. It returns what is in the file.
func direct(t *testing.T, data []byte, r refusing) ([]byte, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a")
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	r.Writer = f
	d := pagecache.NewDirect(&r, f)
	tries.SkipIf(t, d == nil, "files for tests are not written past the page cache here")
	var err error
	for rest := data; len(rest) > 0 && err == nil; {
		n := 0
		n, err = d.Write(rest[:min(len(rest), 1+rand.IntN(300_000))])
		rest = rest[n:]
	}
	if err == nil {
		err = d.Flush()
	}
	return must.Read(t, path), err
}

// TestDirect writes files of any length, also where the system cannot write past the page cache, but says so only when it should.
func TestDirect(t *testing.T) {
	should.Hold(t, pagecache.NewDirect(io.Discard, nil) == nil, "there is a way past the page cache to no file")
	full := fmt.Errorf("no room: %w", syscall.ENOSPC)
	for _, length := range []int{0, 1, 4095, 4096, 4097, 1 << 20, 1<<20 + 1, 3<<20 + 4097} {
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(i * i >> 8)
		}
		for _, r := range []refusing{{}, {calls: 1, err: syscall.EINVAL}, {calls: 2, part: 8192, err: syscall.EINVAL}} {
			got, err := direct(t, data, r)
			should.Hold(t, err == nil && bytes.Equal(got, data), "%d bytes, %+v: %d are there, %v", length, r, len(got), err)
		}
		should.Not(t, length >= 4096 && !errors.Is(must.Err(direct(t, data, refusing{calls: 1, err: full})), full), "%d bytes: no error", length)
	}
}
