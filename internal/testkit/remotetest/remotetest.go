// Package remotetest is a web server for tests: it hands out the files of a
// directory, records every request, and misbehaves as a test wants.
package remotetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
)

// Fetch returns what is at an address. It ends the test unless the status is 200.
func Fetch(t must.Test, address string) string {
	t.Helper()
	response := must.Get(http.Get(address))(t)
	defer response.Body.Close()
	must.Equal(t, response.StatusCode, http.StatusOK, "%s: status", address)
	return string(must.Get(io.ReadAll(response.Body))(t))
}

// Request is an answered request.
type Request struct {
	File   string // name, without the directory
	Range  string // header field, "bytes=0-99"
	Status int
	Bytes  int64 // of the body of the answer
}

// Server serves a directory until the end of a test.
type Server struct {
	*httptest.Server
	files http.Handler

	mu       sync.Mutex
	hook     func(w http.ResponseWriter, r *http.Request) bool
	requests []Request
	active   int       // requests not answered yet
	idle     sync.Cond // active is 0
}

// Serve returns a server of the files in dir, over TLS if secure.
func Serve(t testing.TB, dir string, secure bool) *Server {
	s := &Server{files: http.FileServer(http.Dir(dir))}
	s.idle.L = &s.mu
	s.Server = httptest.NewUnstartedServer(s)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Hook has f see each request first, from now on; if f returns true, it has
// answered.
func (s *Server) Hook(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = f
}

// Files answers as a well-behaved server does.
func (s *Server) Files(w http.ResponseWriter, r *http.Request) { s.files.ServeHTTP(w, r) }

// Take returns the requests answered since the last call, once all are.
func (s *Server) Take() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.active > 0 {
		s.idle.Wait()
	}
	taken := s.requests
	s.requests = nil
	return taken
}

// ServeHTTP answers a request and records it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &counter{ResponseWriter: w, status: http.StatusOK}
	hook := s.begin()
	defer s.end(c, r) // even if a hook panics, which is how it breaks a connection
	if hook == nil || !hook(c, r) {
		s.files.ServeHTTP(c, r)
	}
}

func (s *Server) begin() (hook func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
	return s.hook
}

func (s *Server) end(c *counter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{path.Base(r.URL.Path), r.Header.Get("Range"), c.status, c.bytes})
	if s.active--; s.active == 0 {
		s.idle.Broadcast()
	}
}

// counter counts the bytes of an answer.
type counter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// Unwrap lets a hook take over the connection.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush sends the bytes written so far.
func (c *counter) Flush() { c.ResponseWriter.(http.Flusher).Flush() }
