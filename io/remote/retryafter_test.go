package remote

import (
	"net/http"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"17", "", 17 * time.Second}, {"0", "", 0}, {"3600", "", time.Hour}, {"60000", "", 60_000 * time.Second},
		{"86401", "", maxAfter}, {"99999999999999999999", "", maxAfter}, {"Sat, 03 Feb 2001 04:05:36 GMT", "", 30 * time.Second},
		{"Saturday, 03-Feb-01 04:05:36 GMT", "", 30 * time.Second}, {"Sat Feb  3 04:05:36 2001", "", 30 * time.Second},
		{"Sat, 03 Feb 2001 04:05:05 GMT", "", 0}, {"Fri, 31 Dec 1999 23:59:59 GMT", "", 0}, {"Fri, 31 Dec 9999 23:59:59 GMT", "", maxAfter},
		{"Sat, 03 Feb 2001 05:00:10 GMT", "Sat, 03 Feb 2001 05:00:00 GMT", 10 * time.Second}, // our clock is wrong
		{"Sat, 03 Feb 2001 04:05:36 GMT", "yesterday", 30 * time.Second},
		{"", "", 0}, {"-1", "", 0}, {"+1", "", 0}, {"1.5", "", 0}, {"1e3", "", 0}, {"0x10", "", 0}, {"1_0", "", 0}, {"soon", "", 0}, {"17 s", "", 0}, {"\x1b[2J", "", 0},
	} {
		h := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
		should.Equal(t, parseRetryAfter(h, now), c.want, "Retry-After %q, Date %q", c.value, c.date)
	}
}

// FuzzRetryAfter checks the bounds of the time to wait.
func FuzzRetryAfter(f *testing.F) {
	f.Add("17", "")
	f.Add("Sat, 03 Feb 2001 04:05:36 GMT", "Sat, 03 Feb 2001 04:05:06 GMT")
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		got := parseRetryAfter(h, time.Now())
		should.Not(t, got < 0 || got > maxAfter, "Retry-After %q, Date %q: %v", value, date, got)
	})
}

func TestTags(t *testing.T) {
	for tag, want := range map[string]bool{
		`"a"`: true, `""`: true, `"a,b"`: true, `W/"a"`: false, "a": false, `"a`: false, `"`: false, "": false, `"a", "b"`: false, `"a" `: false, `"a b"`: false, "\"\x7f\"": false,
	} {
		should.Equal(t, isStrong(tag), want, "%s is strong", tag)
	}
	for _, c := range []struct {
		opened, tag string
		want        bool
	}{
		{`"a"`, `"a"`, true}, {`W/"a"`, `W/"a"`, true}, {`W/"a"`, `"a"`, true}, {"a", "a", true}, {"", "", true},
		{`"a"`, `W/"a"`, false}, {`"a"`, `"b"`, false}, {`W/"a"`, `W/"b"`, false}, {`"a"`, "", false}, {"", `"a"`, false}, {"W/a", "a", false}, {`"a"`, `"a", "b"`, false},
	} {
		should.Equal(t, isSame(c.opened, c.tag), c.want, "%s and %s", c.opened, c.tag)
	}
}

func TestStrongDate(t *testing.T) {
	const old = "Sat, 03 Feb 2001 04:05:06 GMT"
	for _, c := range []struct {
		modified, sent string
		want           bool
	}{
		{old, "Sat, 03 Feb 2001 04:06:06 GMT", true}, {old, "Sat, 03 Feb 2001 04:06:05 GMT", false}, {old, old, false},
		{old, "Fri, 31 Dec 1999 23:59:59 GMT", false}, {old, "", false}, {"", old, false}, {"", "", false}, {"soon", old, false},
	} {
		should.Equal(t, isStrongDate(c.modified, c.sent), c.want, "modified %q, sent %q", c.modified, c.sent)
	}
}

// FuzzStrongTag checks that the tag sent back is one quoted text.
func FuzzStrongTag(f *testing.F) {
	f.Add(`"a"`)
	f.Add(`W/"a", "b"`)
	f.Fuzz(func(t *testing.T, tag string) {
		if !isStrong(tag) {
			return
		}
		for i := range len(tag) {
			must.Hold(t, (tag[i] == '"') == (i == 0 || i == len(tag)-1) && tag[i] > ' ', "%q", tag)
		}
	})
}
