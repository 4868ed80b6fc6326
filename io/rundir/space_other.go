//go:build !(darwin || linux)

package rundir

import (
	"errors"
	"fmt"
)

func freeBytes(path string) (uint64, error) {
	return 0, fmt.Errorf("free space of %s: %w", path, errors.ErrUnsupported)
}
