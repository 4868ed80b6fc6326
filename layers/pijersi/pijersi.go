// Package pijersi reads and writes set-ups of the board game Pijersi: how the 14
// cubes of each player stand at the start (document 003, "mise en place").
//
// # Cubes
//
// The board has seven rows, a to g from white's side to black's, of 6 and 7 cells
// in turn. White's cubes fill rows a and b; on b4 stand two, one on top of the
// other. Black's fill g and f, turned by half a circle. The document numbers the
// cubes of a player from 0 to 13:
//
//	white  a1 a2 a3 a4 a5 a6 b1 b2 b3 b4 b4t b5 b6 b7
//	black  g6 g5 g4 g3 g2 g1 f7 f6 f5 f4 f4t f3 f2 f1
//
// where t is the cube on top. Each is a rock, paper, scissors or wise: R, P, S, W
// in white's letters, r, p, s, w in black's. Those of one player are a Lineup; with
// cube i as digit i in base 4, it is the number that the document encodes
// (docs/sources.md: the one reading that gives all its examples).
//
// # Texts
//
// A Setup is both line-ups. It is read and written in three ways:
//
//	cubes  RPSRPSPSRWWSRP               in the order above
//	code   GRXLLS                       the number in base 26, six letters
//	cells  {'a1': 'R', 'a2': 'P', ...}  as the document prints its examples
//
// One line-up stands for both, as in these examples, when black mirrors white;
// with a hyphen between white's and black's they are independent: GRXLLS-grxlls.
//
// # Legal set-ups
//
// Any 4^14 line-ups have a code. A real one is a shuffle of four rocks, four
// papers, four scissors and two wises, and a wise never stands on another cube but
// a wise: a stack that is shuffled so is turned over. Count line-ups are legal;
// Rank numbers them, in the order of their codes.
package pijersi

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// Cube is a kind of cube.
type Cube uint8

// The kinds, numbered as in the document.
const (
	Rock Cube = iota
	Paper
	Scissors
	Wise
)

var cubeNames = [4]string{"rock", "paper", "scissors", "wise"}

// String returns the name.
func (c Cube) String() string { return cubeNames[c] }

// Colour is a player.
type Colour uint8

// The players.
const (
	White Colour = iota
	Black
)

// String returns the name.
func (c Colour) String() string { return [2]string{"white", "black"}[c] }

// Numbers of the cubes of the stack.
const (
	Bottom = 9
	Top    = 10
)

const (
	// Cubes is the number of cubes of a player.
	Cubes = 14
	// Lineups is the number of line-ups, legal or not.
	Lineups = 1 << (2 * Cubes)
)

// legalCounts says how many cubes of each kind a player has.
var legalCounts = [4]int{4, 4, 4, 2}

// Lineup is the cubes of one player, 0 to Lineups-1: cube i is digit i in base 4.
type Lineup uint32

// Cube returns cube i, 0 to 13.
func (l Lineup) Cube(i int) Cube { return Cube(l >> (2 * i) & 3) }

// counts returns how often each kind occurs.
func (l Lineup) counts() [4]int {
	const even = 0x5555555
	low, high := uint32(l)&even, uint32(l)>>1&even
	p, s, w := bits.OnesCount32(low&^high), bits.OnesCount32(high&^low), bits.OnesCount32(low&high)
	return [4]int{Cubes - p - s - w, p, s, w}
}

// badStack says that a wise stands on another cube.
func (l Lineup) badStack() bool { return l.Cube(Top) == Wise && l.Cube(Bottom) != Wise }

// Legal reports whether a game can begin with l.
func (l Lineup) Legal() bool { return l.counts() == legalCounts && !l.badStack() }

// ErrIllegal reports a line-up that no game begins with.
var ErrIllegal = errors.New("not legal")

// Check fails with ErrIllegal unless l is legal, and says everything that is
// wrong with it.
func (l Lineup) Check(colour Colour) error {
	if l.Legal() {
		return nil
	}
	var wrong []string
	for kind, n := range l.counts() {
		if n != legalCounts[kind] {
			wrong = append(wrong, fmt.Sprintf("%d %c, expected %d", n, letters[colour][kind], legalCounts[kind]))
		}
	}
	if l.badStack() {
		wrong = append(wrong, fmt.Sprintf("a wise on a %s on %s", l.Cube(Bottom), stackCell[colour]))
	}
	return fmt.Errorf("%w: %s has %s", ErrIllegal, colour, strings.Join(wrong, "; "))
}

// stackCell is where the stack of a player is.
var stackCell = [2]string{"b4", "f4"}

// Form is how a set-up is written as cubes or code.
type Form uint8

const (
	// Mirror is one line-up in white's letters, which black mirrors.
	Mirror Form = iota
	// BlackMirror is one line-up in black's letters, which white mirrors.
	BlackMirror
	// Total is white's line-up, a hyphen and black's.
	Total
)

// String returns the name.
func (f Form) String() string { return [3]string{"mirror", "black mirror", "total"}[f] }

// Setup is the cubes of both players. In the mirror forms they are equal.
type Setup struct {
	White, Black Lineup
	Form         Form
}

// Check fails with ErrIllegal unless s is legal, and says everything that is wrong
// with it.
func (s Setup) Check() error {
	switch s.Form {
	case Mirror:
		return s.White.Check(White)
	case BlackMirror:
		return s.Black.Check(Black)
	}
	white, black := s.White.Check(White), s.Black.Check(Black)
	if white != nil && black != nil {
		return fmt.Errorf("%w, %s", white, strings.TrimPrefix(black.Error(), ErrIllegal.Error()+": "))
	}
	return errors.Join(white, black)
}
