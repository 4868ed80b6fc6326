package processors

import (
	"testing"
	"time"
)

// TestParse: user, nice, system, interrupts and stolen time count, idle and waiting do not, and
// guests count once.
func TestParse(t *testing.T) {
	u, known := parse("cpu  1 2 4 1000 2000 8 16 32 5000 6000\ncpu0 1 1 1\ncpu1 1 1 1\nintr 5\n")
	if want := (usage{processors: 2, all: 63 * time.Second / 100}); !known || u != want {
		t.Errorf("%+v, %v", u, known)
	}
	for _, text := range []string{"", "cpu\n", "cpu 1 2 3\n", "intr 1\n"} {
		if u, known := parse(text); known {
			t.Errorf("%q: %+v", text, u)
		}
	}
	if u, known := current(); !known || u.all <= 0 || u.ours <= 0 {
		t.Errorf("%+v, %v", u, known)
	}
}
