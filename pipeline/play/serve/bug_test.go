package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/crew"
)

// TestPanicInGoroutine: a bug in a goroutine that works for a request costs one answer,
// and the log has its stack in one line.
func TestPanicInGoroutine(t *testing.T) {
	s, log := newServer(t, Options{})
	s.routes["/bug"] = route{get: func(w http.ResponseWriter, r *http.Request) {
		group, _ := crew.WithContext(context.WithoutCancel(r.Context()))
		group.Go(func() error { panic("a bug\nof two lines") })
		s.refuse(w, r, group.Wait())
	}}
	server := httptest.NewServer(s.handler(true))
	defer server.Close()
	for range 2 {
		response := must.Get(http.Get(server.URL + "/bug"))(t)
		response.Body.Close()
		should.Equal(t, response.StatusCode, http.StatusInternalServerError, "status")
	}
	text := log.String()
	should.Hold(t, strings.Count(text, "\n") == 2 && strings.Count(text, "bug_test.go") >= 2, "log: %s", text)
	should.Equal(t, s.metrics.panics.Load(), 2, "panics counted")
}
