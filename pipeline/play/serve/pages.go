package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// kinds are the files that a page can have, by the end of their names. What the
// system thinks of such names does not matter.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",

	".webmanifest": "application/manifest+json",
}

// index is the file that is shown at /.
const index = "index.html"

// addPages adds a route for each file.
func (s *Server) addPages(files map[string][]byte) error {
	for name, text := range files {
		if err := s.addPage(name, text); err != nil {
			return err
		}
	}
	if _, ok := s.routes["/"]; !ok {
		return fmt.Errorf("%s: %w", index, fs.ErrNotExist)
	}
	return nil
}

func (s *Server) addPage(name string, text []byte) error {
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		return fmt.Errorf("%s: a page has no such files", name)
	}
	at := "/" + strings.TrimSuffix(name, ".html")
	if name == index {
		at = "/"
	}
	if path.Ext(name) == ".html" {
		s.routes[at] = route{get: s.linked(kind, text)}
		return nil
	}
	s.routes[at] = route{get: document(kind, text)}
	return nil
}

// document returns a handler that sends a text which never changes, unless the
// client says that it has it.
func document(kind string, text []byte) http.HandlerFunc {
	plain, packed := newEdition(text, ""), newEdition(pack(text), "gzip")
	return func(w http.ResponseWriter, r *http.Request) {
		plain.sendOr(w, r, kind, func() edition { return packed })
	}
}

// edition is a document as it is sent: plain or compressed. They have entity tags
// of their own, which stand for their bytes.
type edition struct {
	body          []byte
	encoding, tag string
}

func newEdition(body []byte, encoding string) edition {
	sum := sha256.Sum256(body)
	return edition{body, encoding, `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// sendOr sends the document, or as packed returns it if it is worth that and the client wants it.
func (e edition) sendOr(w http.ResponseWriter, r *http.Request, kind string, packed func() edition) {
	vary(w.Header(), "Accept-Encoding")
	if len(e.body) >= minPacked && acceptsGzip(r.Header) {
		e = packed()
	}
	e.send(w, r, kind)
}

// send answers a request for a document. Ranges are not served: a whole document is
// a right answer to a request for a part.
func (e edition) send(w http.ResponseWriter, r *http.Request, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(e.body)))
	h.Set("ETag", e.tag)
	if e.encoding != "" {
		h.Set("Content-Encoding", e.encoding)
	}
	r.Header.Del("Range")
	http.ServeContent(conditional{w, r}, r, "", time.Time{}, bytes.NewReader(e.body))
}

// conditional is the writer of a document, which says in JSON that it is not the one that If-Match names.
type conditional struct {
	http.ResponseWriter
	request *http.Request
}

// WriteHeader sends the status.
func (c conditional) WriteHeader(status int) {
	if status != http.StatusPreconditionFailed {
		c.ResponseWriter.WriteHeader(status)
		return
	}
	h := c.Header()
	tag := h.Get("ETag")
	h.Del("ETag")
	h.Del("Content-Encoding")
	fail(c.ResponseWriter, c.request, status, codeTag, "If-Match: the document has another entity tag, "+tag)
}
