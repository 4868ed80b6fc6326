// Package io_test has the tests of small packages below, which take less time than it takes to link a program for each.
package io_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
)

func TestMarkers(t *testing.T) {
	for _, cause := range []error{corrupt.ErrForeign, corrupt.ErrVersion, corrupt.ErrMismatch, io.ErrUnexpectedEOF} {
		err := fmt.Errorf("opening: %w", corrupt.New("a.gl", "block 7", "%w: details", cause))
		var typed *corrupt.Error
		should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, cause) && errors.As(err, &typed) && typed.Part == "block 7", "%v", err)
		for _, other := range []error{corrupt.ErrForeign, corrupt.ErrVersion, corrupt.ErrMismatch} {
			should.Not(t, other != cause && errors.Is(err, other), "%v is taken for %v", err, other)
		}
	}
}
