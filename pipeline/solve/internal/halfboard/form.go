package halfboard

import (
	"math"

	"grenier/kernels/colex"
	"grenier/kernels/cpu"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// Widths are the bits that a score can take in memory, the most first. With 8 a layer is in
// memory in one piece.
var Widths = []int{8, window.Six.Bits, window.Four.Bits, window.Three.Bits, window.Two.Bits}

// ThinValues is the number of values of a thin window.
var ThinValues = window.Eight.Values

// Form says how an engine solves a layer.
type Form struct {
	Bits   int    // of a score in memory, one of Widths
	Bytes  uint64 // memory that sweeps take: scores, in one piece offers too
	Passes int    // through the layers below, while captures are computed
	// Lower is about how often these layers are read, over all passes: each goes over what its
	// panels capture only.
	Lower float64
}

// FormFor returns how an engine with the given workers solves the layer of n seeds within
// memory in bytes, 0 being no bound; bits forces its form, as in Options. It fails with ErrMemory if it cannot.
func FormFor(game awari.Game, n int, memory uint64, workers, bits int) (Form, error) {
	o := Options{Memory: memory, Workers: workers, Bits: bits}
	codes, err := o.form(game, n)
	if err != nil {
		return Form{}, err
	}
	q := game.Half()
	if codes == nil {
		return Form{8, uint64(board.LayoutOf(q, n).Total()), 1, 1}, nil
	}
	passes := o.passes(q, n)
	return Form{codes.Bits, uint64(board.CodesBytes(q, n, codes.Bits)), passes, lowerRead(q, n, passes)}, nil
}

// ThinBytes returns the memory that a thin window of the layer of n seeds takes when it searches the
// given share of the scores of open rows, those that fill up lines included.
func ThinBytes(game awari.Game, n int, share float64) int {
	t := openBlocks(game.Half(), n)
	return t.Most(int(math.Ceil(share * float64(board.LayoutOf(game.Half(), n).Scores))))
}

// OpenScores returns the scores of open rows of the layer of n seeds, those that fill up lines included.
func OpenScores(game awari.Game, n int) int { return openBlocks(game.Half(), n).Lines * board.Side }

// openBlocks counts the blocks and lines of open rows.
func openBlocks(q, n int) (t stream.ThinBlocks) {
	for mover := range n + 1 {
		rows, panels := board.RowsOf(q, n-mover)[board.OpenRows], board.Groups(board.ColumnsOf(q, mover))
		t.Add(board.Groups(rows)*panels, rows*panels)
	}
	return t
}

// RoomForScores returns the bytes that scores of the layer of n seeds can take, which has codes of the
// given bits: what these take, or what memory leaves, with 0 for no bound.
func RoomForScores(game awari.Game, n, bits int, memory uint64, workers int) int {
	o := Options{Memory: memory, Workers: workers}
	return o.roomForScores(game.Half(), n, bits)
}

// WorthThin reports whether the window with the given base of the layer of n seeds, which is not the
// first, is thin if memory allows, when other codes have the given bits.
func WorthThin(family cpu.Family, n, base, bits int) bool {
	o := Options{Bits: bits}
	return stream.WorthThin(family, o.codes(), base, n)
}

// Shrunk returns how long streams of capture values are that serve a share of the scores, for those that serve all.
func Shrunk(share float64) float64 { return stream.Shrunk(share) }

// WorthPruning reports whether streams of capture values that serve a share of the scores are written again when another share
// is left, for the given number of later windows.
func WorthPruning(later int, serving, left float64) bool {
	return stream.WorthPruning(later, serving, left)
}

// Padded returns the scores of the layer of n seeds, the padding of lines and blocks included:
// what each window reads and writes.
func Padded(game awari.Game, n int) uint64 {
	l := board.LayoutOf(game.Half(), n)
	return uint64(l.Offers[board.OpenRows] + l.Offers[board.FullRows])
}

// Full returns the positions of full rows in the layer of n seeds, in which each pit of the opponent has a seed: they are
// computed once, since no move leads to them.
func Full(game awari.Game, n int) (positions uint64) {
	q := game.Half()
	for opponent := q; opponent <= n; opponent++ {
		mover := n - opponent
		positions += colex.MustBinomial(opponent-1, q-1) * colex.MustBinomial(mover+q-1, q-1)
	}
	return positions
}

// LowerRead returns about how often the layers below the layer of n seeds are read in the given number of passes.
func LowerRead(game awari.Game, n, passes int) float64 { return lowerRead(game.Half(), n, passes) }

// lowerRead returns about how often the layers below are read in the given number of passes. A pass needs rows of
// halves that end like its panels, and halves without seeds in the last pit, which nearly
// all passes need. It reads whole pieces, which have other rows too, the more of them the shorter rows
// are. Fitted to layers of 16 to 24 seeds, pieces of 8 to 570 rows and up to 10 passes (TestLongLowerRead).
func lowerRead(q, n, passes int) float64 {
	const each, byRows, byPasses = 0.75, 0.17, 0.83
	lower := max(n-2, 0)
	rows := board.PieceLength * float64(colex.MustBinomial(q+lower, lower)) / float64(colex.MustBinomial(2*q+lower-1, lower))
	none := float64(2*q-1) / float64(n+2*q-1)
	again := each * none * math.Pow(rows, byRows) * math.Pow(float64(passes-1), byPasses)
	return 1 + min(again, float64(passes-1))
}

// passes returns about the number of rounds of captures; a round goes once through the layers below.
func (o *Options) passes(q, n int) int {
	room := o.roomForOffers(q, n)
	return (offersBytes(q, n) + room - 1) / room
}
