package siegetest

import (
	"io/fs"
	"sync/atomic"

	"grenier/io/vfs"
)

// Moment does something once, before an operation on directories of package vfs.
type Moment struct {
	count atomic.Int64
	at    int64
	do    func()
}

// NewMoment returns the moment before operation k, from 1 on, on the directories that Watch returns.
func NewMoment(k int, do func()) *Moment { return &Moment{at: int64(k), do: do} }

// Operations returns how many there were.
func (m *Moment) Operations() int { return int(m.count.Load()) }

func (m *Moment) pass() {
	if m.count.Add(1) == m.at {
		m.do()
	}
}

// Watch returns a directory that behaves as d does; operations on it, and on the directories in it,
// count.
func (m *Moment) Watch(d vfs.Dir) vfs.Dir { return watchedDir{d, m} }

type watchedDir struct {
	vfs.Dir
	moment *Moment
}

func (w watchedDir) Open(name string) (vfs.File, error) {
	w.moment.pass()
	return w.Dir.Open(name)
}

func (w watchedDir) Edit(name string) (vfs.File, error) {
	w.moment.pass()
	return w.Dir.Edit(name)
}

func (w watchedDir) Create(name string) (vfs.File, error) {
	w.moment.pass()
	return w.Dir.Create(name)
}

func (w watchedDir) Rename(from, to string) error {
	w.moment.pass()
	return w.Dir.Rename(from, to)
}

func (w watchedDir) Remove(name string) error {
	w.moment.pass()
	return w.Dir.Remove(name)
}

func (w watchedDir) RemoveDir(name string) error {
	w.moment.pass()
	return vfs.RemoveDir(w.Dir, name)
}

func (w watchedDir) Lstat(name string) (fs.FileInfo, error) {
	w.moment.pass()
	return w.Dir.Lstat(name)
}

func (w watchedDir) Entries() ([]fs.FileInfo, error) {
	w.moment.pass()
	return w.Dir.Entries()
}

func (w watchedDir) Mkdir(name string) error {
	w.moment.pass()
	return w.Dir.Mkdir(name)
}

func (w watchedDir) Sync() error {
	w.moment.pass()
	return w.Dir.Sync()
}

func (w watchedDir) Close() error {
	w.moment.pass()
	return w.Dir.Close()
}

func (w watchedDir) Sub(name string) (vfs.Dir, error) {
	w.moment.pass()
	d, err := w.Dir.Sub(name)
	if err != nil {
		return nil, err
	}
	return w.moment.Watch(d), nil
}
