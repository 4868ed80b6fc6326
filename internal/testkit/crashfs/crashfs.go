// Package crashfs is a file system in memory that crashes when a test says so. It
// shows whether a program finds the files it needs after kill -9 (Kill) and after a
// power cut (PowerCut).
//
// It promises as little as operating systems do:
//
//   - Bytes written to a file survive a power cut for certain once Sync has
//     returned. Of bytes written later, any sector of 512 bytes may hold any of
//     its former contents, whatever its neighbours and other files hold: writes
//     are lost, torn and reordered. The length is any that the file had.
//   - A name that was made, changed or removed is so for certain once SyncDir has
//     returned. Before, each of these changes is made or not, whatever becomes of
//     the others and of the contents of the file. A rename is one change.
//   - A process that is killed loses nothing that it wrote; but a power cut later
//     does.
//
// Sectors are written whole and hold the bytes written: disks that lose a sector
// while writing it, or forget data that they said were safe, are not modelled.
//
// Directories need not be made. Every directory of a path is there.
package crashfs

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"grenier/io/vfs"
)

// Sector is the number of bytes that are written whole.
const Sector = 512

// ErrCrashed is the error of everything that a program tries after its crash.
var ErrCrashed = errors.New("crashed")

// Op is an operation of a program on a file system.
type Op string

// The operations that CrashAt counts.
const (
	Create   Op = "create"
	Write    Op = "write"
	Truncate Op = "truncate"
	Sync     Op = "sync"
	Rename   Op = "rename"
	Remove   Op = "remove"
	SyncDir  Op = "syncdir"
)

// FS is a file system in memory, whose directories are vfs.Dirs.
type FS struct {
	mu      sync.Mutex
	names   map[string]*inode // as the program sees them
	disk    map[string]*inode // that it sees after a power cut, at the least
	changes []change          // of names, not on disk for certain, oldest first
	ops     int
	crashAt int
	crashed bool
	limit   int64 // bytes of all files; negative: none
	fail    func(Op, string) error
	read    func(path string) error // called by each read
	opened  int                     // handles that are not closed
}

// inode is a file, whatever its name.
type inode struct {
	data   []byte  // as the program sees them
	disk   []byte  // at the last Sync
	writes []write // since, oldest first
}

// write is a change of a file: bytes at an offset, or another length.
type write struct {
	offset int64
	data   []byte
	cut    bool  // to size
	size   int64 // of the file afterwards
}

// touches reports whether the write changes one of the bytes from start to end.
func (w write) touches(start, end int64) bool {
	if w.cut {
		return w.size < end
	}
	return w.offset < end && w.offset+int64(len(w.data)) > start
}

// change is a change of names: file gets the name to and loses the name from.
type change struct {
	from, to string // "": none
	file     *inode // that gets the name
}

func (c change) apply(names map[string]*inode) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to != "" {
		names[c.to] = c.file
	}
}

// New returns an empty file system.
func New() *FS {
	return &FS{names: map[string]*inode{}, disk: map[string]*inode{}, limit: -1}
}

// CrashAt makes the k-th operation crash, where 1 is the first one that is ever
// counted; operations that change nothing are not counted. The operation is half
// done: a write writes its first half, Sync and SyncDir make nothing durable,
// others do their work, which a power cut may undo. It and all later ones
// fail with ErrCrashed. With k = 0 nothing crashes.
func (f *FS) CrashAt(k int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashAt = k
}

// Ops returns the number of operations so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Limit sets the size of the disk: a write that would make all files together
// longer than that writes the bytes that have room and fails with syscall.ENOSPC. A negative
// number is no limit.
func (f *FS) Limit(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = bytes
}

// Fail makes each operation call fail first; if that returns an error, the
// operation fails with it and does nothing. Fail must not use the file system.
func (f *FS) Fail(fail func(op Op, path string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

// FailReads makes each read call fail first, as Fail does with operations; nil ends that.
func (f *FS) FailReads(fail func(path string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = fail
}

// reads returns the error of a read of a file.
func (f *FS) reads(path string) error {
	f.mu.Lock()
	fail := f.read
	f.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(path)
}

// Opened returns how many files are open.
func (f *FS) Opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}

// Names returns the paths of all files in order.
func (f *FS) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.names))
}

// Kill ends the program, which gets ErrCrashed from now on, and returns the file
// system as the next one finds it: all that was written is there, but is no more
// durable than it was. The counter of operations begins again; limits and
// failures are gone.
func (f *FS) Kill() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashed = true
	next := New()
	copies := map[*inode]*inode{}
	copied := func(old *inode) *inode {
		if old != nil && copies[old] == nil {
			copies[old] = &inode{slices.Clone(old.data), old.disk, slices.Clone(old.writes)}
		}
		return copies[old]
	}
	for name, file := range f.names {
		next.names[name] = copied(file)
	}
	for name, file := range f.disk {
		next.disk[name] = copied(file)
	}
	for _, c := range f.changes {
		next.changes = append(next.changes, change{c.from, c.to, copied(c.file)})
	}
	return next
}

// PowerCut ends the program as Kill does and returns the file system as the next
// one may find it when the power is back; all of it is durable then. It may be
// called several times: the losses depend on rng.
func (f *FS) PowerCut(rng *rand.Rand) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashed = true
	keep := survival(rng)
	names := maps.Clone(f.disk)
	for _, c := range f.changes {
		if keep(1) == 1 {
			c.apply(names)
		}
	}
	next := New()
	copies := map[*inode]*inode{}
	for _, name := range slices.Sorted(maps.Keys(names)) { // sorted, so that rng decides
		old := names[name]
		if copies[old] == nil {
			data := old.afterCut(keep)
			copies[old] = &inode{data: data, disk: slices.Clone(data)}
		}
		next.names[name], next.disk[name] = copies[old], copies[old]
	}
	return next
}

// survival returns a function that says how many of n changes of the same thing,
// oldest first, reached the disk: usually none, all, or any.
func survival(rng *rand.Rand) func(n int) int {
	none, all := 0.0, 0.0
	switch rng.IntN(5) {
	case 0:
		none = 1
	case 1:
		all = 1
	case 2:
		none = 0.9
	case 3:
		all = 0.9
	}
	return func(n int) int {
		switch x := rng.Float64(); {
		case x < none:
			return 0
		case x < none+all:
			return n
		}
		return rng.IntN(n + 1)
	}
}

// afterCut returns the contents of a file after a power cut.
func (file *inode) afterCut(keep func(n int) int) []byte {
	longest := len(file.disk)
	for _, w := range file.writes {
		longest = max(longest, int(w.size))
	}
	size := len(file.disk)
	if n := keep(len(file.writes)); n > 0 {
		size = int(file.writes[n-1].size)
	}
	out := make([]byte, longest)
	copy(out, file.disk)
	for start := 0; start < longest; start += Sector {
		end := min(start+Sector, longest)
		var touching []write
		for _, w := range file.writes {
			if w.touches(int64(start), int64(end)) {
				touching = append(touching, w)
			}
		}
		for _, w := range touching[:keep(len(touching))] {
			w.applyTo(out[start:end], int64(start))
		}
	}
	return out[:size]
}

// applyTo does the write to the part of a file that begins at start.
func (w write) applyTo(part []byte, start int64) {
	switch {
	case w.cut:
		clear(part[max(0, w.size-start):])
	case w.offset >= start:
		copy(part[w.offset-start:], w.data)
	default:
		copy(part, w.data[start-w.offset:])
	}
}

// begin counts an operation. It returns whether the program crashes in it, or why
// it is not done at all.
func (f *FS) begin(op Op, path string) (crash bool, err error) {
	if f.crashed {
		return false, pathError(op, path, ErrCrashed)
	}
	if f.fail != nil {
		if err := f.fail(op, path); err != nil {
			return false, pathError(op, path, err)
		}
	}
	f.ops++
	f.crashed = f.ops == f.crashAt
	return f.crashed, nil
}

func pathError(op Op, path string, err error) error {
	return &fs.PathError{Op: string(op), Path: path, Err: err}
}

// done returns ErrCrashed for the operation in which the program crashes.
func done(crash bool, op Op, path string) error {
	if crash {
		return pathError(op, path, ErrCrashed)
	}
	return nil
}

// do does an operation unless it cannot be done. Where the program crashes in it, Sync and SyncDir do nothing.
func (f *FS) do(op Op, path string, can func() error, act func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := can(); err != nil && !f.crashed {
		return err
	}
	crash, err := f.begin(op, path)
	if err != nil {
		return err
	}
	if !crash || op != Sync && op != SyncDir {
		act()
	}
	return done(crash, op, path)
}

func (f *FS) change(c change) {
	c.apply(f.names)
	f.changes = append(f.changes, c)
}

// create makes a file at path.
func (f *FS) create(path string) (vfs.File, error) {
	file := &inode{}
	none := func() error {
		if f.names[path] != nil {
			return pathError(Create, path, fs.ErrExist)
		}
		return nil
	}
	err := f.do(Create, path, none, func() { f.change(change{to: path, file: file}) })
	if errors.Is(err, ErrCrashed) {
		return &handle{fs: f, file: file, path: path, gone: true}, err
	} else if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.handle(file, path), nil
}

// handle opens a file. The file system is locked.
func (f *FS) handle(file *inode, path string) *handle {
	f.opened++
	return &handle{fs: f, file: file, path: path}
}

// open opens the file at path. It fails with fs.ErrNotExist if there is none.
func (f *FS) open(path string) (vfs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := f.look("open", path)
	if err != nil {
		return nil, err
	}
	return f.handle(file, path), nil
}

// look returns the file at path. The file system is locked.
func (f *FS) look(op Op, path string) (*inode, error) {
	switch file := f.names[path]; {
	case f.crashed:
		return nil, pathError(op, path, ErrCrashed)
	case file == nil:
		return nil, pathError(op, path, fs.ErrNotExist)
	default:
		return file, nil
	}
}

// has returns what look fails with.
func (f *FS) has(op Op, path string) func() error {
	return func() error {
		_, err := f.look(op, path)
		return err
	}
}

// rename gives the file at from the name to, replacing a file of that name. Both are
// in one directory.
func (f *FS) rename(from, to string) error {
	return f.do(Rename, from, f.has(Rename, from), func() {
		if from != to {
			f.change(change{from, to, f.names[from]})
		}
	})
}

// remove removes the name of a file. Those who have it open keep it.
func (f *FS) remove(path string) error {
	return f.do(Remove, path, f.has(Remove, path), func() { f.change(change{from: path}) })
}

// syncDir makes all changes of names in the directory durable.
func (f *FS) syncDir(path string) error {
	return f.do(SyncDir, path, func() error { return nil }, func() {
		f.changes = slices.DeleteFunc(f.changes, func(c change) bool {
			here := filepath.Dir(max(c.from, c.to)) == path
			if here {
				c.apply(f.disk)
			}
			return here
		})
	})
}

// handle is an open file.
type handle struct {
	fs     *FS
	file   *inode
	path   string
	closed bool
	gone   bool  // it no longer counts as open
	at     int64 // of the next Write
}

// usable reports whether the handle can be used at an offset, or with a length. The file system is locked.
func (h *handle) usable(op Op, at int64) error {
	switch {
	case h.fs.crashed:
		return pathError(op, h.path, ErrCrashed)
	case h.closed:
		return pathError(op, h.path, fs.ErrClosed)
	case at < 0:
		return pathError(op, h.path, errors.New("negative offset or length"))
	}
	return nil
}

// ReadAt reads as an os.File does.
func (h *handle) ReadAt(b []byte, offset int64) (int, error) {
	if err := h.fs.reads(h.path); err != nil {
		return 0, err
	}
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable("read", offset); err != nil {
		return 0, err
	}
	n := 0
	if offset < int64(len(h.file.data)) {
		n = copy(b, h.file.data[offset:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes as an os.File does.
func (h *handle) WriteAt(b []byte, offset int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.usable(Write, offset); err != nil {
		return 0, err
	}
	crash, err := h.fs.begin(Write, h.path)
	if err != nil {
		return 0, err
	}
	n := len(b)
	if crash {
		n /= 2
	}
	room := h.fs.room(h.file, offset)
	h.file.write(slices.Clone(b[:min(int64(n), room)]), offset)
	if crash {
		return n, done(crash, Write, h.path)
	}
	if int64(n) > room {
		return int(room), pathError(Write, h.path, syscall.ENOSPC)
	}
	return n, nil
}

// room returns how many bytes can be written to the file at offset.
func (f *FS) room(file *inode, offset int64) int64 {
	if f.limit < 0 {
		return 1 << 62
	}
	used := int64(0)
	for _, other := range f.names {
		used += int64(len(other.data))
	}
	return max(0, int64(len(file.data))+max(0, f.limit-used)-offset)
}

// write writes bytes, which it keeps.
func (file *inode) write(b []byte, offset int64) {
	if len(b) == 0 {
		return
	}
	if end := int(offset) + len(b); end > len(file.data) {
		file.data = slices.Grow(file.data, end-len(file.data))
		was := len(file.data)
		file.data = file.data[:end]
		clear(file.data[was:])
	}
	copy(file.data[offset:], b)
	file.writes = append(file.writes, write{offset: offset, data: b, size: int64(len(file.data))})
}

// Write writes behind the bytes written before.
func (h *handle) Write(b []byte) (int, error) {
	n, err := h.WriteAt(b, h.at)
	h.at += int64(n)
	return n, err
}

// Truncate changes the length of the file.
func (h *handle) Truncate(size int64) error {
	return h.fs.do(Truncate, h.path, func() error { return h.usable(Truncate, size) }, func() { h.file.truncate(size) })
}

func (file *inode) truncate(size int64) {
	was := int64(len(file.data))
	if size == was {
		return
	}
	file.data = slices.Clone(file.data[:min(size, was)])
	file.data = append(file.data, make([]byte, max(0, size-was))...)
	file.writes = append(file.writes, write{cut: true, size: size})
}

// Sync makes the contents of the file durable, but not its name.
func (h *handle) Sync() error {
	return h.fs.do(Sync, h.path, func() error { return h.usable(Sync, 0) }, func() {
		h.file.disk, h.file.writes = slices.Clone(h.file.data), nil
	})
}

// Size returns the length of the file.
func (h *handle) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return int64(len(h.file.data)), h.usable("stat", 0)
}

// Close closes the handle. Nothing becomes durable.
func (h *handle) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if !h.gone {
		h.gone = true
		h.fs.opened--
	}
	err := h.usable("close", 0)
	h.closed = h.closed || err == nil
	return err
}

// dir is a directory of an FS.
type dir struct {
	fs   *FS
	path string
}

var _ vfs.Dir = dir{}

// Dir returns the directory at path, which is always there.
func (f *FS) Dir(path string) vfs.Dir { return dir{f, filepath.Clean(path)} }

func (d dir) Path(name string) string { return filepath.Join(d.path, name) }

func (d dir) Open(name string) (vfs.File, error) { return d.fs.open(d.Path(name)) }

func (d dir) Edit(name string) (vfs.File, error) { return d.fs.open(d.Path(name)) }

func (d dir) Create(name string) (vfs.File, error) { return d.fs.create(d.Path(name)) }

func (d dir) Rename(from, to string) error { return d.fs.rename(d.Path(from), d.Path(to)) }

func (d dir) Remove(name string) error { return d.fs.remove(d.Path(name)) }

func (d dir) Sync() error { return d.fs.syncDir(d.path) }

// Mkdir does nothing: every directory is there.
func (d dir) Mkdir(string) error { return fs.ErrExist }

func (d dir) Sub(name string) (vfs.Dir, error) { return d.fs.Dir(d.Path(name)), nil }

func (d dir) Close() error { return nil }

func (d dir) Lstat(name string) (fs.FileInfo, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	file, err := d.fs.look("lstat", d.Path(name))
	if err != nil {
		return nil, err
	}
	return info{name, int64(len(file.data))}, nil
}

func (d dir) Entries() ([]fs.FileInfo, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	if d.fs.crashed {
		return nil, pathError("open", d.path, ErrCrashed)
	}
	var entries []fs.FileInfo
	for path, file := range d.fs.names {
		if filepath.Dir(path) == d.path {
			entries = append(entries, info{filepath.Base(path), int64(len(file.data))})
		}
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// info describes a file.
type info struct {
	name string
	size int64
}

func (i info) Name() string     { return i.name }
func (i info) Size() int64      { return i.size }
func (info) Mode() fs.FileMode  { return 0o644 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

// Mirror returns a directory that does everything twice: to the files of the file system in
// memory, which says what fails and when the program crashes, and then to the files of d, which
// programs can map and lock. Files that were in d before are not in f unless Load has put them there.
func (f *FS) Mirror(d vfs.Dir) vfs.Dir { return mirror{d, f.Dir(d.Path(""))} }

// Intercept mirrors a directory, and those below it, when programs open them, until end is called.
func (f *FS) Intercept(dir string) (end func()) {
	return vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		if path, err := filepath.Rel(dir, d.Path("")); err == nil && filepath.IsLocal(path) {
			return f.Mirror(d)
		}
		return d
	})
}

// Load makes a file that is durable. The counter of operations begins again with the FS
// that it returns.
func (f *FS) Load(files map[string][]byte) (*FS, error) {
	for path, data := range files {
		h, err := f.create(path)
		if err == nil {
			_, err = h.WriteAt(data, 0)
		}
		if err == nil {
			err = h.Sync()
		}
		if err != nil {
			return nil, err
		}
	}
	for name := range f.names {
		f.disk[name] = f.names[name]
	}
	f.changes = nil
	return f.PowerCut(rand.New(rand.NewPCG(0, 0))), nil // all is durable: nothing is lost
}

// Contents returns the contents of all files by path.
func (f *FS) Contents() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	files := map[string][]byte{}
	for name, file := range f.names {
		files[name] = append([]byte{}, file.data...)
	}
	return files
}

// mirror is a directory in d and in memory.
type mirror struct {
	vfs.Dir
	shadow vfs.Dir
}

func (m mirror) Open(name string) (vfs.File, error) { return m.both(m.Dir.Open, m.shadow.Open, name) }

func (m mirror) Edit(name string) (vfs.File, error) { return m.both(m.Dir.Edit, m.shadow.Edit, name) }

// both opens a file, in memory only if it is there.
func (m mirror) both(open, shadow func(string) (vfs.File, error), name string) (vfs.File, error) {
	s, err := shadow(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return f, nil
	}
	return &mirrored{f, s}, nil
}

func (m mirror) Create(name string) (vfs.File, error) {
	if _, err := m.Dir.Lstat(name); err == nil {
		return m.Dir.Create(name) // fails
	}
	s, err := m.shadow.Create(name)
	if err != nil {
		return nil, err
	}
	f, err := m.Dir.Create(name)
	if err != nil {
		return nil, err
	}
	return &mirrored{f, s}, nil
}

func (m mirror) Rename(from, to string) error {
	if err := m.shadow.Rename(from, to); err != nil {
		return err
	}
	return m.Dir.Rename(from, to)
}

func (m mirror) Remove(name string) error {
	if _, err := m.Dir.Lstat(name); err != nil {
		return m.Dir.Remove(name) // fails
	}
	if err := m.shadow.Remove(name); err != nil {
		return err
	}
	return m.Dir.Remove(name)
}

// RemoveDir removes a directory; in memory all of them exist always.
func (m mirror) RemoveDir(name string) error { return vfs.RemoveDir(m.Dir, name) }

func (m mirror) Sub(name string) (vfs.Dir, error) {
	d, err := m.Dir.Sub(name)
	if err != nil {
		return nil, err
	}
	s, err := m.shadow.Sub(name)
	return mirror{d, s}, errors.Join(err)
}

func (m mirror) Sync() error {
	if err := m.shadow.Sync(); err != nil {
		return err
	}
	return m.Dir.Sync()
}

// mirrored is a file in a directory and in memory.
type mirrored struct {
	vfs.File
	shadow vfs.File
}

// ReadAt reads the file of the operating system, unless reads fail.
func (f *mirrored) ReadAt(b []byte, offset int64) (int, error) {
	h := f.shadow.(*handle)
	if err := h.fs.reads(h.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, offset)
}

// System returns the file of the operating system.
func (f *mirrored) System() *os.File { return vfs.System(f.File) }

func (f *mirrored) Write(b []byte) (int, error) {
	return twice(b, f.shadow.Write, f.File.Write)
}

func (f *mirrored) WriteAt(b []byte, offset int64) (int, error) {
	at := func(f vfs.File) func([]byte) (int, error) {
		return func(b []byte) (int, error) { return f.WriteAt(b, offset) }
	}
	return twice(b, at(f.shadow), at(f.File))
}

// twice writes to the file as much as was written in memory.
func twice(b []byte, shadow, real func([]byte) (int, error)) (int, error) {
	n, failed := shadow(b)
	n, err := real(b[:n])
	return n, errors.Join(failed, err)
}

func (f *mirrored) Truncate(size int64) error {
	if err := f.shadow.Truncate(size); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *mirrored) Sync() error { return f.shadow.Sync() } // the disk of the machine has no part in this

func (f *mirrored) Close() error { return errors.Join(f.shadow.Close(), f.File.Close()) }
