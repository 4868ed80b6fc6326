package workfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"slices"
	"sync"

	"grenier/io/corrupt"
	"grenier/io/pagecache"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

// ErrCommit reports a Commit during another one.
var ErrCommit = errors.New("checkpoint refused")

// An Extent is the place of a piece of the file, and its checksum.
type Extent struct {
	Offset int64  `json:"offset"`
	Length uint32 `json:"length"`
	Sum    uint32 `json:"crc32c"` // CRC-32C of the bytes
}

// IsZero reports whether e is the zero Extent: the extent of no bytes.
func (e Extent) IsZero() bool { return e == Extent{} }

func (e Extent) span() span { return span{e.Offset, int64(e.Length)} }

// part names the extent in errors.
func (e Extent) part() string { return fmt.Sprintf("extent at %d", e.Offset) }

// check fails unless e is zero or lies in the file at path, which has size bytes.
func (e Extent) check(path string, size int64) error {
	switch {
	case e.IsZero():
		return nil
	case e.Length == 0:
		return corrupt.New(path, e.part(), "no bytes")
	case e.Offset < 0 || e.Offset > size-int64(e.Length):
		return corrupt.New(path, e.part(), "its %d bytes do not lie in the %d of the file", e.Length, size)
	}
	return nil
}

// File is an open work file. Its methods are safe for concurrent use.
type File struct {
	dir    vfs.Dir
	path   string // for messages
	handle vfs.File
	cache  pagecache.Bound

	mu         sync.Mutex // of the fields that follow
	space      *space
	size       int64          // of the file, in bytes
	dropped    []span         // since the last Commit began; not free yet
	isDropped  map[int64]bool // offsets of all that is dropped, but not free
	committing bool

	syncing sync.Mutex // one Sync at a time: only one of them gets an error
	failed  error      // of the first Sync that failed
}

// Create opens a new file in a directory; one of that name is removed. No checkpoint
// may refer to that any more: remove it first. It fails as the directory does.
func Create(d vfs.Dir, name string) (*File, error) {
	h, err := vfs.Renew(d, name)
	if err != nil {
		return nil, err
	}
	return start(d, name, h, 0, newSpace())
}

// Open opens the file of that name, in which the live extents are in use and all else
// is free. They come from the last checkpoint, which must be in the same directory.
// Open does not read them: Get does. It fails with an error that matches
// corrupt.ErrCorrupt if extents overlap or do not lie in the file.
func Open(d vfs.Dir, name string, live []Extent) (*File, error) {
	h, err := d.Edit(name)
	if err != nil {
		return nil, err
	}
	size, err := h.Size()
	var s *space
	if err == nil {
		s, err = occupied(d.Path(name), size, live)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return start(d, name, h, size, s)
}

// start returns a File after waiting for its name, and the name of the checkpoint,
// to be on disk: a process that was killed may have renamed the checkpoint that
// we know without waiting, and extents of an older one must not be
// overwritten while that one may come back.
func start(d vfs.Dir, name string, h vfs.File, size int64, s *space) (*File, error) {
	if err := d.Sync(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	f := &File{dir: d, path: d.Path(name), handle: h, size: size, space: s, isDropped: map[int64]bool{}}
	f.cache.Open(vfs.System(h))
	return f, nil
}

// occupied returns the space of a file in which the live extents are taken.
func occupied(path string, size int64, live []Extent) (*space, error) {
	sorted := slices.Clone(live)
	slices.SortFunc(sorted, func(a, b Extent) int { return cmp.Compare(a.Offset, b.Offset) })
	s := newSpace()
	s.end = size
	next := int64(0)
	for _, e := range sorted {
		if err := e.check(path, size); err != nil {
			return nil, err
		}
		switch {
		case e.IsZero():
			continue
		case e.Offset < next:
			return nil, corrupt.New(path, e.part(), "the extent before ends at %d", next)
		case e.Offset > next:
			s.add(span{next, e.Offset - next})
		}
		next = e.span().end()
	}
	if next < size {
		s.add(span{next, size - next})
	}
	return s, nil
}

// Put writes data into free space: into the shortest gap that has room, else at
// the end. The extent is durable after the next Sync or Commit. No bytes have the
// zero Extent. If data cannot be written, for instance because the disk is full
// (syscall.ENOSPC), its space is free again and the file unharmed.
func (f *File) Put(data []byte) (Extent, error) {
	extents, err := f.PutAll(data, []int{len(data)})
	if err != nil {
		return Extent{}, err
	}
	return extents[0], nil
}

// PutAll writes parts that lie one behind the other in data, lengths[i] bytes
// each, as Put does, but with one write into one gap, so that their extents lie
// one behind the other in the file too. If no gap has room for all of them, it
// may divide them into some such runs, about ten, each with a write of its own,
// rather than make the file longer. Each extent can be dropped alone. If data
// cannot be written, no part of it is there. PutAll panics if a length is negative
// or they do not add up to the length of data.
func (f *File) PutAll(data []byte, lengths []int) ([]Extent, error) {
	extents := make([]Extent, len(lengths))
	rest := data
	for i, n := range lengths {
		if n < 0 || n > len(rest) {
			panic(fmt.Sprintf("workfile: %s: a part of %d bytes in %d", f.path, n, len(rest)))
		}
		if int64(n) > math.MaxUint32 {
			return nil, fmt.Errorf("writing %s: %d bytes are too many for an extent", f.path, n)
		}
		extents[i] = Extent{Length: uint32(n), Sum: crc32c.Of(rest[:n])}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		panic(fmt.Sprintf("workfile: %s: %d bytes behind the last part", f.path, len(rest)))
	}
	f.mu.Lock()
	f.space.place(extents)
	f.mu.Unlock()
	for s := range runs(extents, 0) {
		if _, err := f.handle.WriteAt(data[:s.length], s.offset); err != nil {
			f.giveBack(extents)
			return nil, named("writing", f.path, err)
		}
		f.mu.Lock()
		f.size = max(f.size, s.end())
		f.mu.Unlock()
		f.cache.Wrote(s.offset, s.length)
		data = data[s.length:]
	}
	return extents, nil
}

// MaxGap is the most bytes between two extents that are read, rather than skipped by
// beginning another read: about as many as the disk reads in the time that a read takes to begin.
const MaxGap = 32 << 10

// runs divides extents where one does not begin at the end of the one before, or within
// gap bytes behind it, and yields where each run is and its extents. Zero extents may
// be anywhere.
func runs(extents []Extent, gap int64) iter.Seq2[span, []Extent] {
	return func(yield func(span, []Extent) bool) {
		var run span
		first := 0
		for i, e := range extents {
			switch {
			case e.IsZero():
			case run.length == 0:
				run = e.span()
			case run.end() <= e.Offset && e.Offset <= run.end()+gap:
				run.length = e.span().end() - run.offset
			case !yield(run, extents[first:i]):
				return
			default:
				run, first = e.span(), i
			}
		}
		if run.length > 0 {
			yield(run, extents[first:])
		}
	}
}

// giveBack frees extents that could not be written. Some may have been; if nothing
// follows, the file is cut there, for a checkpoint needs room on the disk too.
func (f *File) giveBack(extents []Extent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range runs(extents, 0) {
		f.space.give(s)
	}
	f.space.trim()
	size, err := f.handle.Size()
	if err == nil && size > f.space.end {
		err = f.handle.Truncate(f.space.end)
	}
	if err == nil {
		f.size = min(f.size, f.space.end)
	}
}

// Get returns the bytes of an extent, in the memory of dst if that has room. A
// checksum that differs, and a file that is too short, are a *corrupt.Error with
// the offset in its Part.
func (f *File) Get(e Extent, dst []byte) ([]byte, error) {
	return f.GetAll([]Extent{e}, dst)
}

// GetAll returns the bytes of extents, one behind the other, as Get does, but with
// one read for all that lie in this order, and no more than MaxGap bytes apart, in the
// file: those that a PutAll wrote with one write, for instance. An error is about the
// first extent that is damaged.
func (f *File) GetAll(extents []Extent, dst []byte) ([]byte, error) {
	size := f.Size()
	for _, e := range extents {
		if err := e.check(f.path, size); err != nil {
			return nil, err
		}
	}
	dst = dst[:0]
	for s, run := range runs(extents, MaxGap) {
		from := len(dst)
		dst = slices.Grow(dst, int(s.length))[:from+int(s.length)]
		n, err := f.read(s, run, dst[from:])
		if err != nil {
			return nil, err
		}
		dst = dst[:from+n]
	}
	return dst, nil
}

// read reads s, which begins and ends with extents, to dst and moves these to its
// beginning, without the gaps between them. It returns their length.
func (f *File) read(s span, extents []Extent, dst []byte) (length int, err error) {
	n, err := f.handle.ReadAt(dst, s.offset)
	if n < len(dst) && !errors.Is(err, io.EOF) { // some return io.EOF at the end of the file
		return 0, named("reading", f.path, err)
	}
	f.cache.Read(s.length)
	for _, e := range extents {
		if e.IsZero() {
			continue
		}
		at := int(e.Offset - s.offset)
		part := dst[min(at, n):min(at+int(e.Length), n)]
		if len(part) < int(e.Length) {
			return 0, corrupt.New(f.path, e.part(), "%w after %d of %d bytes", io.ErrUnexpectedEOF, len(part), e.Length)
		}
		if sum := crc32c.Of(part); sum != e.Sum {
			return 0, corrupt.New(f.path, e.part(), "checksum %08x instead of %08x", sum, e.Sum)
		}
		length += copy(dst[length:], part)
	}
	return length, nil
}

// Drop says that an extent is no longer needed. Its space is used again only
// after the next Commit, since the last checkpoint may refer to it; until then
// Get still returns its bytes. Drop panics if the extent is not in use: dropped
// twice, for instance.
func (f *File) Drop(e Extent) {
	if e.IsZero() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Length == 0 || f.isDropped[e.Offset] || !f.space.taken(e.span()) {
		panic(fmt.Sprintf("workfile: %s: %s is dropped, but not in use", f.path, e.part()))
	}
	f.isDropped[e.Offset] = true
	f.dropped = append(f.dropped, e.span())
}

// Sync waits until all that Put has written is on disk. After a failure the
// operating system may have forgotten some of it; so all that follow, and
// Commit, fail with the same error. Open the file again from the last checkpoint
// then.
func (f *File) Sync() error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	if f.failed == nil {
		if err := f.handle.Sync(); err != nil {
			f.failed = named("writing", f.path, err)
		}
		f.cache.Synced()
	}
	return f.failed
}

// Commit makes data the checkpoint of that name, in the directory of the file: it
// waits as Sync does, replaces the checkpoint so that a crash leaves the old one or
// the new one, and then frees the extents that were dropped before the call. Data must not
// refer to these; it may refer to all other extents that Put returned before.
//
// After a failure the old checkpoint or the new one is there and nothing was freed; unless Sync failed, Commit can be tried again. There is one checkpoint
// of a file at a time: committing to another name makes the former one useless.
func (f *File) Commit(name string, data []byte) error {
	f.mu.Lock()
	if f.committing {
		f.mu.Unlock()
		return fmt.Errorf("%w: %s: another one is being written", ErrCommit, f.dir.Path(name))
	}
	f.committing = true
	leaving := f.dropped
	f.dropped = nil
	f.mu.Unlock()

	err := f.Sync()
	if err == nil {
		err = vfs.Write(f.dir, name, data)
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	f.committing = false
	if err != nil {
		f.dropped = append(f.dropped, leaving...)
		return err
	}
	for _, s := range leaving {
		delete(f.isDropped, s.offset)
		f.space.give(s)
	}
	return nil
}

// Path returns the path of something in the directory of the file, for messages.
func (f *File) Path(name string) string { return f.dir.Path(name) }

// Size returns the number of bytes of the file.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// Close closes the file. It does not wait for the disk: pieces put since the
// last Sync or Commit may be lost in a crash. It fails as the file system does.
func (f *File) Close() error {
	return errors.Join(f.cache.Close(), f.handle.Close())
}

// named says which file an error is about, unless it does so itself, as errors of
// the operating system do.
func named(doing, path string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}
