package solitaire

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/fault"
	"grenier/layers/symmetry"
)

// Boards returns boards of all kinds: the smallest, with 8, 4, 2 and 1 symmetries, with gaps, and with all the holes that there may be.
// The tests outside the package need them too.
func Boards(t testing.TB) []*Board {
	t.Helper()
	all := []*Board{Named(English), Named(French)}
	for _, picture := range []string{
		"o", "o.o", "ooo\nooo\nooo", "oooo\noooo\noooo", "oo\no-o\no-oo", "oooo\noo\no", "ooo-ooo\n-o---o\nooooooo",
		strings.Repeat("oooooooo\n", 8), strings.Repeat("oooooooooooooooo\n", 4),
	} {
		b, _ := parsed(t, picture)
		all = append(all, b)
	}
	return all
}

func parsed(t testing.TB, picture string) (*Board, Position) {
	t.Helper()
	b, p, err := Parse(picture)
	must.OK(t, err)
	return b, p
}

// TestNamed compares the boards that have a name with what is known about them.
func TestNamed(t *testing.T) {
	for name, want := range map[string][]int{English: {33, 76, 8}, French: {37, 92, 8}} {
		b := Named(name)
		should.Equal(t, b.Name(), name)
		should.List(t, []int{b.Holes(), len(b.Jumps()), len(b.Symmetries())}, want, "%s: holes, jumps, symmetries", name)
		should.Equal(t, b.HoleName(hole(t, b, "center")), "d4", "%s: centre", name)
	}
	should.Hold(t, Named("square") == nil, "there is a board named square")
}

// legal is the definition of Legal, and of Undo with all three holes the other way round.
func legal(b *Board, p Position) (numbers []uint8) {
	for i, j := range b.jumps {
		if p>>j.From&1 == 1 && p>>j.Over&1 == 1 && p>>j.To&1 == 0 {
			numbers = append(numbers, uint8(i))
		}
	}
	return numbers
}

// checkJumps compares everything that is known about the jumps of a position with the definitions.
func checkJumps(t *testing.T, b *Board, g *Group, p Position) {
	t.Helper()
	want := legal(b, p)
	got := b.Legal(nil, p)
	slices.Sort(got)
	must.List(t, got, want, "%s: jumps of %x", b.Name(), p)
	back := b.Undo(nil, p)
	slices.Sort(back)
	must.List(t, back, legal(b, ^p&b.Full()), "%s: jumps to %x", b.Name(), p)
	all := g.of(p)
	must.Hold(t, all == g.each(p), "%s: images %x of %x, want %x", b.Name(), all, p, g.each(p))
	var children []Position
	for _, number := range got {
		j := b.jumps[number]
		child, places := least(g, p^j.Pegs(), j.To)
		children = append(children, child)
		to, holes := g.Place(p, int(number), j.To)
		must.Hold(t, to == child && holes == places, "%s: %s leads to %x and %x, want %x and %x", b.Name(), b.JumpName(j), to, holes, child, places)
	}
	slices.Sort(children)
	found := g.Children(nil, p)
	slices.Sort(found)
	must.List(t, found, children, "%s: children of %x", b.Name(), p)
	first, _ := least(g, p, 0)
	must.Equal(t, g.Canonical(p), first, "%s: canonical of %x", b.Name(), p)
	images := map[Position]bool{}
	for _, m := range g.maps {
		images[symmetry.Image(m, p)] = true
	}
	must.Equal(t, g.Orbit(p), len(images), "%s: images of %x", b.Name(), p)
}

// least is the definition of Place and Canonical.
func least(g *Group, p Position, hole int) (first, places Position) {
	first = ^Position(0)
	for _, m := range g.maps {
		image := symmetry.Image(m, p)
		if image < first {
			first, places = image, 0
		}
		if image == first {
			places |= 1 << m[hole]
		}
	}
	return first, places
}

func TestJumps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, b := range Boards(t) {
		for _, ends := range []Position{0, 1, b.Full() & 3} {
			g := b.Group(ends)
			should.Not(t, ends == 0 && g.Size() != len(b.Symmetries()), "%s: %d of %d symmetries", b.Name(), g.Size(), len(b.Symmetries()))
			checkJumps(t, b, g, 0)
			checkJumps(t, b, g, b.Full())
			for range 50 {
				checkJumps(t, b, g, random.Uint64()&b.Full())
			}
		}
	}
}

func TestFindJump(t *testing.T) {
	b := Named(English)
	p := b.Full() &^ (1 << hole(t, b, "d4"))
	should.Equal(t, b.JumpName(must.Get(b.FindJump(p, hole(t, b, "d2"), hole(t, b, "d4")))(t)), "d2-d4")
	for _, tt := range []struct {
		p              Position
		from, to, want string
	}{
		{p, "d4", "d2", "no peg in d4"},
		{p &^ (1 << hole(t, b, "d3")), "d2", "d4", "no peg in d3"},
		{p, "d1", "d3", "d3 is not empty"},
		{p, "d1", "d4", "a jump goes over a neighbour"},
		{p, "c3", "e5", "a jump goes over a neighbour"},
		{p, "a3", "a3", "a jump goes over a neighbour"},
	} {
		err := must.Err(b.FindJump(tt.p, hole(t, b, tt.from), hole(t, b, tt.to)))
		should.Says(t, err, ErrJump, tt.want)
		should.Be(t, err, fault.Usage)
	}
}

func TestHoles(t *testing.T) {
	for _, b := range Boards(t) {
		for i := range b.Holes() {
			should.Equal(t, hole(t, b, b.HoleName(i)), i, "%s: hole %s", b.Name(), b.HoleName(i))
		}
	}
	for _, name := range []string{"", "a", "a1", "d0", "d04", "d+4", "d8", "h4", "D4", "44", "d4 ", "d444444444444444444444"} {
		should.Says(t, must.Err(Named(English).Hole(name)), ErrHole, "c1-e1, c2-e2, a3-g3")
	}
	b, _ := parsed(t, "oo\noo")
	should.Be(t, must.Err(b.Hole("center")), ErrHole, "2 x 2 has a centre")
}

func TestParse(t *testing.T) {
	b, p := parsed(t, "\n   --ooo \r\n     ooo--\r\n   ooooooo\n   ooo.ooo\n   ooooooo\n     ooo\n     ooo\n\n")
	should.Hold(t, b == Named(English) && bits.OnesCount64(p) == 32, "%v, %x", b, p)
	for picture, want := range map[string]string{
		"":                                  "no holes",
		"- -\n":                             "no holes",
		"oo\no*":                            "line 2: '*'",
		"\too":                              "line 1: '\\t'",
		strings.Repeat("o", 27):             "1 rows and 27 columns",
		strings.Repeat("o\n", 100):          "100 rows and 1 columns",
		strings.Repeat("ooooooooo\n", 8):    "more than 64 holes",
		"o" + strings.Repeat(" ", 26) + ".": "28 columns",
	} {
		_, _, err := Parse(picture)
		should.Says(t, err, ErrPicture, want)
		should.Be(t, err, fault.Usage)
	}
}

// FuzzParse: a picture is refused, or it is the picture of the board and the position.
func FuzzParse(f *testing.F) {
	f.Add("--ooo--\n--ooo--\nooooooo\nooo.ooo\nooooooo\n--ooo--\n--ooo--")
	f.Add("o.o\r\n-o\n\n")
	f.Add("ox")
	f.Fuzz(func(t *testing.T, picture string) {
		b, p, err := Parse(picture)
		if err != nil {
			should.Be(t, err, ErrPicture)
			return
		}
		again, q := parsed(t, b.Picture(p))
		should.Hold(t, again.Picture(q) == b.Picture(p) && q == p && again.Holes() == b.Holes(), "%q becomes %q", picture, b.Picture(p))
		pegs := strings.Count(picture, "o")
		should.Hold(t, bits.OnesCount64(p) == pegs && b.Holes() == pegs+strings.Count(picture, "."), "%q: %x in %d holes", picture, p, b.Holes())
	})
}

func FuzzHole(f *testing.F) {
	f.Add("d4")
	f.Add("center")
	f.Fuzz(func(t *testing.T, name string) {
		b := Named(French)
		hole, err := b.Hole(name)
		should.Not(t, err != nil && !errors.Is(err, ErrHole) || err == nil && b.HoleName(hole) != name && name != "center",
			"%q: hole %d, %v", name, hole, err)
	})
}

// TestParity plays at random: jumps never leave the class of positions. From the centre of the
// English board, one peg can be left in five holes only; on the French board in none.
func TestParity(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, b := range Boards(t) {
		start := random.Uint64() & b.Full()
		p := start
		for numbers := b.Legal(nil, p); len(numbers) > 0; numbers = b.Legal(nil, p) {
			p ^= b.jumps[numbers[random.IntN(len(numbers))]].Pegs()
			should.Hold(t, b.SameParity(start, p), "%s: jumps change the parity", b.Name())
		}
	}
	for name, want := range map[string]string{English: "d1 a4 d4 g4 d7", French: ""} {
		b := Named(name)
		center := must.Get(b.Center())(t)
		var ends []string
		for hole := range b.Holes() {
			if b.SameParity(b.Full()&^(1<<center), 1<<hole) {
				ends = append(ends, b.HoleName(hole))
			}
		}
		should.Equal(t, strings.Join(ends, " "), want, "%s: ends", name)
	}
}

func jumpsOf(t *testing.T, b *Board, p Position, text string) (jumps []Jump) {
	t.Helper()
	for move := range strings.FieldsSeq(text) {
		names := strings.Split(move, "-")
		for i, name := range names[1:] {
			j := must.Get(b.FindJump(p, hole(t, b, names[i]), hole(t, b, name)))(t)
			p ^= j.Pegs()
			jumps = append(jumps, j)
		}
	}
	return jumps
}

// TestDraw compares drawings with what they should be, those in SVG with golden files.
func TestDraw(t *testing.T) {
	b, p := parsed(t, "-ooo\noo.o")
	should.Equal(t, b.Draw(p), "   a b c d\n1    o o o\n2  o o . o\n")
	moves := Moves(jumpsOf(t, b, p, "a2-c2 d2-b2"))
	must.Hold(t, len(moves) == 2 && b.MoveName(moves[0]) == "a2-c2", "%v", moves)
	should.Equal(t, b.DrawMoves(p, moves, 80), "1. a2-c2  2. d2-b2\n  o o o     o o o\n. . o o   . o . .\n")
	should.Equal(t, b.DrawMoves(p, moves, 10), "1. a2-c2\n  o o o\n. . o o\n\n2. d2-b2\n  o o o\n. o . .\n")
	line, p := parsed(t, "oo.o.oo")
	long := Moves(jumpsOf(t, line, p, "a1-c1-e1"))
	should.Not(t, len(long) != 1 || line.MoveName(long[0]) != "a1-c1-e1" || After(p, long[0]) != 0b1110000, "%v leads to %b", long, After(p, long[0]))

	b = Named(English)
	start := b.Full() &^ (1 << must.Get(b.Center())(t))
	for name, moves := range map[string][]Move{"position.svg": nil, "game.svg": Moves(jumpsOf(t, b, start, "d2-d4 b3-d3 e3-c3 e1-e3 e4-e2"))} {
		got := b.SVG(start, moves)
		must.XML(t, got)
		golden.Check(t, filepath.Join("testdata", name), []byte(got))
	}
}

// TestFrench plays the solutions of testdata: of all games on the French board with one hole empty at the start and one
// peg left, those can be solved that sums modulo 2 do not exclude, and no others. 16 of the 37 starts can be solved.
func TestFrench(t *testing.T) {
	b := Named(French)
	solved := map[[2]int]bool{} // start and end
	for line := range strings.Lines(string(must.Read(t, "testdata/french.txt"))) {
		names := strings.Fields(line)
		if names[0] == "#" {
			continue
		}
		start, end := hole(t, b, names[0]), hole(t, b, names[1])
		p := b.Full() &^ (1 << start)
		for _, j := range jumpsOf(t, b, p, strings.Join(names[2:], " ")) {
			p ^= j.Pegs()
		}
		should.Not(t, p != 1<<end, "%s to %s: %#x is left", names[0], names[1], p)
		for _, m := range b.Symmetries() {
			solved[[2]int{int(m[start]), int(m[end])}] = true
		}
	}
	starts := map[int]bool{}
	for start := range b.Holes() {
		for end := range b.Holes() {
			same := b.SameParity(b.Full()&^(1<<start), 1<<end)
			should.Not(t, same != solved[[2]int{start, end}],
				"%s to %s: possible by parity %v, solved %v", b.HoleName(start), b.HoleName(end), same, !same)
			if same {
				starts[start] = true
			}
		}
	}
	should.Equal(t, len(starts), 16, "starts that can be solved")
}

func hole(t *testing.T, b *Board, name string) int { t.Helper(); return must.Get(b.Hole(name))(t) }
