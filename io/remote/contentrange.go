package remote

import (
	"fmt"
	"strings"
)

// contentRange is the value of the header field Content-Range (RFC 9110, 14.4): the
// bytes first to last of total. It is 0 to -1 of an unsatisfied range.
type contentRange struct{ first, last, total int64 }

// parseContentRange reads "bytes 0-9/100" or "bytes */100"; a total that the server
// does not tell is of no use.
func parseContentRange(s string) (c contentRange, ok bool) {
	s = strings.ToLower(s)
	if _, err := fmt.Sscanf(s, "bytes %d-%d/%d", &c.first, &c.last, &c.total); err == nil {
		return c, c.first <= c.last && c.last < c.total && s == fmt.Sprintf("bytes %d-%d/%d", c.first, c.last, c.total)
	}
	c = contentRange{first: 0, last: -1}
	_, err := fmt.Sscanf(s, "bytes */%d", &c.total)
	return c, err == nil && s == fmt.Sprintf("bytes */%d", c.total) && c.total >= 0
}

// wrongRange is an answer with other bytes than those asked for.
func wrongRange(got string, first, last int64) error {
	if got == "" {
		return fmt.Errorf("%w: it does not say which bytes it has", ErrAnswer)
	}
	return fmt.Errorf("%w: its Content-Range is %.80q, asked for were bytes %d-%d", ErrAnswer, got, first, last)
}
