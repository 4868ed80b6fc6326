package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// listen has a server of its own kind answer each connection with f, and returns its address.
func listen(t *testing.T, f func(net.Conn)) string {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var group sync.WaitGroup
	group.Go(func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			group.Go(func() {
				defer c.Close()
				f(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		group.Wait()
	})
	return "http://" + l.Addr().String()
}

// saying answers with the text, and then with more again and again until nobody listens.
func saying(text, more string, pause time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return
		}
		_, err := io.WriteString(c, text)
		for err == nil && more != "" {
			_, err = io.WriteString(c, more)
			time.Sleep(pause)
		}
	}
}

// TestHostile meets servers that mean harm: there is an answer, an *Error in text that can be shown.
func TestHostile(t *testing.T) {
	const part = "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 0-65535/99999\r\n"
	for name, c := range map[string]struct {
		serve func(net.Conn)
		want  error // nil for any
	}{
		"a byte now and then":         {saying(part+"Content-Length: 65536\r\n\r\n", "x", 5*time.Millisecond), ErrTimeout},
		"headers now and then":        {saying("HTTP/1.1 200 OK\r\n", "X: y\r\n", 5*time.Millisecond), ErrTimeout},
		"a chunk now and then":        {saying(part+"Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 5*time.Millisecond), ErrTimeout},
		"100 now and then":            {saying("", "HTTP/1.1 100 Continue\r\n\r\n", 5*time.Millisecond), ErrTimeout},
		"endless headers":             {saying("HTTP/1.1 200 OK\r\n", "X: "+strings.Repeat("y", 4000)+"\r\n", 0), nil},
		"one endless header":          {saying("HTTP/1.1 200 OK\r\nX: ", strings.Repeat("y", 4000), 0), nil},
		"an endless part":             {saying(part+"\r\n", strings.Repeat("y", 4000), 0), ErrAnswer},
		"an endless file":             {saying("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("y", 4000), 0), ErrNoRanges},
		"an endless error":            {saying("HTTP/1.1 404 Not Found\r\n\r\n", strings.Repeat("y", 4000), 0), nil},
		"an endless encoded part":     {saying(part+"Content-Encoding: gzip\r\n\r\n", strings.Repeat("y", 4000), 0), ErrAnswer},
		"encoded in the second field": {saying(part+"Content-Encoding: identity\r\nContent-Encoding: gzip\r\n\r\n", "y", 0), ErrAnswer},
		"parts":                       {saying("HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=x\r\n\r\n--x", "", 0), ErrAnswer},
		"lengths that differ":         {saying(part+"Content-Length: 5\r\nContent-Length: 65536\r\n\r\n", "y", 0), nil},
		"other encodings":             {saying(part+"Transfer-Encoding: gzip\r\n\r\n", "y", 0), nil},
		"control characters":          {saying("HTTP/1.1 200 OK\r\n\x1b[2J\x1b]0;owned\x07\u202e\r\n\r\n", "", 0), nil},
		"in the status":               {saying("HTTP/1.1 404 \x1b[31mred\r\nContent-Length: 0\r\n\r\n", "", 0), nil},
		"in the protocol":             {saying("\x1b[31mHTTP/1.1 200 OK\r\n\r\n", "", 0), nil},
		"in a range":                  {saying("HTTP/1.1 206 P\r\nContent-Range: \x1b[31m\r\n\r\n", "", 0), nil},
		"in an address":               {saying("HTTP/1.1 302 F\r\nLocation: \x1b[31m://x\r\nContent-Length: 0\r\n\r\n", "", 0), nil},
		"a long line":                 {saying("HTTP/1.1 200 OK\r\n"+strings.Repeat("y", 60_000)+"\r\n\r\n", "", 0), nil},
		"status of its own":           {saying("HTTP/1.1 799 x\r\nContent-Length: 0\r\n\r\n", "", 0), nil},
		"another scheme":              {saying("HTTP/1.1 302 F\r\nLocation: ftp://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n", "", 0), ErrRedirect},
		"a file":                      {saying("HTTP/1.1 302 F\r\nLocation: file:///x\r\nContent-Length: 0\r\n\r\n", "", 0), ErrRedirect},
		"silence":                     {saying("", "", 0), io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Timeout: 300 * time.Millisecond, Pause: time.Nanosecond}
			if c.want == ErrTimeout {
				o = hasty // the others need time to answer
			}
			d := openDir(t, listen(t, c.serve), o)
			checkFailure(t, openErr(d, "long"), c.want)
			checkFailure(t, must.Err(d.Manifest(t.Context())), nil)
		})
	}
}

// checkFailure checks that a request failed as an *Error whose text can be shown.
func checkFailure(t *testing.T, err, want error) {
	t.Helper()
	must.Not(t, attempts(err) == 0 || want != nil && !errors.Is(err, want), "%v, want %v", err, want)
	text := err.Error()
	should.Not(t, len(text) > 800 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%d bytes: %q", len(text), text)
}

// TestAskedToWait has the server ask for a pause: a short one is kept to, a long one ends the request at once.
func TestAskedToWait(t *testing.T) {
	for _, code := range []int{429, 503} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			s, long, _ := site(t)
			f := openFile(t, openDir(t, s.URL, patient), "long")
			var asked time.Time
			s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
				if !asked.IsZero() {
					return false
				}
				asked = time.Now()
				return with(status(code), "Retry-After", "1")(w, r)
			})
			mustRead(t, f, long[70_000:70_010], 70_000)
			waited := time.Since(asked)
			should.Not(t, waited < time.Second, "asked again after %v", waited)
			for _, value := range []string{"3600", time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat), "99999999999999999999"} {
				s.Take()
				s.Hook(with(status(code), "Retry-After", value))
				err := tenErr(f)
				should.Not(t, must.As[*StatusError](t, err).After < 59*time.Minute || attempts(err) != 1, "Retry-After %s: %v", value, err)
				should.Has(t, err.Error(), "left alone for ")
				should.Equal(t, len(s.Take()), 1, "Retry-After %s", value)
			}
		})
	}
}

// TestWeakTag reads from a server whose tags are weak, become strong, or are none.
func TestWeakTag(t *testing.T) {
	s, long, _ := site(t)
	for _, c := range []struct {
		before, after string
		want          error
		ifRange       string
	}{
		{`W/"a"`, `W/"a"`, nil, ""}, {`W/"a"`, `"a"`, nil, ""}, {`"a"`, `W/"a"`, ErrChanged, `"a"`}, {`W/"a"`, `W/"b"`, ErrChanged, ""},
		{"a", "a", nil, ""}, {`"a", "b"`, `"a", "b"`, nil, ""}, {`"a", "b"`, `"a"`, ErrChanged, ""}, {"a", "b", ErrChanged, ""},
	} {
		tag := c.before
		s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
			should.Not(t, tag != c.before && r.Header.Get("If-Range") != c.ifRange, "%s: If-Range %q", c.before, r.Header.Get("If-Range"))
			should.Equal(t, r.Header.Get("Accept-Encoding"), "identity", "Accept-Encoding")
			answer := part("bytes 70000-70009/95536", long[70_000:70_010])
			if strings.HasPrefix(r.Header.Get("Range"), "bytes=0-") {
				answer = part("bytes 0-65535/95536", long[:HeadBytes])
			}
			return with(answer, "ETag", tag)(w, r)
		})
		f := openFile(t, openDir(t, s.URL, patient), "long")
		tag = c.after
		should.Be(t, tenErr(f), c.want, "%s, then %s", c.before, c.after)
	}
}

// scripted is a transport that gives one answer after the other.
type scripted []func() *http.Response

func (s *scripted) RoundTrip(*http.Request) (*http.Response, error) {
	answer := (*s)[0]
	if len(*s) > 1 { // the last one again and again
		*s = (*s)[1:]
	}
	return answer(), nil
}

// FuzzAnswer answers a request for bytes 70000-70009 with any status, headers and
// body: the caller gets just the bytes that were sent for these, or an *Error.
func FuzzAnswer(f *testing.F) {
	body := []byte("0123456789")
	f.Add(206, "bytes 70000-70009/99999", `"a"`, "", int64(10), body)
	f.Add(206, "bytes 70000-70009/99999", `"a"`, "gzip", int64(-1), body)
	f.Add(200, "", `"b"`, "", int64(99999), body)
	f.Add(416, "bytes */5", "", "", int64(0), []byte{})
	f.Add(206, "bytes 70000-70009/*", `W/"a"`, "identity", int64(10), body)
	f.Fuzz(func(t *testing.T, code int, contentRange, tag, encoding string, length int64, body []byte) {
		answer := func(code int, contentRange, tag, encoding string, length int64, body []byte) func() *http.Response {
			h := http.Header{"Etag": {tag}, "Content-Range": {contentRange}, "Content-Encoding": {encoding}}
			return func() *http.Response {
				return &http.Response{StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, Header: h, ContentLength: max(length, -1), Body: io.NopCloser(bytes.NewReader(body))}
			}
		}
		transport := &scripted{
			answer(206, "bytes 0-65535/99999", `"a"`, "", -1, make([]byte, HeadBytes)), answer(code, contentRange, tag, encoding, length, body),
		}
		d := must.Get(Open("http://127.0.0.1/", Options{Transport: transport, Pause: time.Nanosecond}))(t)
		defer d.Close()
		file := must.Get(d.OpenFile(t.Context(), "x"))(t)
		got := make([]byte, 10)
		if _, err := file.ReadAt(t.Context(), got, 70_000); err != nil {
			checkFailure(t, err, nil)
			return
		}
		good := code == 206 && strings.EqualFold(contentRange, "bytes 70000-70009/99999") && tag == `"a"` && (encoding == "" || strings.EqualFold(encoding, "identity"))
		should.Hold(t, good && bytes.Equal(got, body), "%d %q %q %q %d: %q read of %q", code, contentRange, tag, encoding, length, got, body)
	})
}
