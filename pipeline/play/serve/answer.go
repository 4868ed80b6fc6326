package serve

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	// statusGone counts requests whose client went away. Nobody reads the answer;
	// the number is the one that nginx has for it.
	statusGone = 499
	// retrySeconds is when a refused client may try again.
	retrySeconds = 1
	// maxReason bounds the text of an error, which may quote the client.
	maxReason = 400
)

// Codes say why there is no answer, to programs; pages have words of their own for them.
const (
	codeRequest     = "request"     // it makes no sense
	codeForeign     = "foreign"     // a page of another site makes it
	codePath        = "path"        // there is nothing
	codeMethod      = "method"      // not possible there
	codeLate        = "late"        // the body did not come in time
	codeTag         = "tag"         // the document has another entity tag
	codeLarge       = "large"       // too long a body
	codeType        = "type"        // the body is no JSON
	codeHost        = "host"        // another host was asked for
	codeUnsolved    = "unsolved"    // the tables do not have the board
	codeWork        = "work"        // it takes too much to find
	codeRate        = "rate"        // too many requests
	codeGreedy      = "greedy"      // too many requests that compute
	codeConnections = "connections" // too many
	codeGone        = "gone"        // the client is
	codeFailed      = "failed"      // the server did
	codeDamaged     = "damaged"     // a table is
	codeBusy        = "busy"        // with other clients
	codeStopping    = "stopping"
)

// description describes the interface in the words of OpenAPI 3.1. Tests compare it with the routes
// and with answers.
//
//go:embed openapi.json
var description []byte

// problem is the JSON object that says why there is no answer.
type problem struct {
	Error string `json:"error"` // in English, with particulars
	Code  string `json:"code"`
}

// health answers GET /healthz.
func health(w http.ResponseWriter, r *http.Request) {
	sendFresh(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
}

// fail answers with a status and the reason for it.
func fail(w http.ResponseWriter, r *http.Request, status int, code, reason string) {
	if len(reason) > maxReason {
		reason = reason[:maxReason] + "..."
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(retrySeconds))
	}
	answer(w, r, status, problem{reason, code})
}

// answer answers with a status, and v as JSON.
func answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	sendFresh(w, r, status, "application/json", mustEncode(v))
}

// encode returns v as JSON in one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// mustEncode returns v, which is of a known type, as JSON in one line.
func mustEncode(v any) []byte {
	text, err := encode(v)
	if err != nil {
		panic(err)
	}
	return text
}

// sendFresh sends an answer that is not to be kept, compressed if that is worth it
// and the client wants it.
func sendFresh(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	h := w.Header()
	vary(h, "Accept-Encoding")
	if len(body) >= minPacked && acceptsGzip(r.Header) {
		h.Set("Content-Encoding", "gzip")
		body = pack(body)
	}
	send(w, status, kind, "no-store", body)
}

// vary says that answers differ with a header field of the request.
func vary(h http.Header, name string) {
	if !slices.Contains(h["Vary"], name) {
		h.Add("Vary", name)
	}
}

// send sends a whole answer. Who no longer listens misses it. Package http sends no
// body in reply to HEAD.
func send(w http.ResponseWriter, status int, kind, caching string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", caching)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails when the client is gone
}

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

// write sends a line. Who no longer listens misses it.
func (l *lines) write(v any) {
	text := mustEncode(v)
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
