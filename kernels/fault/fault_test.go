package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestKinds(t *testing.T) {
	one, two := New(Usage, "codec"), New(Usage, "codec")
	err := errors.Join(errors.New("other"), fmt.Errorf("%w: rot13", one))
	if !errors.Is(err, one) || errors.Is(err, two) || !errors.Is(err, Usage) || errors.Is(err, Difference) {
		t.Errorf("%v is of the wrong kind", err)
	}
	if one.Error() != "codec" {
		t.Errorf("%q", one)
	}
}
