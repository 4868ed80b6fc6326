//go:build !linux

package halfboard

import (
	"errors"
	"fmt"
)

// newPagedRegion fails: what release must do differs from system to system.
func newPagedRegion(int) (*region, error) {
	return nil, fmt.Errorf("solving in less memory than a layer takes: %w on this system", errors.ErrUnsupported)
}

func release([][]int8) {}
