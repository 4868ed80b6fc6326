package solve

import (
	"testing"

	"grenier/internal/testkit/should"
)

// TestSample: pieces ascend, lie in the layer, and are as many as the model asks for; those of
// the smallest layers cover them.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		positions uint64
		pieces    int
		length    uint64
	}{
		{1, 1, 1}, {364, 1, 364}, {4095, 1, 4095}, {4096, 1, 4096}, {4097, 1, 4096}, {8191, 1, 4096}, {8192, 2, 4096},
		{1 << 18, 64, 4096}, {1<<18 + 1, 64, 4096}, {1 << 22, 64, 4096}, {1 << 23, 128, 4096}, {1 << 26, 1024, 4096}, {386_206_920, 1024, 4096}, {1 << 40, 1024, 4096},
	} {
		starts, length := sample(c.positions)
		if len(starts) != c.pieces || length != c.length || starts[0] != 0 {
			t.Errorf("%d positions: %d pieces of %d from %d on", c.positions, len(starts), length, starts[0])
		}
		for i := range starts {
			should.Not(t, starts[i]+length > c.positions || i > 0 && starts[i] <= starts[i-1],
				"%d positions: piece %d begins at %d", c.positions, i, starts[i])
		}
	}
}
