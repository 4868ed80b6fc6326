package pagecache

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	maxDirty = 16 << 20  // bytes that Wrote leaves to be written in the background
	batch    = 256 << 10 // bytes that are worth a system call
	maxRead  = 8 << 20   // bytes that Read leaves in memory
)

// Bound bounds the pages of one file in the page cache. The zero Bound is of no file,
// and does nothing. Its methods are safe for concurrent use, but for Open.
//
// It only gives advice and drops its own errors; an error of the disk is reported by
// Sync of the file. It therefore has a descriptor of its own, since Linux reports an
// error to each descriptor once.
type Bound struct {
	advised *os.File // nil: of no file
	mu      sync.Mutex
	queue   []span // written, oldest first; their pages may be in memory
	growing bool   // the last of the queue is short, and not being written out yet
	bytes   int64  // in the queue
	clean   int64  // bytes read since pages were dropped
	coming  []span // announced, oldest first; their pages may be in memory
	ahead   int64  // bytes of these
}

// Open says that c is of the file f, of none if that is nil. From now on reading f
// reads the bytes asked for and nothing beyond.
func (c *Bound) Open(f *os.File) {
	if f == nil {
		return
	}
	advise(f, span{}, unix.FADV_RANDOM)
	// Another file may have the name by now; this is the one that is open. Without
	// a second descriptor the pages are not bounded, but all else works.
	control(f, func(fd int) {
		if again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			c.advised = again
		}
	})
}

// Wrote is to be called when length bytes at offset were written. It makes the kernel
// write them to disk, and waits until all bytes written before, but the last maxDirty,
// are there; their pages are dropped. Short pieces that follow each other are taken
// together.
func (c *Bound) Wrote(offset, length int64) {
	if c.advised == nil {
		return
	}
	fresh, old := c.push(span{offset, length})
	for _, s := range fresh {
		syncRange(c.advised, s, unix.SYNC_FILE_RANGE_WRITE)
	}
	for _, s := range old {
		syncRange(c.advised, s,
			unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
		advise(c.advised, pages(s), unix.FADV_DONTNEED)
	}
}

// push appends s to the queue. It returns the spans to be written out now, and the
// spans that it takes from the queue because it is too long.
func (c *Bound) push(s span) (fresh, old []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.queue) - 1
	switch {
	case c.growing && c.queue[last].end() == s.offset:
		c.queue[last].length += s.length
	case c.growing:
		fresh = append(fresh, c.queue[last])
		fallthrough
	default:
		c.queue = append(c.queue, s)
		last++
	}
	c.growing = c.queue[last].length < batch
	if !c.growing {
		fresh = append(fresh, c.queue[last])
	}
	c.bytes += s.length
	n := 0
	for c.bytes > maxDirty {
		c.bytes -= c.queue[n].length
		n++
	}
	old, c.queue = c.queue[:n:n], c.queue[n:]
	return fresh, old
}

// Read is to be called when length bytes were read. From time to time it drops all
// pages that are not dirty: at once, since each time the kernel interrupts all processors.
func (c *Bound) Read(length int64) {
	if c.advised == nil {
		return
	}
	c.mu.Lock()
	c.clean += length
	full := c.clean > maxRead
	if full {
		c.clean = 0
	}
	c.mu.Unlock()
	if full {
		advise(c.advised, span{}, unix.FADV_DONTNEED)
	}
}

// Ahead makes the kernel read the length bytes at offset, which are needed next, without
// waiting for them. It drops the pages that were announced before the last keep bytes, all
// of which should have been read by then.
func (c *Bound) Ahead(offset, length, keep int64) {
	if c.advised == nil {
		return
	}
	for _, s := range c.announce(span{offset, length}, keep) {
		advise(c.advised, pages(s), unix.FADV_DONTNEED)
	}
	advise(c.advised, span{offset, length}, unix.FADV_WILLNEED)
}

// announce adds s to the announced spans, and returns the spans to be dropped: some
// at a time, since each time the kernel interrupts all processors.
func (c *Bound) announce(s span, keep int64) (old []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clean -= s.length // reading it does not fill the page cache
	c.coming = append(c.coming, s)
	if c.ahead += s.length; c.ahead < keep+maxRead/2 {
		return nil
	}
	n := 0
	for c.ahead > keep {
		c.ahead -= c.coming[n].length
		n++
	}
	old = join(c.coming[:n])
	c.coming = slices.Delete(c.coming, 0, n)
	return old
}

// join returns spans that follow each other as one.
func join(spans []span) (joined []span) {
	for _, s := range spans {
		if last := len(joined) - 1; last >= 0 && joined[last].end() == s.offset {
			joined[last].length += s.length
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// Drop drops all pages that are not dirty.
func (c *Bound) Drop() {
	if c.advised == nil {
		return
	}
	c.mu.Lock()
	c.clean = 0
	c.mu.Unlock()
	advise(c.advised, span{}, unix.FADV_DONTNEED)
}

// Synced is to be called after the file was synced, when few pages are dirty: all
// others go, those included that could not be dropped before.
func (c *Bound) Synced() {
	if c.advised == nil {
		return
	}
	c.mu.Lock()
	c.queue, c.growing, c.bytes, c.coming, c.ahead = nil, false, 0, nil, 0
	c.mu.Unlock()
	c.Drop()
}

// Close drops all pages that are not dirty. The file itself stays open. Close is
// called once, at the end.
func (c *Bound) Close() error {
	if c.advised == nil {
		return nil
	}
	advise(c.advised, span{}, unix.FADV_DONTNEED)
	return c.advised.Close()
}

// span is a range of bytes of the file.
type span struct{ offset, length int64 }

func (s span) end() int64 { return s.offset + s.length }

// pages widens a span to whole pages; the kernel ignores parts of pages.
func pages(s span) span {
	size := int64(os.Getpagesize())
	start := s.offset / size * size
	end := (s.end() + size - 1) / size * size
	return span{start, end - start}
}

// advise calls posix_fadvise. The empty span at 0 is the whole file.
func advise(f *os.File, s span, advice int) {
	control(f, func(fd int) { unix.Fadvise(fd, s.offset, s.length, advice) })
}

func syncRange(f *os.File, s span, flags int) {
	control(f, func(fd int) { unix.SyncFileRange(fd, s.offset, s.length, flags) })
}

// control calls do with the descriptor of f, which stays open meanwhile, unless
// f is closed.
func control(f *os.File, do func(fd int)) {
	if raw, err := f.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { do(int(fd)) })
	}
}
