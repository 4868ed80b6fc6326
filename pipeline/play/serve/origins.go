package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"grenier/kernels/fault"
)

// ErrOrigin reports text that is no origin.
var ErrOrigin = fault.New(fault.Usage, "origin")

// Origins are sites whose pages may use the server: read its answers with scripts and show its
// pages in frames. The zero value is none of them.
type Origins struct {
	all  bool
	list []string // as browsers write them
}

// ParseOrigins reads origins separated by commas, each like https://example.org or
// http://localhost:3000, or "*" for all. It fails with ErrOrigin.
func ParseOrigins(text string) (Origins, error) {
	if text == "*" {
		return Origins{all: true}, nil
	}
	var o Origins
	for _, field := range strings.Split(text, ",") {
		origin, err := parseOrigin(field)
		if err != nil {
			return Origins{}, err
		}
		o.list = append(o.list, origin)
	}
	return o, nil
}

// parseOrigin returns an origin as browsers write it: in lower case, without the usual port.
func parseOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil ||
		strings.ContainsAny(u.Host, "*;' ") {
		return "", fmt.Errorf("%w %.100q: expected one like https://example.org or http://localhost:3000, several with commas between, or * alone for all", ErrOrigin, text)
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host, nil
}

// some reports whether there are any.
func (o Origins) some() bool { return o.all || len(o.list) > 0 }

// has reports whether a browser names one of them as the origin of a request.
func (o Origins) has(origin string) bool {
	return origin != "" && (o.all || slices.Contains(o.list, origin))
}

// ancestors is the directive that says whose frames may show a page.
func (o Origins) ancestors() string {
	if o.all {
		return "frame-ancestors *"
	}
	return "frame-ancestors 'self' " + strings.Join(o.list, " ")
}

// invite says in the headers h of the answer who may read it, and reports whether the request may
// come from another site: from a script of an origin that is invited, or from a frame, whose
// origin no browser tells before it has the policy of the answer. If all are invited, from anywhere.
func (o Origins) invite(h http.Header, r *http.Request) bool {
	if !o.some() {
		return false
	}
	origin := r.Header.Get("Origin")
	switch {
	case o.all:
		h.Set("Access-Control-Allow-Origin", "*")
	case o.has(origin):
		h.Set("Access-Control-Allow-Origin", origin)
	}
	if !o.all {
		vary(h, "Origin")
	}
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After")
	framed := r.Header.Get("Sec-Fetch-Mode") == "navigate" && slices.Contains([]string{"iframe", "frame"}, r.Header.Get("Sec-Fetch-Dest"))
	return o.all || o.has(origin) || framed && origin == ""
}

// isPreflight reports whether a browser asks for the rights of a script of another site.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight returns a handler that tells the requests allowed at a path.
func preflight(at route) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Methods", at.methods())
		h.Set("Access-Control-Allow-Headers", "Content-Type, If-Match, If-None-Match")
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	}
}
