package fault

import (
	"errors"
	"fmt"
	"testing"

	"grenier/internal/testkit/should"
)

func TestKinds(t *testing.T) {
	one, two := New(Usage, "codec"), New(Usage, "codec")
	err := errors.Join(errors.New("other"), fmt.Errorf("%w: rot13", one))
	should.Not(t, !errors.Is(err, one) || errors.Is(err, two) || !errors.Is(err, Usage) || errors.Is(err, Difference),
		"%v is of the wrong kind", err)
	should.Hold(t, one.Error() == "codec", "%q", one)
}
