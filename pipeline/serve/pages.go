package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
)

// kinds are the files that a page can have, by the end of their names. What the
// system thinks of such names does not matter.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// index is the file that is shown at /.
const index = "index.html"

// addPages adds a route for each file.
func (s *Server) addPages(files fs.FS) error {
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return s.addPage(files, name)
	})
	if err != nil {
		return err
	}
	if _, ok := s.routes["/"]; !ok {
		return fmt.Errorf("%s: %w", index, fs.ErrNotExist)
	}
	return nil
}

func (s *Server) addPage(files fs.FS, name string) error {
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		return fmt.Errorf("%s: a page has no such files", name)
	}
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	at := "/" + name
	if name == index {
		at = "/"
	}
	s.routes[at] = route{get: document(kind, text)}
	return nil
}

// document returns a handler that sends a text which never changes, unless the
// client says that it has it.
func document(kind string, text []byte) http.HandlerFunc {
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.Header().Set("Cache-Control", "no-cache")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		send(w, http.StatusOK, kind, "no-cache", text)
	}
}
