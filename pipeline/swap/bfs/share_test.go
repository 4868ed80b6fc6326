package bfs

import (
	"testing"

	"grenier/layers/swap"
)

// spent is the processor time of each depth of searches in memory, milliseconds,
// depth 1 first.
var spent = []struct {
	rows, cols int
	depths     []float64
}{
	{3, 4, []float64{
		0, 3, 9, 12, 30, 63, 112, 144, 169, 241, 311, 281, 291, 333, 344, 285, 243, 170, 113, 60,
		17, 5, 2, 0, 0,
	}},
	{2, 6, []float64{
		1, 4, 7, 8, 27, 39, 55, 79, 92, 114, 135, 146, 164, 182, 192, 203, 197, 187, 163, 136,
		107, 78, 51, 28, 15, 7, 3, 1, 0, 0, 0,
	}},
	{1, 12, []float64{
		0, 1, 0, 0, 1, 6, 9, 11, 14, 21, 22, 29, 30, 39, 51, 40, 49, 55, 67, 62,
		59, 71, 79, 81, 77, 78, 86, 89, 86, 83, 86, 87, 77, 80, 76, 83, 66, 84, 67, 58,
		53, 47, 41, 36, 32, 28, 24, 20, 16, 14, 11, 9, 7, 6, 4, 3, 3, 2, 1, 1,
		1, 0, 0, 0, 0, 0, 0,
	}},
}

// TestPace replays searches whose times were measured: from a fifth of the time on,
// what is said to remain is within a factor of two of what does, until little is
// left.
func TestPace(t *testing.T) {
	for _, s := range spent {
		g, err := swap.NewGrid(s.rows, s.cols)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, ms := range s.depths {
			total += ms
		}
		p, passed, last := paceOf(g), 0.0, 0.0
		for i, ms := range s.depths {
			for part := 0.0; part < 1; part += 0.1 {
				share := p.share(i+1, part)
				if share < last || share > 1 {
					t.Errorf("%d x %d: share %v after %v", s.rows, s.cols, share, last)
				}
				last = share
				now := passed + part*ms
				if now < 0.2*total || now > 0.95*total {
					continue
				}
				left, said := total-now, now*(1-share)/share
				if said > 2*left || said < left/2 {
					t.Errorf("%d x %d, %.0f of %.0f ms: %.0f are said to remain", s.rows, s.cols, now, total, said)
				}
				if part == 0 {
					t.Logf("%d x %d, %.0f %% of the time: %.2f of what remains", s.rows, s.cols, 100*now/total, said/left)
				}
			}
			passed += ms
		}
	}
}

// TestGuess: the guess of the diameter is near what is known.
func TestGuess(t *testing.T) {
	for _, c := range []struct{ rows, cols, diameter int }{
		{1, 1, 0}, {1, 9, 36}, {13, 1, 78}, {2, 4, 14}, {3, 3, 16}, {2, 5, 21}, {2, 6, 30}, {3, 4, 24},
	} {
		g, err := swap.NewGrid(c.rows, c.cols)
		if err != nil {
			t.Fatal(err)
		}
		if got := guessDiameter(g); got < 0.85*float64(c.diameter) || got > 1.15*float64(c.diameter) {
			t.Errorf("%d x %d: %v, is %d", c.rows, c.cols, got, c.diameter)
		}
		if least := leastDiameter(g); least > c.diameter {
			t.Errorf("%d x %d: at least %d, is %d", c.rows, c.cols, least, c.diameter)
		}
	}
}
