package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// problem is the JSON object that says why there is no answer.
type problem struct {
	Error string `json:"error"`
}

// fail answers with a status and the reason for it.
func fail(w http.ResponseWriter, status int, reason string) {
	text, err := encode(problem{reason})
	if err != nil {
		panic(err) // a struct of one string
	}
	writeJSON(w, status, text)
}

// answer answers with v as JSON.
func answer(w http.ResponseWriter, v any) {
	text, err := encode(v)
	if err != nil {
		panic(err) // only values of known types come here
	}
	writeJSON(w, http.StatusOK, text)
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

// writeJSON sends JSON text. Who no longer listens misses it.
func writeJSON(w http.ResponseWriter, status int, text []byte) {
	send(w, status, "application/json", "no-store", text)
}

// send sends a whole answer.
func send(w http.ResponseWriter, status int, kind, caching string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", caching)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails when the client is gone; there is nobody to tell
}
