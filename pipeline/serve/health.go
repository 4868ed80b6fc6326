package serve

import "net/http"

// health answers GET /healthz.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, "text/plain; charset=utf-8", "no-store", []byte("ok\n"))
}
