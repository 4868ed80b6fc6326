package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
		response, err := http.Get(server.URL + "/bug")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusInternalServerError {
			t.Errorf("status %d", response.StatusCode)
		}
	}
	if text := log.String(); strings.Count(text, "\n") != 2 || strings.Count(text, "bug_test.go") < 2 {
		t.Errorf("log: %s", text)
	}
	if n := s.metrics.panics.Load(); n != 2 {
		t.Errorf("%d panics counted", n)
	}
}
