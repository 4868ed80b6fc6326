package halfboard

import (
	"grenier/kernels/window"
	"grenier/layers/awari"
)

// Widths are the bits that a score can take in memory, the most first. With 8 a layer is in
// memory in one piece.
var Widths = []int{8, window.Six.Bits, window.Four.Bits, window.Two.Bits}

// Form says how an engine solves a layer.
type Form struct {
	Bits    int    // of a score in memory, one of Widths
	Windows int    // that the layer is solved in: 1 in one piece
	Bytes   uint64 // memory that sweeps take: scores, in one piece offers too
	Passes  int    // through the layers below, while captures are computed
}

// FormFor returns how an engine with the given workers solves the layer of n seeds within
// memory in bytes, 0 being no bound. It fails with ErrMemory if it cannot.
func FormFor(game awari.Game, n int, memory uint64, workers int) (Form, error) {
	o := Options{Memory: memory, Workers: workers}
	codes, err := o.form(game, n)
	if err != nil {
		return Form{}, err
	}
	q := game.Half()
	if codes == nil {
		return Form{8, 1, uint64(layoutOf(q, n).total()), 1}, nil
	}
	return Form{codes.Bits, windowsOf(n, codes), uint64(codesBytes(q, n, codes.Bits)), o.passes(q, n)}, nil
}

// windowsOf returns the number of windows of the layer of n seeds: it has scores of n, so
// no window can be left out.
func windowsOf(n int, codes *window.Codes) int { return max(1, (n+codes.Values-1)/codes.Values) }

// Padded returns the scores of the layer of n seeds, the padding of lines and blocks included:
// what each window reads and writes.
func Padded(game awari.Game, n int) uint64 {
	l := layoutOf(game.Half(), n)
	return uint64(l.offers[openRows] + l.offers[fullRows])
}

// passes returns about the number of rounds of captures; a round reads the layers below once.
func (o *Options) passes(q, n int) int {
	room := o.roomForOffers(q, n)
	return (offersBytes(q, n) + room - 1) / room
}
