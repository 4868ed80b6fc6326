package workfile

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	maxDirty = 16 << 20  // bytes that Put leaves to be written while it goes on
	batch    = 256 << 10 // bytes for which it is worth while to ask the kernel
	maxRead  = 8 << 20   // bytes that Get leaves in memory
)

// pageCache keeps the pages of a file from filling the memory of the machine. It
// only gives advice: its errors are nobody's concern, and one of the disk is
// told by Sync. For that it has a descriptor of its own, since Linux tells an
// error to each descriptor once.
type pageCache struct {
	advised *os.File // nil: of a file system in a test, or closed
	mu      sync.Mutex
	queue   []span // written, oldest first; their pages may be in memory
	growing bool   // the last of the queue is short, and not being written out yet
	bytes   int64  // in the queue
	seen    []span // read, oldest first
	clean   int64  // bytes of seen
}

func (c *pageCache) open(path string, h Handle) {
	f, ok := h.(file)
	if !ok {
		return
	}
	// Read what is asked for and nothing beyond.
	advise(f.File, span{}, unix.FADV_RANDOM)
	// Without a second descriptor the cache is not bounded, but all else works.
	if again, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
		c.advised = again
	}
}

// wrote is called when s was written. It makes the kernel write it to disk, and
// waits until all but the last maxDirty bytes of what was written before are
// there; their pages are dropped. Short spans that follow each other are taken
// together.
func (c *pageCache) wrote(s span) {
	if c.advised == nil {
		return
	}
	fresh, old := c.push(s)
	for _, s := range fresh {
		syncRange(c.advised, s, unix.SYNC_FILE_RANGE_WRITE)
	}
	for _, s := range old {
		syncRange(c.advised, s,
			unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
		advise(c.advised, pages(s), unix.FADV_DONTNEED)
	}
}

// push appends s to the queue. It returns what is to be written out now, and what
// it takes from the queue because it is too long.
func (c *pageCache) push(s span) (fresh, old []span) {
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

// read is called when s was read. It drops the pages of what was read some time before:
// those that the kernel has just read are still on lists of single processors, and to
// drop one of them it interrupts all processors.
func (c *pageCache) read(s span) {
	if c.advised == nil {
		return
	}
	c.mu.Lock()
	c.seen = append(c.seen, s)
	c.clean += s.length
	n := 0
	for c.clean > maxRead {
		c.clean -= c.seen[n].length
		n++
	}
	var old []span
	old, c.seen = c.seen[:n:n], c.seen[n:]
	c.mu.Unlock()
	for _, s := range old {
		advise(c.advised, pages(s), unix.FADV_DONTNEED)
	}
}

// synced is called after Sync, when few pages are dirty: all others go, those
// included that could not be dropped before.
func (c *pageCache) synced() {
	if c.advised == nil {
		return
	}
	c.mu.Lock()
	c.queue, c.growing, c.bytes = nil, false, 0
	c.seen, c.clean = nil, 0
	c.mu.Unlock()
	advise(c.advised, span{}, unix.FADV_DONTNEED)
}

func (c *pageCache) close() error {
	if c.advised == nil {
		return nil
	}
	return c.advised.Close()
}

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
