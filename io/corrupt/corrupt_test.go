package corrupt

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"grenier/internal/testkit/should"
)

func TestMarkers(t *testing.T) {
	for _, cause := range []error{ErrForeign, ErrVersion, ErrMismatch, io.ErrUnexpectedEOF} {
		err := fmt.Errorf("opening: %w", New("a.gl", "block 7", "%w: details", cause))
		var typed *Error
		should.Hold(t, errors.Is(err, ErrCorrupt) && errors.Is(err, cause) && errors.As(err, &typed) && typed.Part == "block 7", "%v", err)
		for _, other := range []error{ErrForeign, ErrVersion, ErrMismatch} {
			should.Not(t, other != cause && errors.Is(err, other), "%v is taken for %v", err, other)
		}
	}
}
