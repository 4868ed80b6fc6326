package halfboard

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"grenier/kernels/compress"
	"grenier/layers/awari"
)

// offerByRules returns what the moves of a board that leave the layer are
// worth, seed by seed; false if there is no such move and the game goes on.
func offerByRules(game awari.Game, space *awari.Space, layers [][]int8, board awari.Board) (offer int, ok bool) {
	offer, quiet := game.Terminal(board), false
	for _, p := range game.Plays(board) {
		switch {
		case !p.Legal:
		case p.Captured == 0:
			quiet = true
		default:
			n, rank := space.Rank(p.Child)
			offer, ok = max(offer, p.Captured-int(layers[n][rank])), true
		}
	}
	return offer, ok || !quiet
}

// TestOffersFollowTheRules asks the rules about every position of random
// layers, of open and of full rows.
func TestOffersFollowTheRules(t *testing.T) {
	rng := newRand(t)
	for range runs(25) {
		c := randomConfig(t, rng)
		w, layers := c.prepare(t), c.lower(t).layers
		space, err := awari.NewSpace(c.game, c.seeds)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range w.order {
			for class := range classes {
				rows := w.grid.rowCodes(c.seeds-x.strip.sum, w.grid.opponents(x), class)
				for col := range x.cols {
					offers := w.grid.offersOf(x, class, col)
					for row, opponent := range rows {
						board := w.grid.board(w.grid.columns(x.strip).code(col), opponent)
						want, ok := offerByRules(c.game, space, layers, board)
						if got := offers[row]; ok && int(got) != -want || !ok && got != compress.Blocked {
							t.Fatalf("%+v: %v is offered %d, want %d (%v)", c, board, -got, want, ok)
						}
					}
				}
			}
		}
	}
}

// brokenLower fails where it is told to.
type brokenLower struct {
	*tower
	read, closing error
	closed        atomic.Int64
}

func (b *brokenLower) Read(n int, start uint64, dst []int8) error {
	return errors.Join(b.read, b.tower.Read(n, start, dst))
}

func (b *brokenLower) Close() error {
	b.closed.Add(1)
	return b.closing
}

// TestLowerLayersFail: errors of the layers below end the work, and these are
// closed in any case.
func TestLowerLayersFail(t *testing.T) {
	c := config{game: mustGame(t, 6, awari.Awari), seeds: 6}
	e, err := New(c.game, c.options)
	if err != nil {
		t.Fatal(err)
	}
	bad := errors.New("disk on fire")
	for name, lower := range map[string]*brokenLower{
		"read": {read: bad}, "close": {closing: bad}, "fine": {},
	} {
		lower.tower = c.lower(t)
		l, err := e.Solve(t.Context(), c.seeds, lower)
		if name == "fine" && err == nil {
			err = l.Close()
		}
		if lower.closed.Load() != 1 || errors.Is(err, bad) != (name != "fine") || err != nil && l != nil {
			t.Errorf("%s: %v, closed %d times", name, err, lower.closed.Load())
		}
	}
}

// needed notes which layers are read.
type needed struct {
	*tower
	read [awari.MaxSeeds + 1]atomic.Uint64
}

func (l *needed) Read(n int, start uint64, dst []int8) error {
	l.read[n].Add(uint64(len(dst)))
	return l.tower.Read(n, start, dst)
}

// TestOnlyReachableLayersAreRead: a capture takes 2 seeds at least and 3 from
// every pit of the opponent at most.
func TestOnlyReachableLayersAreRead(t *testing.T) {
	c := config{game: mustGame(t, 4, awari.Strict), seeds: 14}
	lower := &needed{tower: c.lower(t)}
	if err := c.begin(t).captureAll(t.Context(), lower); err != nil {
		t.Fatal(err)
	}
	var got []int
	for n := range lower.read {
		if read := lower.read[n].Load(); read == Positions(c.game, n) {
			got = append(got, n)
		} else if read != 0 {
			t.Errorf("%d scores of layer %d are read", read, n)
		}
	}
	if want := []int{8, 9, 10, 11, 12}; !slices.Equal(got, want) {
		t.Errorf("layers %v are read, want %v", got, want)
	}
}
