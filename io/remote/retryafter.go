package remote

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// maxAfter stands for all longer times that a server wants to be left alone.
const maxAfter = 24 * time.Hour

// parseRetryAfter reads the header field Retry-After (RFC 9110, 10.2.3): a number of
// seconds, or a date, which is compared with the clock of the server if it tells,
// with now otherwise. A value that makes no sense or is over counts as 0.
func parseRetryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 16)
	switch {
	case err == nil:
		return min(time.Duration(seconds)*time.Second, maxAfter)
	case errors.Is(err, strconv.ErrRange):
		return maxAfter
	}
	then, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return min(max(0, then.Sub(now)), maxAfter)
}
