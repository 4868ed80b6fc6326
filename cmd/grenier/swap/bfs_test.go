package swap

import (
	"testing"
	"time"

	"grenier/pipeline/job"
	"grenier/pipeline/swap/bfs"
)

// TestSwapETA: the time that remains is told from what this process has done, not
// from what one before it did.
func TestSwapETA(t *testing.T) {
	for _, c := range []struct {
		share, begun float64
		elapsed      time.Duration
		eta          time.Duration
	}{
		{0, 0, time.Second, job.Unknown},
		{0.2, 0, 10 * time.Second, 40 * time.Second},
		{0.5, 0.4, 10 * time.Second, 50 * time.Second},
		{0.4, 0.4, 10 * time.Second, job.Unknown},
		{1, 0.4, time.Minute, 0},
	} {
		p := bfs.Progress{Depth: 3, Seen: 10, Total: 120, Share: c.share, Begun: c.begun}
		got := counting(p).State(c.elapsed)
		if diff := got.RunETA - c.eta; diff < -time.Millisecond || diff > time.Millisecond {
			t.Errorf("%+v after %v: %v remain, want %v", p, c.elapsed, got.RunETA, c.eta)
		}
		if got.Done != c.share*120 || got.Total != 120 || got.LayerETA != job.NoLayer {
			t.Errorf("%+v: %+v", p, got)
		}
	}
}
