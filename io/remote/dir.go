package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
)

// What Options stand for unless they say otherwise.
const (
	DefaultTimeout  = 20 * time.Second
	DefaultAttempts = 3
	DefaultPause    = 250 * time.Millisecond
)

const (
	maxRedirects = 5
	maxPause     = 20 * time.Second // all pauses of a request together
	connections  = 16               // to a server at the same time
)

// Options say how a server is asked.
type Options struct {
	// Timeout is the time for an answer, from the beginning of the request to the
	// last byte; 0 stands for DefaultTimeout.
	Timeout time.Duration
	// Attempts is how often a request is tried; 0 stands for DefaultAttempts.
	Attempts int
	// Pause is the time before the second attempt, and doubles with each that
	// follows; 0 stands for DefaultPause. A server may ask for longer ones. The
	// pauses of a request add up to 20 s at most; a server that wants more is not
	// asked again.
	Pause time.Duration
	// Transport carries the requests; nil stands for one that follows the proxy
	// variables of the environment.
	Transport http.RoundTripper
}

// Dir is a run directory on a web server. It is safe for concurrent use.
type Dir struct {
	base    *url.URL
	client  *http.Client
	options Options
	open    context.Context // ends with Close
	close   context.CancelCauseFunc
}

// ErrOptions reports Options that make no sense.
var ErrOptions = fault.New(fault.Usage, "bad options of requests")

// Open returns the directory at an address like "https://host/tables/". It asks
// nothing yet. It fails with ErrAddress or ErrOptions.
func Open(address string, o Options) (*Dir, error) {
	base, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	if o.Timeout < 0 || o.Attempts < 0 || o.Pause < 0 {
		return nil, fmt.Errorf("%w: a timeout of %v, %d attempts, a pause of %v: none may be below 0", ErrOptions, o.Timeout, o.Attempts, o.Pause)
	}
	d := &Dir{base: base, options: o.orDefaults()}
	d.client = &http.Client{Transport: d.options.Transport, CheckRedirect: checkRedirect}
	d.open, d.close = context.WithCancelCause(context.Background())
	return d, nil
}

// either returns a context with the values of ctx, which ends when ctx or owner does. The caller calls done.
func either(ctx, owner context.Context) (both context.Context, done func()) {
	both, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(owner, cancel)
	if owner.Err() != nil {
		cancel() // now: AfterFunc does it from another goroutine, which may come late
	}
	return both, func() { stop(); cancel() }
}

// ended returns why the context that either returned has ended.
func ended(ctx, owner context.Context) error {
	if owner.Err() != nil {
		return context.Cause(owner)
	}
	return ctx.Err()
}

// parseAddress returns the address of a directory, a slash at its end.
func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrAddress, bare(err)) // without the address, which may have a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%w %q: expected one like https://host/directory/", ErrAddress, u.Redacted())
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("%w %q: a directory has no ? and no #", ErrAddress, u.Redacted())
	}
	if !strings.HasSuffix(u.Path, "/") {
		u = u.JoinPath("/")
	}
	return u, nil
}

func (o Options) orDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Attempts == 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Pause == 0 {
		o.Pause = DefaultPause
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	return o
}

// newTransport returns a transport whose connections belong to one Dir.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxConnsPerHost:        connections,
		MaxIdleConnsPerHost:    connections,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// checkRedirect bounds how a server may send us elsewhere.
func checkRedirect(r *http.Request, via []*http.Request) error {
	from, to := via[len(via)-1].URL.Scheme, r.URL.Scheme
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("%w more than %d times", ErrRedirect, maxRedirects)
	case from == "https" && to != "https", to != "http" && to != "https":
		return fmt.Errorf("%w from %s to %.20s", ErrRedirect, from, to)
	}
	return nil
}

// Address returns the address of the directory, or of a file in it, as messages
// show it.
func (d *Dir) Address(file string) string { return d.base.JoinPath(file).Redacted() }

// Manifest reads the manifest. It fails with rundir.ErrMissing when there is none,
// with an *Error, or with an error that matches corrupt.ErrCorrupt.
func (d *Dir) Manifest(ctx context.Context) (*manifest.Manifest, error) {
	address := d.Address(rundir.ManifestName)
	data, err := d.readAll(ctx, rundir.ManifestName, manifest.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w: %w", address, rundir.ErrMissing, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return manifest.Parse(address, data)
}

// Layer opens the layer file of that name, which is to be closed before d. It fails
// like OpenFile, layerfile.OpenReader and layerfile.OpenUnsure.
func (d *Dir) Layer(ctx context.Context, name string) (*layerfile.File, error) {
	f, err := d.OpenFile(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Address(name), err)
	}
	if f.sure {
		return layerfile.OpenReader(ctx, d.Address(name), f)
	}
	return layerfile.OpenUnsure(ctx, d.Address(name), f)
}

// Close ends all requests and closes all connections. Files fail with os.ErrClosed
// afterwards.
func (d *Dir) Close() {
	d.close(os.ErrClosed)
	d.client.CloseIdleConnections()
}
