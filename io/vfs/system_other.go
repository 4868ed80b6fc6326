//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package vfs

import (
	"errors"
	"io/fs"
	"runtime"
)

const nonBlocking = 0

// syncsDirs reports whether names can be made durable; Windows has no such operation.
var syncsDirs = runtime.GOOS != "windows"

func names(fs.FileInfo) uint64 { return 1 }

// SameDevice is not known.
func SameDevice(a, b fs.FileInfo) bool { return true }

// Writable is not known; creating a file will show it.
func Writable(string) error { return nil }

// ReadOnly is not known.
func ReadOnly(error) bool { return false }

// TryLock fails with errors.ErrUnsupported: there is no lock here that ends with the
// process.
func TryLock(File, bool) error { return errors.ErrUnsupported }
