package remote

import (
	"fmt"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

func TestContentRange(t *testing.T) {
	for s, want := range map[string]contentRange{
		"bytes 0-0/1":        {0, 0, 1},
		"bytes 10-19/100":    {10, 19, 100},
		"Bytes 10-99/100":    {10, 99, 100},
		"bytes */0":          {0, -1, 0},
		"bytes */100":        {0, -1, 100},
		"bytes 0-0/" + maxed: {0, 0, 1<<63 - 1},
	} {
		got, ok := parseContentRange(s)
		should.Hold(t, ok && got == want, "%q: %v, %v", s, got, ok)
	}
	for _, s := range []string{
		"", "bytes", "bytes ", "bytes 0-1", "bytes 0-1/", "bytes 0-1/*", "bytes */*", "bytes -1/5", "bytes 1-/5", "bytes 1/5", "bytes 3-2/5",
		"bytes 0-5/5", "bytes +0-1/5", "bytes 0x0-1/5", "bytes  0-1/5", "bytes 0-1/5/6", "bytes 0-1/9223372036854775808", "items 0-1/5", "0-1/5",
	} {
		got, ok := parseContentRange(s)
		should.Not(t, ok, "%q: %v", s, got)
	}
}

const maxed = "9223372036854775807"

// FuzzContentRange accepts nothing that is not a range inside a file.
func FuzzContentRange(f *testing.F) {
	for _, s := range []string{"bytes 0-9/100", "bytes */100", "bytes 5-4/10", "bytes 0-1/" + maxed + "0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := parseContentRange(s)
		if !ok {
			return
		}
		again, ok := parseContentRange(strings.ToLower(fmt.Sprintf("bytes %d-%d/%d", c.first, c.last, c.total)))
		must.Not(t, c.last >= 0 && (!ok || again != c), "%q: %v, %v", s, c, again)
		must.Not(t, c.first < 0 || c.last < c.first-1 || c.last >= max(c.total, 0) && c.last >= 0, "%q: %v", s, c)
	})
}
