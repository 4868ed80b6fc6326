package serve

import "net/http"

// health answers GET /healthz.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	sendFresh(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
}
