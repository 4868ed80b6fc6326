//go:build !linux

package pagecache

import (
	"errors"
	"os"
)

func direct(*os.File, bool) error { return errors.ErrUnsupported }
