//go:build !unix

package vfs

import (
	"errors"
	"testing"
)

func fifo(string) error               { return errors.ErrUnsupported }
func socket(*testing.T, string) error { return errors.ErrUnsupported }
