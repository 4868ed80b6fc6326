package serve

import (
	"context"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// securityHeaders are part of every answer, unless origins are invited (headersFor). The page
// needs nothing but its own files; nothing of anybody else may run in it or show it in a frame.
var securityHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
		"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy": "accelerometer=(), camera=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), " +
		"payment=(), usb=()",
}

// headersFor returns the headers of every answer.
func headersFor(o Origins) map[string]string {
	headers := maps.Clone(securityHeaders)
	if o.some() {
		policy := "Content-Security-Policy"
		headers[policy] = strings.Replace(headers[policy], "frame-ancestors 'none'", o.ancestors(), 1)
		headers["Cross-Origin-Resource-Policy"] = "cross-origin"
		delete(headers, "X-Frame-Options") // it cannot name origins
	}
	return headers
}

// handler returns all of the server. If local is set, requests must name a host
// that means this machine.
func (s *Server) handler(local bool) http.Handler {
	return s.observe(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range s.headers {
			w.Header().Set(name, value)
		}
		invited := s.origins.invite(w.Header(), r)
		if local && !isLocalName(r.Host) {
			rest(r.Context(), s.limits.penalty)
			fail(w, r, http.StatusMisdirectedRequest, codeHost, "this server is for this machine only: ask for localhost, not for another name")
			return
		}
		if !invited && isForeign(r) {
			rest(r.Context(), s.limits.penalty)
			fail(w, r, http.StatusForbidden, codeForeign, "pages of other sites may link to this server, but not use it")
			return
		}
		s.dispatch(w, r)
	})
}

// isForeign reports whether, according to the browser, a page of another site
// makes the request, other than by a link that somebody follows. Such a page
// cannot read the answer, but could keep the server busy. Browsers that do not
// send the site send the origin when a script asks.
func isForeign(r *http.Request) bool {
	h := r.Header
	switch h.Get("Sec-Fetch-Site") {
	case "same-origin", "none": // the address bar
		return false
	case "": // an old browser, or none
		origin := h.Get("Origin")
		return origin != "" && !strings.EqualFold(origin, "http://"+r.Host) && !strings.EqualFold(origin, "https://"+r.Host)
	}
	if h.Get("Sec-Fetch-Mode") != "navigate" {
		return true
	}
	into := h.Get("Sec-Fetch-Dest") // a frame is no link
	return into != "" && into != "document"
}

// dispatch finds the handler for a request and calls it.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	route, found := s.routes[r.URL.Path]
	handle := route.handler(r.Method)
	if found && isPreflight(r) && s.origins.some() {
		handle = preflight(route)
	}
	switch {
	case !s.clients.allow(clientOf(r.RemoteAddr)):
		rest(r.Context(), s.limits.penalty)
		fail(w, r, http.StatusTooManyRequests, codeRate, "too many requests: slow down")
	case !found:
		fail(w, r, http.StatusNotFound, codePath, "there is nothing here; / is the page, /api/openapi.json lists what can be asked")
	case handle == nil:
		w.Header().Set("Allow", route.methods())
		fail(w, r, http.StatusMethodNotAllowed, codeMethod, "only "+route.methods()+" are possible here")
	default:
		r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		handle(w, r)
	}
}

// rest lets a client wait, on its own connection, before it is refused: so it cannot
// keep the machine busy with refusals.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// handler returns the handler for a method, or nil.
func (r route) handler(method string) http.HandlerFunc {
	switch method {
	case http.MethodGet, http.MethodHead:
		return r.get
	case http.MethodPost:
		return r.post
	}
	return nil
}

// methods lists the methods that are allowed.
func (r route) methods() string {
	if r.post != nil {
		return "GET, HEAD, POST"
	}
	return "GET, HEAD"
}

// isLocalName reports whether the Host of a request, with or without a port, means
// this machine whoever resolves it.
func isLocalName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761, section 6.3
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
