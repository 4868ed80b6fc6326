//go:build !linux

package vfs

import "errors"

// CheckUnnamed fails with errors.ErrUnsupported: files without a name are made on Linux only.
func CheckUnnamed(string) error { return errors.ErrUnsupported }
