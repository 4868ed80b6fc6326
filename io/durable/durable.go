// Package durable makes changes to files that a crash or power cut leaves
// either undone or complete, never half done.
//
// The recipe is the usual one: write a temporary file in the same file system,
// fsync it, rename it over the final name, fsync the directory. A reader that
// has the old file open keeps the old contents.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// TempSuffix ends the name of every temporary file; whatever carries it after a
// crash may be deleted.
const TempSuffix = ".tmp"

// CheckFile fails if a file cannot be written at path whatever is in it: what is there
// is no file, or the directory is missing or read-only. It is for those who would
// learn that from WriteFile only after much work.
func CheckFile(path string) error {
	if err := checkKind(path); err != nil {
		return err
	}
	temp := path + TempSuffix
	if err := writeTemp(temp, nil); err != nil {
		return err
	}
	return os.Remove(temp)
}

// checkKind fails if there is something at path that is not a file. A device would
// be replaced without a word.
func checkKind(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s exists and is not a file", path)
	}
	return err
}

// WriteFile replaces the contents of the file at path by data, and fails if there is
// something else than a file. It writes to path + TempSuffix first and removes that
// file if anything fails.
func WriteFile(path string, data []byte) error {
	if err := checkKind(path); err != nil {
		return err
	}
	temp := path + TempSuffix
	err := writeTemp(temp, data)
	if err == nil {
		err = Publish(temp, path)
	}
	if err != nil {
		os.Remove(temp) // the first error tells more
	}
	return err
}

func writeTemp(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Publish gives the file temp the name final, replacing a file of that name, but
// nothing else. The contents reach the disk before the name does. Both names must be
// in one file system.
func Publish(temp, final string) error {
	if err := checkKind(final); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return fmt.Errorf("publishing %s: %w", final, err)
	}
	if err := os.Rename(temp, final); err != nil {
		return fmt.Errorf("publishing %s: %w", final, err)
	}
	return SyncDir(filepath.Dir(final))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir waits until the names in the directory are on disk. Windows offers no
// such operation; there it does nothing. Errors are those of the operating system.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
