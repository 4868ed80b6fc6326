package vfs

import "io/fs"

// Move renames an entry of any kind to a name that is free: a link itself, a directory
// with its contents. It is for an entry that stands in the way of a file and must not be lost. It
// fails with fs.ErrExist if there is something of that name.
func Move(d Dir, from, to string) error {
	there, err := Exists(d, to)
	if err != nil {
		return err
	}
	if there {
		return &fs.PathError{Op: "rename", Path: d.Path(to), Err: fs.ErrExist}
	}
	s, ok := d.(*system)
	if !ok {
		return d.Rename(from, to)
	}
	if _, err := s.lstat("rename", from); err != nil {
		return err
	}
	return s.named("rename", to, s.root.Rename(from, to))
}

// RemoveDir removes an empty directory. It fails with a *KindError for anything else than
// a directory. A Dir that wraps another one has a method RemoveDir, too.
func RemoveDir(d Dir, name string) error {
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &KindError{Path: d.Path(name), Mode: info.Mode().Type(), Dir: true}
	}
	switch d := d.(type) {
	case *system:
		return d.named("remove", name, d.root.Remove(name))
	case interface{ RemoveDir(name string) error }:
		return d.RemoveDir(name)
	}
	return &fs.PathError{Op: "remove", Path: d.Path(name), Err: fs.ErrInvalid}
}
