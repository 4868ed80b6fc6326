package halfboard

import (
	"context"
	"sync/atomic"
	"testing"

	"grenier/io/workfile"
	"grenier/io/workfile/crashfs"
)

const (
	diskWork       = "work/tiles"
	diskCheckpoint = diskWork + checkpointSuffix
)

// disk is a disk in memory of which reads can fail as well and that counts the files
// that are open.
type disk struct {
	*crashfs.FS
	open atomic.Int64
	read func() error
}

func newDisk() *disk { return &disk{FS: crashfs.New()} }

type diskHandle struct {
	workfile.Handle
	disk *disk
}

func (d *disk) handle(h workfile.Handle, err error) (workfile.Handle, error) {
	if err != nil {
		return nil, err
	}
	d.open.Add(1)
	return diskHandle{h, d}, nil
}

func (d *disk) Create(path string) (workfile.Handle, error) { return d.handle(d.FS.Create(path)) }

func (d *disk) Open(path string) (workfile.Handle, error) { return d.handle(d.FS.Open(path)) }

func (h diskHandle) ReadAt(b []byte, offset int64) (int, error) {
	if h.disk.read != nil {
		if err := h.disk.read(); err != nil {
			return 0, err
		}
	}
	return h.Handle.ReadAt(b, offset)
}

func (h diskHandle) Close() error {
	h.disk.open.Add(-1)
	return h.Handle.Close()
}

// copied returns a disk with the same files.
func (d *disk) copied(t *testing.T) *disk {
	t.Helper()
	other := newDisk()
	for _, path := range d.Names() {
		data, err := workfile.ReadFile(d.FS, path)
		if err != nil {
			t.Fatal(err)
		}
		h, err := other.FS.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.WriteAt(data, 0); err != nil {
			t.Fatal(err)
		}
	}
	return other
}

// change lets do change a file.
func (d *disk) change(t *testing.T, path string, do func(h workfile.Handle, size int64)) {
	t.Helper()
	h, err := d.FS.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	size, err := h.Size()
	if err != nil {
		t.Fatal(err)
	}
	do(h, size)
}

// flip changes the byte of a file at an offset.
func (d *disk) flip(t *testing.T, path string, offset int64) {
	t.Helper()
	d.change(t, path, func(h workfile.Handle, _ int64) {
		b := make([]byte, 1)
		if _, err := h.ReadAt(b, offset); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 0x10
		if _, err := h.WriteAt(b, offset); err != nil {
			t.Fatal(err)
		}
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

// ending returns a function that ends a context when it is called for the n-th time.
func ending(cancel context.CancelFunc, n int) func() error {
	var calls atomic.Int64
	return func() error {
		if calls.Add(1) == int64(n) {
			cancel()
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
