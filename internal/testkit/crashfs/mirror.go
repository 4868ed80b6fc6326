package crashfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"

	"grenier/io/vfs"
)

// Mirror returns a directory that does everything twice: to the files of the file system in
// memory, which says what fails and when the program crashes, and then to the files of d, which
// programs can map and lock. Files that were in d before are not in f unless Load has put them there.
func (f *FS) Mirror(d vfs.Dir) vfs.Dir { return mirror{d, f.Dir(d.Path(""))} }

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
