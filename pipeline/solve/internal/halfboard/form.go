package halfboard

import (
	"grenier/kernels/cpu"
	"grenier/kernels/window"
	"grenier/layers/awari"
)

// Widths are the bits that a score can take in memory, the most first. With 8 a layer is in
// memory in one piece.
var Widths = []int{8, window.Six.Bits, window.Four.Bits, window.Two.Bits}

// ThinValues is the number of values of a thin window.
var ThinValues = window.Eight.Values

// Form says how an engine solves a layer.
type Form struct {
	Bits   int    // of a score in memory, one of Widths
	Bytes  uint64 // memory that sweeps take: scores, in one piece offers too
	Passes int    // through the layers below, while captures are computed
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
		return Form{8, uint64(layoutOf(q, n).total()), 1}, nil
	}
	return Form{codes.Bits, uint64(codesBytes(q, n, codes.Bits)), o.passes(q, n)}, nil
}

// ThinShare returns the largest share of the scores of open rows, those that fill up lines included,
// that a thin window of the layer of n seeds can search in the memory of codes of the given
// bits. It is below 0 if there is no such share.
func ThinShare(game awari.Game, n, bits int) float64 {
	q := game.Half()
	scores, t := layoutOf(q, n).scores, thinBlocks{}
	for mover := range n + 1 {
		rows, panels := rowsOf(q, n-mover)[openRows], groups(columnsOf(q, mover))
		t.add(groups(rows)*panels, rows*panels)
	}
	return float64(codesBytes(q, n, bits)-t.most(0)) / float64(scores)
}

// WorthThin reports whether the window with the given base of the layer of n seeds, which is not the
// first, is thin if memory allows, when other codes have the given bits, with kernels for AVX-512.
func WorthThin(n, base, bits int) bool {
	o := Options{Bits: bits}
	return worthThin(cpu.AVX512, o.codes(), base, n)
}

// windowsFrom returns the number of windows of some codes from a base on, for scores up to n.
func windowsFrom(base, n int, codes *window.Codes) int {
	return (max(n-base, 0) + codes.Values - 1) / codes.Values
}

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
