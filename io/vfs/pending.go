package vfs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// ErrLocked reports a file that another process, or another open File of this one,
// has locked.
var ErrLocked = errors.New("locked")

// Pending is a file that does not have its name yet; an older file may have it. A
// crash leaves the older file or the new one, never a part of either; readers who
// have the older one open keep it.
//
// Until then it has a temporary name, which is the final one with 16 random
// hexadecimal digits and ".tmp" behind it. Where the operating system can, it is
// locked while it is written, so that RemoveStale recognizes those that a crash
// left.
type Pending struct {
	File
	dir         Dir
	ownsDir     bool // and closes it in the end
	temp, final string
	closed      bool
	done        bool
}

const (
	tempSuffix = ".tmp"
	tempDigits = 16
)

// tempOf returns a name that nobody can guess for a file that is to be called name.
func tempOf(name string) string {
	var random [tempDigits / 2]byte
	rand.Read(random[:]) // never fails
	return name + "." + hex.EncodeToString(random[:]) + tempSuffix
}

// TempFor reports whether name is the temporary name of a Pending, and returns its
// final name.
func TempFor(name string) (final string, ok bool) {
	stem, ok := strings.CutSuffix(name, tempSuffix)
	cut := len(stem) - tempDigits - 1
	if !ok || cut < 1 || stem[cut] != '.' || strings.Trim(stem[cut+1:], "0123456789abcdef") != "" {
		return "", false
	}
	return stem[:cut], true
}

// NewPending begins a file with the final name name. It fails with a *KindError if
// something that cannot be replaced has that name, or with an error of the
// operating system.
func NewPending(d Dir, name string) (*Pending, error) {
	switch info, err := d.Lstat(name); {
	case absent(err) != nil:
		return nil, err
	case err == nil && !info.Mode().IsRegular():
		return nil, &KindError{Path: d.Path(name), Mode: info.Mode().Type()}
	}
	temp := tempOf(name)
	f, err := d.Create(temp)
	if err != nil {
		return nil, err
	}
	p := &Pending{File: f, dir: d, temp: temp, final: name}
	if err := TryLock(f, false); err == ErrLocked { // others pass: the lock is a help, no need
		return nil, errors.Join(fmt.Errorf("%s: %w", d.Path(temp), err), p.Abort())
	}
	return p, nil
}

// BeginIn is NewPending that removes the remains of earlier files of that name after a crash.
func BeginIn(d Dir, name string) (*Pending, error) {
	if err := RemoveStale(d, func(final string) bool { return final == name }); err != nil {
		return nil, err
	}
	return NewPending(d, name)
}

// Path returns the final path of the file, for messages.
func (p *Pending) Path() string { return p.dir.Path(p.final) }

// Publish gives the file its name, and closes it. When it returns nil, contents and
// name survive a power cut. After a failure the file is removed, or, if only the
// last step failed, it has its name.
func (p *Pending) Publish() error { return p.publish(true) }

// Replace is Publish without waiting for the disk: a power cut may leave a file of
// that name with any contents.
func (p *Pending) Replace() error { return p.publish(false) }

func (p *Pending) publish(durable bool) error {
	var err error
	if durable {
		err = p.Sync()
	}
	if err == nil {
		err = p.Close()
	}
	if err == nil {
		err = p.dir.Rename(p.temp, p.final)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("publishing %s: %w", p.Path(), err), p.Abort())
	}
	if durable {
		err = p.dir.Sync()
	}
	return errors.Join(err, p.end())
}

// Close closes the file, once. Its temporary name stays, as after a crash: Publish,
// Replace and Abort close it too.
func (p *Pending) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return p.File.Close()
}

// Abort closes and removes the file. It does nothing after Publish, Replace or
// another Abort, so it can be deferred.
func (p *Pending) Abort() error {
	if p.done {
		return nil
	}
	return errors.Join(p.Close(), RemoveIfThere(p.dir, p.temp), p.end())
}

// end closes the directory.
func (p *Pending) end() error {
	p.done = true
	if p.ownsDir {
		return p.dir.Close()
	}
	return nil
}

// RemoveStale removes the remains, after a crash, of files whose final name ours accepts:
// files with a temporary name that nobody has locked.
func RemoveStale(d Dir, ours func(final string) bool) error {
	entries, err := d.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if final, ok := TempFor(e.Name()); ok && ours(final) && e.Mode().IsRegular() {
			err = errors.Join(err, removeUnlocked(d, e.Name()))
		}
	}
	return err
}

// removeUnlocked removes a file unless somebody has it locked.
func removeUnlocked(d Dir, name string) error {
	f, err := d.Open(name)
	if err != nil {
		return absent(err)
	}
	defer f.Close()
	if TryLock(f, false) == ErrLocked {
		return nil
	}
	return RemoveIfThere(d, name)
}

// Write replaces the contents of the file of that name by data, as Publish does.
func Write(d Dir, name string, data []byte) error {
	p, err := NewPending(d, name)
	if err != nil {
		return err
	}
	if _, err := p.Write(data); err != nil {
		return errors.Join(err, p.Abort())
	}
	return p.Publish()
}
