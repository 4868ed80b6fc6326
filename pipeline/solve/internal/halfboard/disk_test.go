package halfboard

import (
	"sync/atomic"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/io/vfs"
)

// disk is a disk in memory whose reads can fail as well, and that counts the files
// that are open.
type disk struct {
	*crashfs.FS
	open atomic.Int64
	read func() error
}

func newDisk() *disk { return &disk{FS: crashfs.New()} }

// plain returns the directory of the work file, in which nothing but the file system
// fails.
func (d *disk) plain() vfs.Dir { return d.FS.Dir("work") }

// work returns the directory of the work file.
func (d *disk) work() vfs.Dir { return diskDir{d.plain(), d} }

type diskDir struct {
	vfs.Dir
	disk *disk
}

type diskFile struct {
	vfs.File
	disk *disk
}

func (d diskDir) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	d.disk.open.Add(1)
	return diskFile{f, d.disk}, nil
}

func (d diskDir) Create(name string) (vfs.File, error) { return d.file(d.Dir.Create(name)) }

func (d diskDir) Open(name string) (vfs.File, error) { return d.file(d.Dir.Open(name)) }

func (d diskDir) Edit(name string) (vfs.File, error) { return d.file(d.Dir.Edit(name)) }

func (h diskFile) ReadAt(b []byte, offset int64) (int, error) {
	if h.disk.read != nil {
		if err := h.disk.read(); err != nil {
			return 0, err
		}
	}
	return h.File.ReadAt(b, offset)
}

func (h diskFile) Close() error {
	h.disk.open.Add(-1)
	return h.File.Close()
}

// copied returns a disk with the same files.
func (d *disk) copied(t *testing.T) *disk {
	t.Helper()
	other := newDisk()
	entries := must.Get(d.plain().Entries())(t)
	for _, e := range entries {
		data, err := vfs.Read(d.plain(), e.Name(), 1<<30)
		if err == nil {
			err = vfs.Write(other.plain(), e.Name(), data)
		}
		must.OK(t, err)
	}
	return other
}

// change lets do change a file.
func (d *disk) change(t *testing.T, name string, do func(h vfs.File, size int64)) {
	t.Helper()
	h := must.Get(d.plain().Edit(name))(t)
	do(h, must.Get(h.Size())(t))
}

// flip changes the byte of a file at an offset.
func (d *disk) flip(t *testing.T, name string, offset int64) {
	d.change(t, name, func(h vfs.File, _ int64) {
		b := make([]byte, 1)
		must.OK(t, must.Err(h.ReadAt(b, offset)))
		b[0] ^= 0x10
		must.OK(t, must.Err(h.WriteAt(b, offset)))
	})
}

// failing returns a function that fails from the n-th call on.
func failing(err error, n int) func() error {
	var calls atomic.Int64
	return func() error {
		if calls.Add(1) >= int64(n) {
			return err
		}
		return nil
	}
}

// failOn makes operations of one kind fail as fail says.
func (d *disk) failOn(op crashfs.Op, fail func() error) {
	d.Fail(func(o crashfs.Op, _ string) error {
		if o == op {
			return fail()
		}
		return nil
	})
}
