package serve

import (
	"mime"
	"net/http"
	"strings"
)

// linesType is the type of answers that are JSON objects, one a line.
const linesType = "application/x-ndjson"

// wantsLines reports whether a client asks for an answer in lines.
func wantsLines(h http.Header) bool {
	for field := range strings.SplitSeq(strings.Join(h["Accept"], ","), ",") {
		if kind, _, err := mime.ParseMediaType(field); err == nil && kind == linesType {
			return true
		}
	}
	return false
}

// lines is an answer that is sent line by line, each at once.
type lines struct {
	w     http.ResponseWriter
	begun bool
}

func newLines(w http.ResponseWriter) *lines { return &lines{w: w} }

// write sends a line. Who no longer listens misses it.
func (l *lines) write(v any) {
	text, err := encode(v)
	if err != nil {
		panic(err) // only values of known types come here
	}
	if !l.begun {
		l.begun = true
		h := l.w.Header()
		h.Set("Content-Type", linesType)
		h.Set("Cache-Control", "no-store")
		vary(h, "Accept")
		l.w.WriteHeader(http.StatusOK)
	}
	_, _ = l.w.Write(text)
	_ = http.NewResponseController(l.w).Flush()
}
