package stream

import "grenier/kernels/window"

// AllCodes are the codes of all widths, those that need the fewest windows first.
var AllCodes = []*window.Codes{window.Six, window.Four, window.Three, window.Two}

// sequence is the windows of a layer, up to the one in progress.
type sequence struct {
	Codes    *window.Codes // of the window in progress
	base     int           // likewise
	found    []foundIn     // what the windows before it found
	all      bool          // nothing was at an end of the last of them
	ends     int64         // scores at an end of the window before
	openEnds int64         // of these, in open rows
	endsAt   int           // base of the window after it
}

// foundIn names the streams of a window.
type foundIn struct {
	base  int
	codes *window.Codes
}

// signed reports whether the digits of the window are signed: in others the windows before tell
// the signs.
func (f foundIn) signed() bool { return f.base == 0 }

// line returns the bytes of a line of digits.
func (f foundIn) line() int { return f.codes.DigitLine(f.signed()) }

// now is the window in progress.
func (s *sequence) now() foundIn { return foundIn{s.base, s.Codes} }

// add advances to the window after f: more says whether there can be one.
func (s *sequence) add(f foundIn, more bool) {
	s.found = append(s.found, f)
	s.base += f.codes.Values
	s.all = !more
}

// complete reports whether all windows of a layer of n seeds are found.
func (s *sequence) complete(n int) bool { return s.all || s.base >= max(1, n) }

// WindowsFrom returns the number of windows of some codes from a base on, for scores up to n.
func WindowsFrom(base, n int, codes *window.Codes) int {
	return (max(n-base, 0) + codes.Values - 1) / codes.Values
}
