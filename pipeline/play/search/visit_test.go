package search

import (
	"testing"

	"grenier/layers/awari"
)

// noScores has no layers.
type noScores struct{ game awari.Game }

func (s noScores) Game() awari.Game              { return s.game }
func (noScores) MaxSeeds() int                   { return -1 }
func (noScores) Score(awari.Board) (int8, error) { panic("nothing is solved") }

func TestNoAllocations(t *testing.T) {
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		t.Fatal(err)
	}
	b, err := game.Start(4)
	if err != nil {
		t.Fatal(err)
	}
	e := New(noScores{game}, Options{TableBytes: 1 << 18})
	e.begin()
	if allocations := testing.AllocsPerRun(3, func() {
		e.visit(&b, 48, place{ply: 1, layer: 1}, 8, -48, 48)
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	if e.nodes < 1000 {
		t.Errorf("only %d nodes", e.nodes)
	}
}

// TestRepeats knows a board of the same player since the last capture, and no other.
func TestRepeats(t *testing.T) {
	var e Engine
	x, y := awari.Board{1}, awari.Board{2}
	e.path = [maxPly + 1]awari.Board{1: x, 2: y, 3: y, 4: x, 5: x}
	for _, c := range []struct {
		at   place
		want int
	}{
		{place{5, 1}, 1}, {place{5, 2}, nowhere}, {place{4, 1}, nowhere}, {place{6, 1}, 4}, {place{2, 1}, nowhere},
	} {
		if got := e.repeats(&x, c.at); got != c.want {
			t.Errorf("at %+v: %d, want %d", c.at, got, c.want)
		}
	}
}

// TestTableKeepsWhatIsProven stores about one board from different searches, in a table
// of one bucket that others want as well.
func TestTableKeepsWhatIsProven(t *testing.T) {
	table := newTable(1)
	table.age()
	b := awari.Board{1, 2, 3}
	table.put(entry{board: b, lower: -2, upper: 6, depth: 9, pit: 1})
	table.put(entry{board: b, lower: -6, upper: 3, depth: 4, pit: 2})
	table.learn(&b, interval{-1, 5}, noPit)
	if s := table.find(&b); s == nil || s.interval() != (interval{-1, 3}) || s.pit != 2 {
		t.Errorf("%+v", s)
	}
	for i := range uint8(20) {
		table.put(entry{board: awari.Board{9, i}, depth: i})
	}
	if table.find(&b) != nil || table.find(&awari.Board{9, 19}) == nil {
		t.Error("a deeper search did not replace a shallow one")
	}
}
