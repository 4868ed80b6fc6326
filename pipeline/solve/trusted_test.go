package solve

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"grenier/internal/testkit/must"
)

// TestTrusted: a file is trusted as long as it is the same file, and nobody wrote to it.
func TestTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layer")
	write := func(name, text string, age time.Duration) os.FileInfo {
		t.Helper()
		at := time.Unix(1e9, 0).Add(age)
		must.Write(t, name, []byte(text))
		must.OK(t, os.Chtimes(name, at, at))
		info, err := os.Stat(name)
		must.OK(t, err)
		return info
	}
	var known trusted
	first := write(path, "scores", 0)
	if known.has(2, first) {
		t.Error("trusted before it was added")
	}
	known.add(2, first)
	if same := write(path, "scores", 0); !known.has(2, same) || known.has(1, same) || known.has(3, same) {
		t.Error("not trusted, or as another layer")
	}
	if known.has(2, write(path, "scores", time.Second)) {
		t.Error("written since")
	}
	if known.has(2, write(path, "more scores", 0)) {
		t.Error("longer")
	}
	must.OK(t, os.Rename(path, path+".old"))
	if known.has(2, write(path, "scores", 0)) {
		t.Error("another file")
	}
}
