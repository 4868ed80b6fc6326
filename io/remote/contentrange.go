package remote

import (
	"fmt"
	"strconv"
	"strings"
)

// contentRange is the value of the header field Content-Range (RFC 9110, 14.4): the
// bytes first to last of total. It is 0 to -1 of an unsatisfied range.
type contentRange struct{ first, last, total int64 }

// parseContentRange reads "bytes 0-9/100" or "bytes */100"; a total that the server
// does not tell is of no use.
func parseContentRange(s string) (contentRange, bool) {
	unit, rest, _ := strings.Cut(s, " ")
	span, length, found := strings.Cut(rest, "/")
	total, ok := parseLength(length)
	if !strings.EqualFold(unit, "bytes") || !found || !ok {
		return contentRange{}, false
	}
	if span == "*" {
		return contentRange{0, -1, total}, true
	}
	from, to, _ := strings.Cut(span, "-")
	first, ok1 := parseLength(from)
	last, ok2 := parseLength(to)
	if !ok1 || !ok2 || first > last || last >= total {
		return contentRange{}, false
	}
	return contentRange{first, last, total}, true
}

// parseLength reads a number without a sign.
func parseLength(s string) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil
}

// wrongRange is an answer with other bytes than those asked for.
func wrongRange(got string, first, last int64) error {
	if got == "" {
		return fmt.Errorf("%w: it does not say which bytes it has", ErrAnswer)
	}
	return fmt.Errorf("%w: its Content-Range is %.80q, asked for were bytes %d-%d", ErrAnswer, got, first, last)
}
