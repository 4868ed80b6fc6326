//go:build !linux

package pagecache

import "os"

// Bound does nothing here: the operating system decides what it keeps.
type Bound struct{}

// Open does nothing.
func (*Bound) Open(*os.File) {}

// Wrote does nothing.
func (*Bound) Wrote(offset, length int64) {}

// Read does nothing.
func (*Bound) Read(length int64) {}

// Ahead does nothing.
func (*Bound) Ahead(offset, length, keep int64) {}

// Drop does nothing.
func (*Bound) Drop() {}

// Synced does nothing.
func (*Bound) Synced() {}

// Close does nothing.
func (*Bound) Close() error { return nil }
