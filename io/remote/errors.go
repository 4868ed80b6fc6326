package remote

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
)

var (
	// ErrAddress reports an address that no directory can have.
	ErrAddress = errors.New("bad address")
	// ErrNoRanges says that a server sends whole files only.
	ErrNoRanges = errors.New("the server does not support range requests")
	// ErrNoValidator says that a server sends neither ETag nor Last-Modified, so that
	// a replaced file would go unnoticed.
	ErrNoValidator = errors.New("the server sends neither ETag nor Last-Modified")
	// ErrChanged says that a file was replaced since it was opened.
	ErrChanged = errors.New("the file was replaced on the server since it was opened")
	// ErrAnswer reports an answer to another question, or none that makes sense.
	ErrAnswer = errors.New("unusable answer of the server")
	// ErrTooLong reports a file that is longer than it may be.
	ErrTooLong = errors.New("file too long")
	// ErrRedirect reports redirections that are too many or not safe.
	ErrRedirect = errors.New("redirected")
	// ErrTimeout says that an answer was not complete in time.
	ErrTimeout = errors.New("no complete answer in time")
)

// Error is a request that failed for good. The address of the file is not part of its
// text: the caller adds it.
type Error struct {
	First, Last int64 // the bytes asked for; Last is -1 for all
	Attempts    int   // how often it was tried
	Err         error // of the last attempt
}

// Error returns "bytes 10-19: after 3 attempts: cause". A cause may quote the answer of
// a server; control characters in it are escaped, and it is cut off when long.
func (e *Error) Error() string {
	text := printable(e.Err.Error())
	if e.Attempts > 1 {
		text = fmt.Sprintf("after %d attempts: %s", e.Attempts, text)
	}
	if e.Last >= 0 {
		text = fmt.Sprintf("bytes %d-%d: %s", e.First, e.Last, text)
	}
	return text
}

// maxText bounds the text of a cause in bytes.
const maxText = 500

// printable returns text that moves no cursor and does not change colours.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() > maxText {
			return b.String() + "..."
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// StatusError is an answer with a status that means failure. It matches
// fs.ErrNotExist when the file is not there, and fs.ErrPermission when the server
// refuses to hand it out.
type StatusError struct {
	Code int // of HTTP
	// After is how long the server wants to be left alone, a day at most; 0 if it does
	// not say.
	After time.Duration
}

func newStatusError(r *http.Response) *StatusError {
	return &StatusError{Code: r.StatusCode, After: parseRetryAfter(r.Header, time.Now())}
}

// Error returns the status in our own words, not the server's.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answers: %d %s", e.Code, cmp.Or(http.StatusText(e.Code), "(unknown status)"))
	if e.After > 0 {
		text += fmt.Sprintf("; it wants to be left alone for %v", e.After.Round(time.Second))
	}
	return text
}

// Is makes some statuses match errors of package fs.
func (e *StatusError) Is(target error) bool {
	switch e.Code {
	case http.StatusNotFound, http.StatusGone:
		return target == fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == fs.ErrPermission
	}
	return false
}

// passing reports whether the status is a temporary one.
func (e *StatusError) passing() bool {
	switch e.Code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// final are the errors that another attempt does not change.
var final = []error{
	ErrNoRanges, ErrNoValidator, ErrChanged, ErrAnswer, ErrTooLong, ErrRedirect,
	os.ErrClosed, http.ErrSchemeMismatch,
}

// mayPass reports whether it makes sense to try again after err.
func mayPass(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.passing()
	}
	for _, target := range final {
		if errors.Is(err, target) {
			return false
		}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return false
	}
	return !isType[*tls.CertificateVerificationError](err) && !isType[tls.RecordHeaderError](err)
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// bare returns err without the address that package http adds.
func bare(err error) error {
	if named, ok := errors.AsType[*url.Error](err); ok {
		return named.Err
	}
	return err
}
