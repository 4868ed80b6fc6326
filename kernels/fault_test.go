package kernels_test

import (
	"errors"
	"fmt"
	"testing"

	"grenier/internal/testkit/should"
	"grenier/kernels/fault"
)

func TestKinds(t *testing.T) {
	one, two := fault.New(fault.Usage, "codec"), fault.New(fault.Usage, "codec")
	err := errors.Join(errors.New("other"), fmt.Errorf("%w: rot13", one))
	should.Not(t, !errors.Is(err, one) || errors.Is(err, two) || !errors.Is(err, fault.Usage) || errors.Is(err, fault.Difference),
		"%v is of the wrong kind", err)
	should.Hold(t, one.Error() == "codec", "%q", one)
}
