package awari_test

import (
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/layers/awari"
)

func TestParseRejects(t *testing.T) {
	g := testrun.Game(t, 4, awari.Awari)
	for _, c := range []struct {
		text    string
		want    error
		message string
	}{
		{"", awari.ErrBoard, "expected 4 pits, got 0"},
		{"1 2 3", awari.ErrBoard, "expected 4 pits, got 3"},
		{"1 2 3 4 5", awari.ErrBoard, "expected 4 pits, got 5"},
		{"1 -2 3 4", awari.ErrCount, `pit B "-2": must be 0 to 48`},
		{"1 2 x 4", awari.ErrCount, `pit a "x": must be 0 to 48`},
		{"1 2 3 +4", awari.ErrCount, `pit b "+4": must be 0 to 48`},
		{"1 2 3 4.0", awari.ErrCount, `pit b "4.0": must be 0 to 48`},
		{"49 0 0 0", awari.ErrSeeds, "pit A 49: must be 0 to 48"},
		{"0 0 0 99999999999999999999", awari.ErrSeeds, "pit b 99999999999999999999: must be 0 to 48"},
		{"20 20 0 9", awari.ErrSeeds, "more than 48 on the board"},
	} {
		_, err := g.Parse(strings.Fields(c.text))
		should.Hold(t, errors.Is(err, c.want) && strings.HasSuffix(err.Error(), ": "+c.message),
			"Parse(%q): %v, want %v: %s", c.text, err, c.want, c.message)
	}
}

func TestDraw(t *testing.T) {
	g := testrun.Game(t, 12, awari.Awari)
	want := `opponent   f   e   d   c   b   a
          11  10   1   0   0   6
           1   2   0   0   4   5
mover      A   B   C   D   E   F
`
	b := board(t, g, "1 2 0 0 4 5 6 0 0 1 10 11")
	got := g.Draw(b, 0)
	should.Hold(t, got == want, "board is drawn\n%swant\n%s", got, want)
	if got := g.Draw(b, 1); !strings.HasPrefix(got, "opponent   F   E   D   C   B   A\n") || !strings.HasSuffix(got, "\nmover      a   b   c   d   e   f\n") {
		t.Errorf("the board of North is drawn\n%s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"4 4 4 4 4 4 4 4 4 4 4 4", "0 0 0 48 0 0 0 0", "1 2 3", "-1 0 0 0", "007 0 0 0 0 0", "a b c d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fields := strings.Fields(text)
		for pits := awari.MinPits; pits <= awari.MaxPits; pits += 2 {
			g := testrun.Game(t, pits, awari.Awari)
			b, err := g.Parse(fields)
			if err != nil {
				must.Not(t, !errors.Is(err, awari.ErrBoard) && !errors.Is(err, awari.ErrCount) && !errors.Is(err, awari.ErrSeeds),
					"untyped error %v", err)
				continue
			}
			must.Hold(t, len(fields) == pits && b.Seeds() <= awari.MaxSeeds, "%q is read as %v", text, b)
			again, err := g.Parse(strings.Fields(g.Text(b)))
			must.Hold(t, again == b && err == nil, "%v is written %q and read as %v, %v", b, g.Text(b), again, err)
		}
	})
}

// FuzzSow checks what holds for every sowing: seeds are conserved, the origin is empty afterwards, a sowing without
// capture can be taken back, and the child of a quiet legal move knows its parent.
func FuzzSow(f *testing.F) {
	f.Add([]byte{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, uint8(0))
	f.Add([]byte{0, 0, 0, 23, 1, 1, 1, 1}, uint8(3))
	f.Add([]byte{3, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, content []byte, choice uint8) {
		pits := 4 + 2*(len(content)%5)
		g := testrun.Game(t, pits, awari.Rules(choice%2))
		var b awari.Board
		left := uint8(awari.MaxSeeds)
		for i := range min(pits, len(content)) {
			b[i] = min(content[i], left)
			left -= b[i]
		}
		pit := int(choice/2) % g.Half()
		if b[pit] == 0 {
			return
		}
		checkSow(t, g, b, pit)
	})
}

func checkSow(t *testing.T, g awari.Game, b awari.Board, pit int) {
	sown := g.Sow(b, pit)
	must.Hold(t, sown.Board[pit] == 0 && sown.Board.Seeds()+sown.Captured == b.Seeds(), "%s: sowing pit %d gives %+v", g.Text(b), pit, sown)
	if sown.Captured > 0 {
		return
	}
	back, ok := g.Unsow(sown.Board, pit, int(b[pit]))
	must.Hold(t, ok && back == b, "%s: sowing pit %d gives %s, taken back %s, %v", g.Text(b), pit, g.Text(sown.Board), g.Text(back), ok)
	if play := g.Plays(b)[pit]; play.Legal && !play.Starves {
		found := 0
		for _, p := range g.Predecessors(nil, play.Child) {
			if p == b {
				found++
			}
		}
		must.Hold(t, found == 1, "%s: pit %d leads to %s, which lists it %d times", g.Text(b), pit, g.Text(play.Child), found)
	}
}
