// Package exchange writes solved layers in formats that other programs read (Write), and
// turns such files back into layers (Import).
//
//	colex  one signed byte a score, in colex order
//	npy    the same behind the header of a NumPy array
//	csv    a line for each board, in colex order: its pits and its score
//	wdl    two bits for the sign of a score: who gets more of what is left
//	vu     the published awari score database: one signed byte a score
//
// docs/format/export.md describes them. Any of them may be packed into one lz4 or zstd frame
// (package frame).
//
// # The order of the published database
//
// Its file scores.n holds the boards of n seeds whose opponent's half (pits Q..P-1) has an
// empty pit, in lexicographic order of (pit P-1, ..., pit 0). Colex order is the same
// order backwards: among boards with as many seeds the one with more seeds in the last pit
// where they differ comes first in colex order (package colex), and last in lexicographic
// order with the last pit most significant. So a vu file is the layer in colex order, read
// from its end, without the boards whose opponent half is full.
//
// The halves of the opponent divide a layer into rows: runs of consecutive ranks. Full boards
// are thus whole rows, and a piece of a layer becomes a piece of the file by dropping some
// runs of bytes and reversing the rest: no memory but the piece, no search, any number of
// workers.
//
// The place of a row in the file follows from the number of full boards before it
// (shape.fullBefore). Taking a seed from each pit of the opponent maps the full boards of n
// seeds to all boards of n-Q seeds, and keeps their order. So there are size(n-Q) of them, a
// file has size(n) - size(n-Q) scores, and ranks in layer n-Q number full boards.
//
// # Full boards
//
// The published database leaves them out because no move leads to one: the pit that was
// played is empty, on every lap. For the same reason their children are not full. So an import
// works out their scores from the file and the layers below, by the plain
// rules of layers/awari (full.go).
package exchange
