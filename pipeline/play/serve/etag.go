package serve

import (
	"net/http"
	"strings"
)

// condition evaluates the conditions of a request (RFC 9110, 13.2.2) for a
// document with a strong entity tag: 412 or 304, or 0 if it is to be sent.
func condition(h http.Header, tag string) int {
	if list := h["If-Match"]; strings.Join(list, "") != "" && !matches(list, func(t string) bool { return t == tag }) {
		return http.StatusPreconditionFailed
	}
	if matches(h["If-None-Match"], func(t string) bool { return strings.TrimPrefix(t, "W/") == tag }) {
		return http.StatusNotModified
	}
	return 0
}

// matches reports whether a list of entity tags has "*" or one that is the same. What
// follows a malformed tag is ignored.
func matches(list []string, same func(tag string) bool) bool {
	for rest := strings.Join(list, ","); ; {
		if rest = strings.TrimLeft(rest, ", \t"); strings.HasPrefix(rest, "*") {
			return true
		}
		var tag string
		if tag, rest = cutTag(rest); tag == "" {
			return false
		}
		if same(tag) {
			return true
		}
	}
}

// cutTag cuts an entity tag like "text" or W/"text", quotes included, off the
// beginning of s. It returns "" if there is none.
func cutTag(s string) (tag, rest string) {
	text, quoted := strings.CutPrefix(strings.TrimPrefix(s, "W/"), `"`)
	end := strings.IndexByte(text, '"')
	if !quoted || end < 0 || strings.ContainsFunc(text[:end], func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return "", ""
	}
	n := len(s) - len(text) + end + 1
	return s[:n], s[n:]
}
