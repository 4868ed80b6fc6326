package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient retries at once and waits long for an answer.
var patient = Options{Timeout: time.Minute, Pause: time.Nanosecond}

var hasty = Options{Timeout: 50 * time.Millisecond, Pause: time.Nanosecond}

// date is when the file "long" was modified.
var date = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

const fileSize = HeadBytes + 30_000

// site serves a file "long" of fileSize bytes, a file "short" of 1000, and an empty one.
func site(t *testing.T) (s *remotetest.Server, long []byte, dir string) {
	t.Helper()
	dir = t.TempDir()
	long = make([]byte, fileSize)
	_, _ = rand.NewChaCha8([32]byte{}).Read(long)
	must.Write(t, filepath.Join(dir, "long"), long)
	must.OK(t, os.Chtimes(filepath.Join(dir, "long"), date, date))
	must.Write(t, filepath.Join(dir, "short"), long[:1000])
	must.Write(t, filepath.Join(dir, "empty"), nil)
	s = remotetest.Serve(t, dir, false)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s, long, dir
}

func openDir(t *testing.T, address string, o Options) *Dir {
	t.Helper()
	d := must.Get(Open(address, o))(t)
	t.Cleanup(d.Close)
	return d
}

func openFile(t *testing.T, d *Dir, name string) *File {
	t.Helper()
	return must.Get(d.OpenFile(t.Context(), name))(t)
}

func openErr(d *Dir, name string) error { return must.Err(d.OpenFile(context.Background(), name)) }

// tenErr reads bytes 70000-70009 of a file.
func tenErr(f *File) error { return must.Err(f.ReadAt(context.Background(), make([]byte, 10), 70_000)) }

func mustRead(t *testing.T, f *File, want []byte, off int64) {
	t.Helper()
	got := make([]byte, len(want))
	n, err := f.ReadAt(t.Context(), got, off)
	should.Hold(t, n == len(want) && err == nil && bytes.Equal(got, want), "%d bytes at %d: %d, %v", len(want), off, n, err)
}

func ranges(s *remotetest.Server) []string {
	var all []string
	for _, r := range s.Take() {
		all = append(all, strings.TrimPrefix(r.Range, "bytes=")+" "+strconv.FormatInt(r.Bytes, 10))
	}
	return all
}

func TestRead(t *testing.T) {
	s, long, dir := site(t)
	f := openFile(t, openDir(t, s.URL, patient), "long")
	should.Equal(t, f.Size(), fileSize, "bytes")
	mustRead(t, f, long[:100], 0)
	mustRead(t, f, long[:HeadBytes], 0)
	should.List(t, ranges(s), []string{"0-65535 65536"}, "asked for")
	mustRead(t, f, long[70_000:70_010], 70_000)
	mustRead(t, f, long[HeadBytes-1:][:2], HeadBytes-1)
	mustRead(t, f, long[fileSize-1:], fileSize-1)
	should.List(t, ranges(s), []string{"70000-70009 10", "65535-65536 2", "95535-95535 1"}, "asked for")
	mustRead(t, f, nil, fileSize)
	for _, off := range []int64{-1, fileSize - 1, fileSize, 1 << 62, 1<<63 - 1} {
		n, err := f.ReadAt(t.Context(), make([]byte, 2), off)
		should.Hold(t, n == 0 && errors.Is(err, io.EOF), "at %d: %d, %v", off, n, err)
	}
	should.List(t, ranges(s), nil, "asked for")

	must.Write(t, filepath.Join(dir, "head"), long[:HeadBytes])
	for name, size := range map[string]int{"short": 1000, "empty": 0, "head": HeadBytes} {
		f := openFile(t, openDir(t, s.URL+"/", patient), name)
		should.Equal(t, f.Size(), int64(size), "%s: bytes", name)
		mustRead(t, f, long[:size], 0)
		should.Equal(t, len(ranges(s)), 1, "%s: asked for", name)
	}
}

// hook answers a request, or leaves that to the server.
type hook = func(w http.ResponseWriter, r *http.Request) bool

func pass(http.ResponseWriter, *http.Request) bool   { return false }
func hangUp(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// mute never completes an answer.
func mute(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done() // until the client gives up
	return true
}

func status(code int) hook {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(code)
		return true
	}
}

func redirect(base string) hook {
	return func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, base+r.URL.Path, http.StatusFound)
		return true
	}
}

// with adds header fields, names and values in turn.
func with(next hook, fields ...string) hook {
	return func(w http.ResponseWriter, r *http.Request) bool {
		for field := range slices.Chunk(fields, 2) {
			w.Header().Set(field[0], field[1])
		}
		return next(w, r)
	}
}

// whole answers without regard to ranges, as simple servers do.
func whole(data []byte) hook {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		_, err := w.Write(data)
		w.(http.Flusher).Flush() // without a Content-Length that nobody set
		return err == nil
	}
}

// part sends a part of a file.
func part(contentRange string, body []byte) hook {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Range", contentRange)
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush() // without a Content-Length that nobody set
		w.Write(body)
		w.(http.Flusher).Flush()
		return true
	}
}

// answer is part with the date of "long": for servers that have lost their way.
func answer(contentRange string, body []byte) hook {
	return with(part(contentRange, body), "Last-Modified", date.Format(http.TimeFormat))
}

func then(first, second hook) hook {
	return func(w http.ResponseWriter, r *http.Request) bool { return first(w, r) && second(w, r) }
}

func TestServerWithoutRanges(t *testing.T) {
	s, long, _ := site(t)
	d := openDir(t, s.URL, patient)
	s.Hook(with(whole(long), "Content-Length", "95536"))
	should.Says(t, openErr(d, "long"), ErrNoRanges, "it sends the whole file, 95536 bytes")
	should.Equal(t, len(s.Take()), 1)
	s.Hook(with(whole(long[:HeadBytes]), "Content-Length", "65536"))
	mustRead(t, openFile(t, d, "short"), long[:HeadBytes], 0)
	s.Hook(whole(long[:10]))
	should.Be(t, openErr(d, "short"), ErrNoRanges, "a file of unknown length")
	s.Hook(nil)
	f := openFile(t, d, "long")
	s.Hook(func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false })
	should.Be(t, tenErr(f), ErrNoRanges, "no ranges any more")
}

// TestWrongAnswers answers a request for bytes 70000-70009.
func TestWrongAnswers(t *testing.T) {
	s, long, _ := site(t)
	ten := long[70_000:70_010]
	for name, c := range map[string]struct {
		hook     hook
		want     error
		text     string
		attempts int
	}{
		"no range":      {answer("", ten), ErrAnswer, "does not say which bytes", 1},
		"other range":   {answer("bytes 70001-70010/95536", ten), ErrAnswer, `"bytes 70001-70010/95536", asked for were bytes 70000-70009`, 1},
		"longer range":  {answer("bytes 70000-70010/95536", long[70_000:70_011]), ErrAnswer, "asked for", 1},
		"shorter range": {answer("bytes 70000-70008/95536", ten[:9]), ErrAnswer, "asked for", 1},
		"no total":      {answer("bytes 70000-70009/*", ten), ErrAnswer, "asked for", 1},
		"other unit":    {answer("lines 70000-70009/95536", ten), ErrAnswer, "asked for", 1},
		"nonsense":      {answer("bytes 9-1/95536", ten), ErrAnswer, "asked for", 1},
		"too much":      {answer("bytes 70000-70009/95536", long[70_000:70_011]), ErrAnswer, "more than 10 bytes", 1},
		"too little":    {answer("bytes 70000-70009/95536", ten[:9]), io.ErrUnexpectedEOF, "ends after 9 bytes", 3},
		"nothing":       {answer("bytes 70000-70009/95536", nil), io.ErrUnexpectedEOF, "ends after 0 bytes", 3},
		"other total":   {answer("bytes 70000-70009/95537", ten), ErrChanged, "95537 bytes instead of 95536", 1},
		"wrong length":  {with(answer("bytes 70000-70009/95536", ten[:9]), "Content-Length", "9"), ErrAnswer, "9 bytes instead of 10", 1},
		"broken off":    {then(with(answer("bytes 70000-70009/95536", ten[:4]), "Content-Length", "10"), hangUp), io.ErrUnexpectedEOF, "ends after 4 bytes", 3},
		"no answer":     {hangUp, io.EOF, "EOF", 3},
		"encoded":       {with(answer("bytes 70000-70009/95536", ten), "Content-Encoding", "gzip"), ErrAnswer, `encoded ("gzip")`, 1},
		"gone":          {status(404), fs.ErrNotExist, "404 Not Found", 1},
		"forbidden":     {status(403), fs.ErrPermission, "403 Forbidden", 1},
		"no part":       {status(416), nil, "416 Requested Range Not Satisfiable", 1},
		"shorter":       {with(status(416), "Content-Range", "bytes */60000"), ErrChanged, "60000 bytes instead of 95536", 1},
		"busy":          {status(503), nil, "503 Service Unavailable", 3},
		"broken":        {status(500), nil, "500 Internal Server Error", 3},
		"no way":        {status(502), nil, "502 Bad Gateway", 3},
		"many":          {status(429), nil, "429 Too Many Requests", 3},
		"wrong method":  {status(405), nil, "405 Method Not Allowed", 1},
		"nothing new":   {status(304), nil, "304 Not Modified", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s.Hook(nil)
			f := openFile(t, openDir(t, s.URL, patient), "long")
			s.Take()
			s.Hook(c.hook)
			err := must.As[*Error](t, tenErr(f))
			must.Not(t, c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) ||
				!strings.HasPrefix(err.Error(), "bytes 70000-70009: ") || errors.Is(err, corrupt.ErrCorrupt),
				"%v, want %v and %q", err, c.want, c.text)
			n := len(s.Take())
			should.Hold(t, err.Attempts == c.attempts && n >= c.attempts, "%d attempts, %d requests, want %d", err.Attempts, n, c.attempts)
			var asked atomic.Int32 // it may work again, the last time
			s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
				return asked.Add(1) < int32(c.attempts) && c.hook(w, r)
			})
			mustRead(t, f, ten, 70_000)
		})
	}
}

// TestWrongHead answers the request that opens a file.
func TestWrongHead(t *testing.T) {
	s, long, _ := site(t)
	d := openDir(t, s.URL, patient)
	for name, c := range map[string]struct {
		hook hook
		want error
	}{
		"no range":                  {answer("", long[:65536]), ErrAnswer},
		"from later":                {answer("bytes 1-65536/95536", long[1:65537]), ErrAnswer},
		"less":                      {answer("bytes 0-99/95536", long[:100]), ErrAnswer},
		"no total":                  {answer("bytes 0-65535/*", long[:65536]), ErrAnswer},
		"cut short":                 {answer("bytes 0-65535/95536", long[:65535]), io.ErrUnexpectedEOF},
		"missing":                   {status(404), fs.ErrNotExist},
		"no part":                   {status(416), nil},
		"a short file is cut short": {then(with(whole(long[:999]), "Content-Length", "1000"), hangUp), io.ErrUnexpectedEOF},
	} {
		s.Hook(c.hook)
		f, err := d.OpenFile(t.Context(), "long")
		should.Not(t, f != nil || attempts(err) == 0 || c.want != nil && !errors.Is(err, c.want) || errors.Is(err, corrupt.ErrCorrupt),
			"%s: %v, want %v", name, err, c.want)
	}
	s.Hook(with(status(416), "Content-Range", "bytes */0"))
	should.Equal(t, openFile(t, d, "empty").Size(), 0, "bytes of an empty file")
}

// TestSlowServer never completes an answer: each call ends in time, or with its context though requests have an hour.
func TestSlowServer(t *testing.T) {
	s, long, _ := site(t)
	d := openDir(t, s.URL, Options{Timeout: time.Hour})
	f := openFile(t, d, "long")
	head, begun := with(answer("bytes 0-65535/95536", long[:100]), "Content-Length", "65536"), with(whole(long[:100]), "Content-Length", "65536")
	for name, hooks := range map[string][2]hook{"mute": {mute, mute}, "half": {then(head, mute), then(begun, mute)}} {
		s.Hook(hooks[0])
		err := openErr(openDir(t, s.URL, hasty), "long")
		should.Be(t, err, ErrTimeout, "%s", name)
		should.Equal(t, err.Error(), "bytes 0-65535: after 3 attempts: no complete answer in time (50ms)")
		s.Hook(hooks[1])
		_, err = openDir(t, s.URL, hasty).Manifest(t.Context())
		should.Not(t, !errors.Is(err, ErrTimeout) || errors.Is(err, corrupt.ErrCorrupt), "%s: manifest: %v", name, err)
	}
	s.Hook(mute)
	for name, call := range map[string]func(context.Context) error{
		"manifest": func(ctx context.Context) error { return must.Err(d.Manifest(ctx)) },
		"layer":    func(ctx context.Context) error { return must.Err(d.Layer(ctx, "long")) },
		"file":     func(ctx context.Context) error { return must.Err(d.OpenFile(ctx, "long")) },
		"read":     func(ctx context.Context) error { return must.Err(f.ReadAt(ctx, make([]byte, 10), 70_000)) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := call(ctx)
		should.Not(t, !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, corrupt.ErrCorrupt), "%s: %v", name, err)
		cancel()
	}
	s.Hook(nil)
	mustRead(t, f, long[70_000:70_010], 70_000)
}

// TestReplaced replaces a file that is open by another of the same length.
func TestReplaced(t *testing.T) {
	s, long, dir := site(t)
	replace := func(data []byte, when time.Time) {
		path := filepath.Join(dir, "long")
		must.Write(t, path, data)
		must.OK(t, os.Chtimes(path, when, when))
	}
	other := slices.Clone(long)
	slices.Reverse(other)
	for name, c := range map[string]struct {
		before, after string // tags
		data          []byte
		when          time.Time
	}{
		"date":           {"", "", other, date.Add(time.Second)},
		"length":         {"", "", other[:fileSize-1], date},
		"strong ETag":    {`"a"`, `"b"`, other, date},
		"ETag is gone":   {`"a"`, "", other, date},
		"ETag is new":    {"", `"a"`, other, date},
		"weak ETag":      {`W/"a"`, `W/"b"`, other, date},
		"If-Range fails": {`"a"`, `"b"`, other, date.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			replace(long, date)
			s.Hook(with(pass, "ETag", c.before))
			f := openFile(t, openDir(t, s.URL, patient), "long")
			mustRead(t, f, long[70_000:70_010], 70_000)
			replace(c.data, c.when)
			s.Hook(with(pass, "ETag", c.after))
			err := tenErr(f)
			should.Not(t, !errors.Is(err, ErrChanged) || errors.Is(err, corrupt.ErrCorrupt), "not noticed: %v", err)
		})
	}
}

// TestNoDate has a server stop telling when a file was modified, and never tell it: files in parts that nobody would notice are of
// another file are refused.
func TestNoDate(t *testing.T) {
	s, long, dir := site(t)
	d := openDir(t, s.URL, patient)
	for tag, want := range map[string]error{`"a"`: nil, "": ErrChanged} {
		s.Hook(with(pass, "ETag", tag))
		f := openFile(t, d, "long")
		s.Hook(with(part("bytes 70000-70009/95536", long[70_000:70_010]), "ETag", tag))
		should.Be(t, tenErr(f), want, "ETag %s", tag)
	}
	s.Hook(nil)
	never := time.Unix(0, 0) // which package http does not send
	for _, name := range []string{"long", "short"} {
		must.OK(t, os.Chtimes(filepath.Join(dir, name), never, never))
	}
	err := openErr(d, "long")
	should.Hold(t, errors.Is(err, ErrNoValidator) && attempts(err) == 1, "%v", err)
	mustRead(t, openFile(t, d, "short"), long[:1000], 0)
}

// TestRedirects: also whom a server says it is, and one that is gone.
func TestRedirects(t *testing.T) {
	s, long, dir := site(t)
	secure := remotetest.Serve(t, dir, true)
	secure.Config.ErrorLog = s.Config.ErrorLog
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		if path, ok := strings.CutPrefix(r.URL.Path, "/moved/"); ok {
			http.Redirect(w, r, "/"+path, http.StatusFound)
			return true
		}
		return false
	})
	mustRead(t, openFile(t, openDir(t, s.URL+"/moved", patient), "long"), long[70_000:70_010], 70_000)

	s.Hook(redirect(""))
	s.Take()
	should.Says(t, openErr(openDir(t, s.URL, patient), "long"), ErrRedirect, "redirected more than 5 times")
	should.Equal(t, len(s.Take()), 6, "requests")

	secure.Hook(redirect(s.URL + "/again"))
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		should.Not(t, strings.HasPrefix(r.URL.Path, "/again"), "asked without TLS")
		return redirect(secure.URL)(w, r)
	})
	for _, first := range []string{s.URL, secure.URL} {
		err := openErr(openDir(t, first, trusting(secure)), "long")
		should.Says(t, err, ErrRedirect, "from https to http")
		should.Equal(t, attempts(err), 1, "%s: attempts", first)
	}

	secure.Hook(nil)
	mustRead(t, openFile(t, openDir(t, secure.URL, trusting(secure)), "long"), long[70_000:70_010], 70_000)
	err := openErr(openDir(t, secure.URL, patient), "long")
	must.As[*tls.CertificateVerificationError](t, err, "an unknown authority")
	should.Equal(t, attempts(err), 1)
	err = openErr(openDir(t, strings.Replace(s.URL, "http:", "https:", 1), patient), "long")
	should.Hold(t, errors.Is(err, http.ErrSchemeMismatch) && attempts(err) == 1, "no TLS there: %v", err)
	s.Close()
	err = must.Err(openDir(t, s.URL, patient).Manifest(t.Context()))
	should.Hold(t, attempts(err) == 3 && strings.HasPrefix(err.Error(), s.URL+"/manifest.json: after 3 attempts: "), "nobody there: %v", err)
}

// trusting accepts the certificate of s.
func trusting(s *remotetest.Server) Options {
	o := patient
	o.Transport = s.Client().Transport
	return o
}

// attempts returns how often was tried what failed, 0 if it is no *Error.
func attempts(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Attempts
	}
	return 0
}

// TestCancel ends requests that are under way, and those that wait for the next attempt.
func TestCancel(t *testing.T) {
	for name, o := range map[string]Options{
		"request": patient,
		"pause":   {Pause: time.Hour, Attempts: 2},
	} {
		for _, how := range []string{"context", "file", "dir"} {
			t.Run(name+" "+how, func(t *testing.T) { cancel(t, o, name == "request", how) })
		}
	}
}

func cancel(t *testing.T, o Options, mute bool, how string) {
	s, long, _ := site(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := must.Get(Open(s.URL, o))(t)
	defer d.Close()
	f := openFile(t, d, "long")
	asked := make(chan struct{}, 1)
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		asked <- struct{}{}
		if mute {
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	done := make(chan error)
	go func() { done <- must.Err(f.ReadAt(ctx, make([]byte, 10), 70_000)) }()
	<-asked
	want := os.ErrClosed
	switch how {
	case "context":
		want = context.Canceled
		stop()
	case "file":
		must.OK(t, f.Close())
		should.Be(t, f.Close(), os.ErrClosed, "second Close")
	case "dir":
		d.Close()
	}
	should.Be(t, <-done, want)
	s.Hook(nil)
	if how == "context" { // which was for one call
		mustRead(t, f, long[70_000:70_010], 70_000)
		want = nil
	}
	for _, off := range []int64{0, 70_000} {
		should.Be(t, must.Err(f.ReadAt(t.Context(), make([]byte, 10), off)), want, "afterwards")
	}
	if how == "file" {
		want = nil
	}
	should.Be(t, openErr(d, "short"), want, "another file")
}

// TestEndedOwner: what is asked for a Dir, or a file, that is closed already has ended before it begins.
func TestEndedOwner(t *testing.T) {
	owner, end := context.WithCancel(t.Context())
	end()
	for range 100 {
		both, done := either(t.Context(), owner)
		should.Be(t, both.Err(), context.Canceled)
		done()
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLostConnection: a request that fails as another one was canceled, on a connection that both were given, is made again at once.
func TestLostConnection(t *testing.T) {
	s, long, _ := site(t)
	asked := 0
	o := Options{Pause: time.Hour, Attempts: 2, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if asked++; asked%2 == 1 {
			return nil, context.Canceled
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	mustRead(t, openFile(t, openDir(t, s.URL, o), "long"), long[70_000:70_010], 70_000)
	should.Equal(t, asked, 4, "requests for the head and for ten bytes")
}

// TestShared asks once for what several goroutines want at the same time.
func TestShared(t *testing.T) {
	const readers = 8
	s, long, _ := site(t)
	f := openFile(t, openDir(t, s.URL, patient), "long")
	s.Take()
	var started atomic.Int32
	s.Hook(func(http.ResponseWriter, *http.Request) bool {
		for started.Load() < readers {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond) // the last one is about to join
		return false
	})
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			started.Add(1)
			mustRead(t, f, long[70_000:70_100], 70_000)
		})
	}
	group.Wait()
	should.Equal(t, len(s.Take()), 1, "requests")
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://host":               "https://host/manifest.json",
		"https://host/a/b":           "https://host/a/b/manifest.json",
		"http://host:80/a%20b/":      "http://host:80/a%20b/manifest.json",
		"http://me:secret@[::1]:8/x": "http://me:xxxxx@[::1]:8/x/manifest.json",
	} {
		should.Equal(t, openDir(t, address, Options{}).Address("manifest.json"), want, "%s", address)
	}
	for _, address := range []string{
		"", "host", "/data/awari", "host:8080/x", "ftp://host/x", "file:///x", "https://", "https:///x", "http://:80/",
		"http://host/?x=1", "http://host/?", "http://host/#x", "http://me:secret@host/%zz", "http://me:secret@host:port/", "http://ho st/",
	} {
		_, err := Open(address, Options{})
		should.Not(t, !errors.Is(err, ErrAddress) || strings.Contains(err.Error(), "secret"), "%q: %v", address, err)
	}
	for _, o := range []Options{{Timeout: -1}, {Attempts: -1}, {Pause: -1}} {
		for _, want := range []error{ErrOptions, fault.Usage} {
			should.Be(t, must.Err(Open("https://host/", o)), want, "%+v", o)
		}
	}
}

func TestManifest(t *testing.T) {
	s, _, dir := site(t)
	d := openDir(t, s.URL, patient)
	_, err := d.Manifest(t.Context())
	should.Not(t, !errors.Is(err, rundir.ErrMissing) || errors.Is(err, corrupt.ErrCorrupt), "no manifest: %v", err)
	id := manifest.Identity{Game: "awari", Rules: "awari", Pits: 12}
	path := filepath.Join(dir, rundir.ManifestName)
	text := must.Get((&manifest.Manifest{Identity: id}).Encode())(t)
	must.Write(t, path, text)
	should.Equal(t, must.Get(d.Manifest(t.Context()))(t).Identity, id)
	text[40]++
	must.Write(t, path, text)
	should.Says(t, must.Err(d.Manifest(t.Context())), corrupt.ErrCorrupt, s.URL+"/manifest.json: ")
	s.Hook(with(whole([]byte("{}")), "Content-Encoding", "gzip")) // which nobody asked for
	should.Be(t, must.Err(d.Manifest(t.Context())), ErrAnswer, "compressed")

	// The password of the address is sent, and shown to nobody.
	var sent atomic.Value
	s.Hook(func(w http.ResponseWriter, r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		sent.Store(user + ":" + password)
		return status(403)(w, r)
	})
	err = must.Err(openDir(t, strings.Replace(s.URL, "http://", "http://me:secret@", 1), patient).Manifest(t.Context()))
	should.Equal(t, sent.Load(), any("me:secret"), "sent")
	should.Not(t, !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "secret"), "%v", err)
}

// TestHugeManifest must not fill memory, whether the server says how long the file is or not.
func TestHugeManifest(t *testing.T) {
	s, _, _ := site(t)
	d := openDir(t, s.URL, patient)
	endless := func(w http.ResponseWriter, r *http.Request) bool {
		for piece := whole(make([]byte, 1<<16)); piece(w, r); {
		}
		return true
	}
	for most, hook := range map[int64]hook{
		1 << 20:                    with(then(whole(nil), mute), "Content-Length", "10000000000"),
		manifest.MaxBytes + 32<<20: endless,
	} {
		s.Take()
		s.Hook(hook)
		should.Says(t, must.Err(d.Manifest(t.Context())), ErrTooLong, fmt.Sprint(manifest.MaxBytes))
		got := s.Take()
		should.Hold(t, len(got) == 1 && got[0].Bytes <= most, "%+v, not more than %d bytes", got, most)
	}
}

// TestFields: what header fields say, and what they do not.
func TestFields(t *testing.T) {
	for s, want := range map[string]contentRange{
		"bytes 0-0/1": {0, 0, 1}, "bytes 10-19/100": {10, 19, 100}, "Bytes 10-99/100": {10, 99, 100},
		"bytes */0": {0, -1, 0}, "bytes */100": {0, -1, 100}, "bytes 0-0/" + maxed: {0, 0, 1<<63 - 1},
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
	for tag, want := range map[string]bool{
		`"a"`: true, `""`: true, `"a,b"`: true, `W/"a"`: false, "a": false, `"a`: false, `"`: false, "": false, `"a", "b"`: false, `"a" `: false,
		`"a b"`: false, "\"\x7f\"": false,
	} {
		should.Equal(t, isStrong(tag), want, "%s is strong", tag)
	}
	type pair [2]string
	for tags, want := range map[pair]bool{
		{`"a"`, `"a"`}: true, {`W/"a"`, `W/"a"`}: true, {`W/"a"`, `"a"`}: true, {"a", "a"}: true, {"", ""}: true,
		{`"a"`, `W/"a"`}: false, {`"a"`, `"b"`}: false, {`W/"a"`, `W/"b"`}: false, {`"a"`, ""}: false, {"", `"a"`}: false, {"W/a", "a"}: false,
		{`"a"`, `"a", "b"`}: false,
	} {
		should.Equal(t, isSame(tags[0], tags[1]), want, "%s and %s", tags[0], tags[1])
	}
	const old = "Sat, 03 Feb 2001 04:05:06 GMT"
	for dates, want := range map[pair]bool{
		{old, "Sat, 03 Feb 2001 04:06:06 GMT"}: true, {old, "Sat, 03 Feb 2001 04:06:05 GMT"}: false, {old, old}: false,
		{old, "Fri, 31 Dec 1999 23:59:59 GMT"}: false, {old, ""}: false, {"", old}: false, {"", ""}: false, {"soon", old}: false,
	} {
		should.Equal(t, isStrongDate(dates[0], dates[1]), want, "modified %q, sent %q", dates[0], dates[1])
	}
}

const maxed = "9223372036854775807"

// FuzzFields: no range is accepted that is not inside a file, no pause that is too long, and a tag that is sent back is one quoted text.
func FuzzFields(f *testing.F) {
	for _, s := range []string{"bytes 0-9/100", "bytes */100", "bytes 5-4/10", "bytes 0-1/" + maxed + "0", "17", `"a"`, `W/"a", "b"`} {
		f.Add(s, "")
	}
	f.Add("Sat, 03 Feb 2001 04:05:36 GMT", "Sat, 03 Feb 2001 04:05:06 GMT")
	f.Fuzz(func(t *testing.T, s, date string) {
		if c, ok := parseContentRange(s); ok {
			again, ok := parseContentRange(strings.ToLower(fmt.Sprintf("bytes %d-%d/%d", c.first, c.last, c.total)))
			must.Not(t, c.last >= 0 && (!ok || again != c), "%q: %v, %v", s, c, again)
			must.Not(t, c.first < 0 || c.last < c.first-1 || c.last >= max(c.total, 0) && c.last >= 0, "%q: %v", s, c)
		}
		after := parseRetryAfter(http.Header{"Retry-After": {s}, "Date": {date}}, time.Now())
		should.Not(t, after < 0 || after > maxAfter, "Retry-After %q, Date %q: %v", s, date, after)
		for i := range len(s) {
			must.Not(t, isStrong(s) && ((s[i] == '"') != (i == 0 || i == len(s)-1) || s[i] <= ' '), "%q", s)
		}
	})
}

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
			should.Not(t, time.Since(asked) < time.Second, "asked again after %v", time.Since(asked))
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
