// Package solitaire searches peg solitaire (package layers/solitaire) exactly: it counts the positions
// that jumps can lead to, layer by layer, the ones from which the game can still be solved,
// the solutions, and finds a solution with the fewest moves. Count and Solve are the entries;
// Result.Advise knows about every position that was reached.
//
// # Forward
//
// A layer is the positions with as many pegs, up to the symmetries that keep the holes where the last
// peg may be: all of them unless one hole is asked for. The next layer is the least images of the
// positions that jumps lead to, collected, sorted and put aside as runs (package runs),
// which a merge makes one list of.
//
// # Backward
//
// A position is winning if a jump leads to a winning one, or it is one peg in the right place.
// From the winning positions of a layer all jumps are undone; a result in the layer before, as the
// forward search has left it, is winning. Each winning position has a record of
//
//	the number of solutions from it and its images together,
//	the least number of moves to the end, and
//	the pegs that may begin with it.
//
// # Solutions
//
// A solution is a sequence of jumps. Let w(p) be their number from p, and W(P) the sum of w over
// a class P of symmetric positions. For each class Q that jumps of P lead to, as many pairs of a
// position of P and one of Q have a jump between them seen from either side. So
//
//	W(P) = sum over Q, and the jumps that lead to the least image of Q from a position in P, of W(Q)
//
// where no sizes of classes appear. In the end w(start) = W / size of its class. Numbers have as
// many words as the layer needs: none exceeds the sum of the layer below times the jumps.
//
// # Moves
//
// Jumps of one peg in a row are one move. Let g(p) be the least number of moves from p, and f(p,h)
// the same when the peg in h has just jumped and may go on for free. Then
//
//	g(p)   = 1 + least f(after a jump, where it ends)
//	f(p,h) = g(p) - 1 if a jump that attains this least value begins in h, else g(p):
//
// to go on from h saves the one move that it would be to begin there, and no more. So a number and
// a set of pegs for each position say everything, and one pass finds the least number of moves
// of all positions exactly; nothing has to be searched twice.
//
// # Why there is none
//
// Give each hole 0 or 1 so that the three holes of every jump have the sum 0 modulo 2. The sum over
// the pegs never changes then. If it differs from the sum of every position which would be a
// solution, there is none (parity). Otherwise the forward search is the proof: it
// has seen every position.
//
// # Memory
//
// A layer is kept in memory, or in a work file if there is a directory; Count in memory keeps two of
// them. Each complete layer is a checkpoint, from which the same search resumes (checkpoint.go), and
// from which Solve continues the search of Count.
package solitaire
