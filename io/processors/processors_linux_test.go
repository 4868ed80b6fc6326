package processors

import (
	"testing"
	"time"

	"grenier/internal/testkit/should"
)

// TestParse: user, nice, system, interrupts and stolen time count, idle and waiting do not, and guests count once.
func TestParse(t *testing.T) {
	u, known := parse("cpu  1 2 4 1000 2000 8 16 32 5000 6000\ncpu0 1 1 1\ncpu1 1 1 1\nintr 5\n")
	want := (usage{processors: 2, all: 63 * time.Second / 100})
	should.Hold(t, known && u == want, "%+v, %v", u, known)
	for _, text := range []string{"", "cpu\n", "cpu 1 2 3\n", "intr 1\n"} {
		u, known := parse(text)
		should.Not(t, known, "%q: %+v", text, u)
	}
	u, known = current()
	should.Hold(t, known && u.all > 0 && u.ours > 0, "%+v, %v", u, known)
}
