package pijersi

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
)

// Errors about texts.
var (
	// ErrCode reports what is not a code.
	ErrCode = errors.New("not a code")
	// ErrCubes reports what is not the cubes of a set-up.
	ErrCubes = errors.New("not the cubes of a set-up")
	// ErrText reports what is a set-up in no way of writing it.
	ErrText = errors.New("not a set-up")
)

// CodeLen is the number of letters of the code of a line-up.
const CodeLen = 6

// letters of the cubes of each player, by kind.
var letters = [2]string{"RPSW", "rpsw"}

// separator stands between white's line-up and black's.
const separator = '-'

// text can be read: a line of a stream needs no copy.
type text interface{ string | []byte }

// alphabet has the digits of base 26 of each player.
var alphabet = [2]string{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"}

// colourOf returns the player who writes with a letter: White for all but small letters.
func colourOf(letter byte) Colour {
	if 'a' <= letter && letter <= 'z' {
		return Black
	}
	return White
}

// AppendCode appends the six letters of the code of l, small ones for black.
func (l Lineup) AppendCode(dst []byte, colour Colour) []byte {
	var code [CodeLen]byte
	for i := CodeLen - 1; i >= 0; i-- {
		code[i] = alphabet[colour][l%26]
		l /= 26
	}
	return append(dst, code[:]...)
}

// AppendCubes appends the letters of the 14 cubes, small ones for black.
func (l Lineup) AppendCubes(dst []byte, colour Colour) []byte {
	a := letters[colour]
	var cubes [Cubes]byte
	for i := range cubes {
		cubes[i] = a[l>>(2*i)&3]
	}
	return append(dst, cubes[:]...)
}

// AppendCode appends the code of s.
func (s Setup) AppendCode(dst []byte) []byte { return s.append(dst, Lineup.AppendCode) }

// AppendCubes appends the letters of the cubes of s.
func (s Setup) AppendCubes(dst []byte) []byte { return s.append(dst, Lineup.AppendCubes) }

// Code returns the code of s.
func (s Setup) Code() string { return string(s.AppendCode(nil)) }

// CubeText returns the letters of the cubes of s.
func (s Setup) CubeText() string { return string(s.AppendCubes(nil)) }

// append appends the line-ups that the form has.
func (s Setup) append(dst []byte, lineup func(Lineup, []byte, Colour) []byte) []byte {
	switch s.Form {
	case Mirror:
		return lineup(s.White, dst, White)
	case BlackMirror:
		return lineup(s.Black, dst, Black)
	}
	return lineup(s.Black, append(lineup(s.White, dst, White), separator), Black)
}

// ParseCode reads a code: six capital letters for white, which black mirrors; six
// small ones for black, which white mirrors; or white's, a hyphen and black's. It
// fails with ErrCode for anything else, codes above WPKVWP included. Legality is
// not checked.
func ParseCode[T text](code T) (Setup, error) {
	s, ok := parse(code, CodeLen, readCode)
	if !ok {
		return Setup{}, explainCode(string(code))
	}
	return s, nil
}

// ParseCubes reads the letters of 14 cubes, in capitals or small, or of white's, a
// hyphen and black's. It fails with ErrCubes for anything else. Legality is not
// checked.
func ParseCubes[T text](cubes T) (Setup, error) {
	s, ok := parse(cubes, Cubes, readCubes)
	if !ok {
		return Setup{}, fmt.Errorf("%w: %s", ErrCubes, explain(string(cubes), Cubes, &letters))
	}
	return s, nil
}

// parse reads one or two line-ups of width letters.
func parse[T text](t T, width int, read func(t T, from int, colour Colour) (Lineup, bool)) (s Setup, ok bool) {
	switch {
	case len(t) == width:
		colour := colourOf(t[0])
		l, ok := read(t, 0, colour)
		return Setup{l, l, Form(colour)}, ok
	case len(t) == 2*width+1 && t[width] == separator:
		white, ok := read(t, 0, White)
		black, also := read(t, width+1, Black)
		return Setup{white, black, Total}, ok && also
	}
	return Setup{}, false
}

// readCode reads the code of a line-up that begins at from.
func readCode[T text](t T, from int, colour Colour) (Lineup, bool) {
	number := Lineup(0)
	for i := from; i < from+CodeLen; i++ {
		digit := t[i] - alphabet[colour][0]
		if digit >= 26 {
			return 0, false
		}
		number = number*26 + Lineup(digit)
	}
	return number, number < Lineups
}

// readCubes reads the letters of a line-up that begin at from.
func readCubes[T text](t T, from int, colour Colour) (Lineup, bool) {
	number := Lineup(0)
	for i := range Cubes {
		kind := strings.IndexByte(letters[colour], t[from+i])
		if kind < 0 {
			return 0, false
		}
		number |= Lineup(kind) << (2 * i)
	}
	return number, true
}

// explainCode says what is wrong with a code.
func explainCode(code string) error {
	why := explain(code, CodeLen, &alphabet)
	if why == "" {
		why = fmt.Sprintf("%s is beyond %s, all wises", quote(code), Setup{White: Lineups - 1}.Code())
	}
	return fmt.Errorf("%w: %s", ErrCode, why)
}

// explain says why t is not one or two line-ups of width letters, "" if it is.
func explain(t string, width int, alphabets *[2]string) string {
	parts := strings.Split(t, string(separator))
	if len(parts) > 2 {
		return fmt.Sprintf("%s has %d hyphens, at most one stands between white and black", quote(t), len(parts)-1)
	}
	for i, part := range parts {
		if n := utf8.RuneCountInString(part); n != width {
			return fmt.Sprintf("%s: expected %s, got %d", quote(part), english.Plural(width, "letter", ""), n)
		}
		colour := colourOf(part[0])
		if len(parts) == 2 {
			colour = Colour(i)
		}
		for at, r := range []rune(part) {
			if !strings.ContainsRune(alphabets[colour], r) {
				return fmt.Sprintf("letter %d of %q is not one of %s's, %s", at+1, part, colour, alphabets[colour])
			}
		}
	}
	return ""
}

// quote returns t for a message, cut when it is long.
func quote(t string) string {
	if len(t) > 80 {
		t = t[:80] + "..."
	}
	return fmt.Sprintf("%q", t)
}

// Parse reads a set-up in any of the three ways of writing it: cubes, code or cells. It
// fails with ErrCubes, ErrCode or ErrCells, or with ErrText when it cannot even tell which
// of them is meant.
func Parse[T text](t T) (Setup, error) {
	switch {
	case len(t) > 0 && t[0] == '{':
		return ParseCells(t)
	case len(t) == CodeLen, len(t) == 2*CodeLen+1:
		return ParseCode(t)
	case len(t) == Cubes, len(t) == 2*Cubes+1:
		return ParseCubes(t)
	}
	return Setup{}, fmt.Errorf("%w: %s is neither a code of %d letters, nor %d cubes, nor cells in braces", ErrText, quote(string(t)), CodeLen, Cubes)
}
