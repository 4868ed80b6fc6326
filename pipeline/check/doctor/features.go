package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/edsrzf/mmap-go"

	"grenier/io/vfs"
)

// Features are the abilities of a file system.
type Features []Feature

// Feature is one that was tried.
type Feature struct {
	Name  string `json:"name"`
	Error string `json:"error,omitempty"` // why it does not work, "" if it does

	needed  bool   // runs fail without
	unsafe  bool   // runs are less safe without
	without string // the message if it is missing
}

// tryFeatures tries all of them in a directory that is empty, at path.
func tryFeatures(d vfs.Dir, path string) (all Features) {
	for _, f := range []struct {
		Feature
		try func(d vfs.Dir) error
	}{
		{Feature{Name: "new names", needed: true}, tryCreate},
		{Feature{Name: "rename", needed: true}, tryRename},
		{Feature{Name: "mapped files", needed: true}, tryMap},
		{Feature{Name: "sync", needed: true}, trySync},
		{Feature{Name: "locks", unsafe: true, without: ": two programs might write one directory"}, tryLock},
		{Feature{Name: "O_TMPFILE", without: ", which is not needed"}, func(vfs.Dir) error { return vfs.CheckUnnamed(path) }},
	} {
		if err := f.try(d); err != nil {
			f.Error = err.Error()
		}
		all = append(all, f.Feature)
	}
	return all
}

// made makes a file with contents and leaves it open.
func made(d vfs.Dir, name, contents string) (vfs.File, error) {
	f, err := d.Create(name)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write([]byte(contents)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tryCreate: a name that is there cannot be made again.
func tryCreate(d vfs.Dir) (err error) {
	f, err := made(d, "new", "x")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	again, err := d.Create("new")
	if err == nil {
		return errors.Join(errors.New("one name was made twice"), again.Close())
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// tryRename: a file that takes the place of another is there, and who has the older one open
// keeps it.
func tryRename(d vfs.Dir) (err error) {
	if err := vfs.Write(d, "file", []byte("older")); err != nil {
		return err
	}
	f, err := d.Open("file")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := vfs.Write(d, "file", []byte("newer")); err != nil {
		return err
	}
	was, err := io.ReadAll(io.NewSectionReader(f, 0, 100))
	if err != nil {
		return err
	}
	is, err := vfs.Read(d, "file", 100)
	if err == nil && (string(was) != "older" || string(is) != "newer") {
		err = fmt.Errorf("the older file has %q and the newer one %q", was, is)
	}
	return err
}

// tryMap: a mapped file has the bytes that were written.
func tryMap(d vfs.Dir) (err error) {
	const text = "to be mapped"
	f, err := made(d, "mapped", text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := mmap.Map(vfs.System(f), mmap.RDONLY, 0)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, []byte(text)) {
		err = errors.New("the file in memory is not what was written")
	}
	return errors.Join(err, data.Unmap())
}

// trySync: files and names reach the disk.
func trySync(d vfs.Dir) error {
	f, err := made(d, "synced", "x")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), d.Sync())
}

// tryLock: a lock keeps others out, and ends with the file.
func tryLock(d vfs.Dir) error {
	first, err := made(d, "locked", "")
	if err != nil {
		return err
	}
	second, err := d.Open("locked")
	if err != nil {
		return errors.Join(err, first.Close())
	}
	defer second.Close()
	if err := vfs.TryLock(first, false); err != nil {
		return errors.Join(err, first.Close())
	}
	held := vfs.TryLock(second, false)
	if err := first.Close(); err != nil {
		return err
	}
	if held != vfs.ErrLocked {
		return fmt.Errorf("a lock does not keep others out (%v)", held)
	}
	return vfs.TryLock(second, false)
}
