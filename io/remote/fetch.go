package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// request is a question for bytes of a file.
type request struct {
	file        string
	first, last int64  // last is -1 for all
	ifRange     string // strong validator: if the file has another one, the answer is all of it
}

// do asks until accept takes an answer, retrying is pointless, or caller or owner end. The body of an
// answer must be read by accept.
func (d *Dir) do(caller, owner context.Context, q request, accept func(*http.Response) error) error {
	ctx, done := either(caller, owner)
	defer done()
	patience := maxPause
	for attempt := 1; ; attempt++ {
		err := d.try(ctx, q, accept)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil && mayPass(err) && attempt < d.options.Attempts && wanted(err) <= patience {
			wait := min(d.pause(attempt, err), patience)
			patience -= wait
			sleep(ctx, wait)
			continue
		}
		if ctx.Err() != nil { // whatever it looks like, that is why
			err = ended(caller, owner)
		}
		return &Error{First: q.first, Last: q.last, Attempts: attempt, Err: err}
	}
}

// try asks once.
func (d *Dir) try(ctx context.Context, q request, accept func(*http.Response) error) error {
	late := fmt.Errorf("%w (%v)", ErrTimeout, d.options.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, d.options.Timeout, late)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base.JoinPath(q.file).String(), nil)
	if err != nil {
		return bare(err)
	}
	r.Header.Set("User-Agent", "grenier")
	r.Header.Set("Accept-Encoding", "identity")
	if q.last >= 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", q.first, q.last))
	}
	if q.ifRange != "" {
		r.Header.Set("If-Range", q.ifRange)
	}
	answer, err := d.client.Do(r)
	if err == nil {
		err = accept(answer)
		answer.Body.Close() // nothing is lost: what was wanted has been read
	} else {
		err = fmt.Errorf("no answer: %w", bare(err))
	}
	if err != nil && errors.Is(context.Cause(ctx), ErrTimeout) && mayPass(err) {
		return late
	}
	return err
}

// pause returns how long to wait after an attempt: longer each time, not as long
// as everybody else, and at least as long as the server wants.
func (d *Dir) pause(attempt int, err error) time.Duration {
	if errors.Is(err, context.Canceled) {
		return 0 // another request has ended, and its connection, which this one was given already
	}
	wait := d.options.Pause << min(attempt-1, 16)
	wait += rand.N(wait/2 + 1)
	return max(wait, wanted(err))
}

// wanted returns the pause that a server asked for when it answered with err.
func wanted(err error) time.Duration {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.After
	}
	return 0
}

// sleep waits, but not longer than ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// readAll returns the contents of a file of at most limit bytes.
func (d *Dir) readAll(ctx context.Context, file string, limit int64) (data []byte, err error) {
	err = d.do(ctx, d.open, request{file: file, last: -1}, func(r *http.Response) error {
		switch {
		case r.StatusCode != http.StatusOK:
			return newStatusError(r)
		case r.ContentLength > limit:
			return fmt.Errorf("%w: %d bytes, expected at most %d", ErrTooLong, r.ContentLength, limit)
		}
		if err := checkEncoding(r); err != nil {
			return err
		}
		data, err = io.ReadAll(io.LimitReader(r.Body, limit+1))
		if err != nil {
			return cutShort(len(data), err)
		}
		if int64(len(data)) > limit {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// checkEncoding refuses bytes that are not the bytes of the file.
func checkEncoding(r *http.Response) error {
	for _, e := range r.Header.Values("Content-Encoding") {
		if e != "" && !strings.EqualFold(e, "identity") {
			return fmt.Errorf("%w: the bytes are encoded (%.40q), though that was excluded", ErrAnswer, e)
		}
	}
	if r.Uncompressed { // by a transport of the caller
		return fmt.Errorf("%w: the bytes were encoded, though that was excluded", ErrAnswer)
	}
	return nil
}

// cutShort says how far an answer came.
func cutShort(n int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the answer ends after %d bytes: %w", n, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("after %d bytes: %w", n, err)
}
