// Package halfboard is the fast awari engine: it computes the exact score of
// every position of a layer from the layers below it, working on halves of the
// board instead of boards.
//
// # A layer is a matrix of tiles
//
// For a fixed opponent half B the boards (A, B) of a layer are one run of the
// colex order (colex.Halves), so the positions with a seeds in the mover's half
// form a matrix: a row for each B, a column for each A. Halves are cut into
// slabs of consecutive ranks (geometry.go); a slab of A times a slab of B is a
// tile, the unit of work. After a move some pit of the mover is empty, hence
// only rows whose B has an empty pit ("open" rows) are ever read while the
// scores are searched; the "full" rows are filled in once at the end.
//
// # One column of a tile
//
// A quiet move (one that captures nothing) from (A, B) leads to (A', B+c) with
// the sides changed, where A' and c depend on A and the pit only. So for fixed A
// the scores of all children, in the order of B, are the entries of row A' of
// another tile, picked by a bit mask: a compress. Masks depend on c and the slab
// of B only (patterns.go) and are shared by all A and all layers. The least of
// the moves, and of what captures offer (capture.go), is the negated score. It
// comes out along B and is stored along A: a transposition (dense.go).
//
// # The fixpoint
//
// All scores start at 0 and are recomputed from their children, in any order
// and from any mixture of old and new values, until nothing changes: scores only
// move away from 0, and the fixpoint is the value of the game with endless play
// worth 0. So workers need no common snapshot: one computes a new version of a
// tile in a fresh buffer and swaps it in, readers hold the version they started
// with (tile.go). A sweep goes over the tiles in the order in which scores travel
// (order.go) and leaves alone columns of which no child changed. When sweeps
// change little, the rest is settled position by position (sparse.go).
//
// # Stages
//
// Engine.Solve runs: capture pass, dense sweeps, sparse phase, full rows. The
// result is read in colex order through Layer (read.go).
package halfboard
