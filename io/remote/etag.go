package remote

import "strings"

// isStrong reports whether an entity tag may be sent back as If-Range: it is well-formed
// and stands for the very bytes of a file (RFC 9110, 8.8.3).
func isStrong(tag string) bool {
	text, ok := strings.CutPrefix(tag, `"`)
	text, closed := strings.CutSuffix(text, `"`)
	return ok && closed && !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == '"' || c == 0x7f })
}

// isSame reports whether the tag of an answer still belongs to the file that was
// opened. Servers give a file that was just written a weak tag, and make it a strong
// one later; the other way round something has changed. Tags that are not
// well-formed are only compared.
func isSame(opened, tag string) bool {
	return tag == opened || strings.HasPrefix(opened, "W/") && isStrong(tag) && tag == opened[2:]
}
