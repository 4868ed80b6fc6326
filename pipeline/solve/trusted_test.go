package solve

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestTrusted: a file is trusted as long as it is the same file, and nobody wrote to it.
func TestTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer")
	write := func(name, text string, age time.Duration) os.FileInfo {
		t.Helper()
		at := time.Unix(1e9, 0).Add(age)
		must.Write(t, name, []byte(text))
		must.OK(t, os.Chtimes(name, at, at))
		return must.Get(os.Stat(name))(t)
	}
	var known trusted
	first := write(path, "scores", 0)
	should.Not(t, known.has(2, first), "trusted before it was added")
	known.add(2, first)
	same := write(path, "scores", 0)
	should.Not(t, !known.has(2, same) || known.has(1, same) || known.has(3, same), "not trusted, or as another layer")
	should.Not(t, known.has(2, write(path, "scores", time.Second)), "written since")
	should.Not(t, known.has(2, write(path, "more scores", 0)), "longer")
	must.OK(t, os.Rename(path, path+".old"))
	should.Not(t, known.has(2, write(path, "scores", 0)), "another file")
}
