package serve

import (
	"net/http"
	"runtime/debug"
	"time"
)

// observed is a ResponseWriter that remembers the status and the bytes sent.
type observed struct {
	http.ResponseWriter
	status int // 0 until headers are sent
	bytes  int
}

// WriteHeader remembers the status.
func (o *observed) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (o *observed) Write(p []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	n, err := o.ResponseWriter.Write(p)
	o.bytes += n
	return n, err
}

// Unwrap returns the writer that a http.ResponseController controls.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// observe returns a handler that counts, times and logs the work of next. If next
// panics, that is logged, the client gets status 500, and the server continues.
func (s *Server) observe(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, seen := time.Now(), &observed{ResponseWriter: w}
		s.metrics.inFlight.Add(1)
		defer func() {
			bug, begun := recover(), seen.status != 0
			if bug != nil {
				s.report(seen, r, bug)
			}
			s.metrics.inFlight.Add(-1)
			took := time.Since(start)
			s.metrics.record(r.URL.Path, seen.status, took)
			if s.logRequests {
				s.log.Info("request", "client", r.RemoteAddr, "method", r.Method, "path", r.URL.Path,
					"status", seen.status, "bytes", seen.bytes, "seconds", took.Seconds())
			}
			if bug != nil && begun {
				panic(http.ErrAbortHandler) // half an answer must not look whole
			}
		}()
		next(seen, r)
	})
}

// report logs a panic and answers the client, unless an answer has begun.
func (s *Server) report(w *observed, r *http.Request, bug any) {
	s.metrics.panics.Add(1)
	s.log.Error("panic", "path", r.URL.Path, "cause", bug, "stack", string(debug.Stack()))
	if w.status == 0 {
		fail(w, r, http.StatusInternalServerError, codeFailed, "the server failed; its log says why")
	}
}
