// Package halfboard is the fast awari engine: it computes the exact score of
// every position of a layer from the layers below it, working on halves of the
// board instead of boards.
//
// # A layer is a row of matrices
//
// A position is a pair of halves, A of the player to move and B of the opponent.
// The positions with a seeds in A form a matrix (matrix.go): a column for each A, a
// row for each B, both in colex order (geometry.go). 64 columns are a panel, 64 rows
// a chunk, and the 64 x 64 scores where they meet a block. After a move some pit of
// the mover is empty, hence only rows whose B has an empty pit ("open" rows) are ever
// read while the scores are searched; the "full" rows are filled in once at the end.
//
// # One column of a block
//
// A quiet move (one that captures nothing) from (A, B) leads to (A', B+c) with the
// sides changed, where A' and c depend on A and the pit only. So for fixed A the
// scores of all children, in the order of B, are entries of row A' of another matrix,
// picked by bit masks: a compress (kernels/compress). The masks depend on c and B
// only (patterns.go) and are shared by all A and all layers; which rows the columns
// of a panel read is listed once for each layer (moves.go). The least of the moves,
// and of what captures offer (capture.go), is the negated score. It comes out along B
// and is stored along A: a transposition, which also tells what has changed
// (kernels/transpose).
//
// # The fixpoint
//
// All scores start at 0 and are recomputed from their children, in any order and from
// any mixture of old and new values, until nothing changes: scores only move away
// from 0, and the fixpoint is the value of the game with endless play worth 0
// (Knaster and Tarski). So there is one copy of the scores, replaced in place, and
// workers need no common snapshot.
//
// A sweep (sweep.go) goes over the tiles, about 1024 x 1024 positions each (grid.go),
// in the order in which scores travel (order.go), and computes what is out of date.
// The first sweeps change so much that a changed tile makes all of the tiles that
// read it out of date. Later ones are sparse: each changed score is traced back to
// the columns of blocks that read it, which are marked, and nothing else is computed.
// When to begin with that is decided by what both have been measured to cost
// (costs.go).
//
// # Stages
//
// Engine.Solve runs: capture pass, dense sweeps, sparse sweeps, full rows. The result
// is read in colex order through Layer (read.go). Memory is one region, taken once
// (memory.go).
//
// Between sweeps offers and scores can be written to disk (keep.go), compressed as bit
// planes: any scores that were found once are a start to go on from.
//
// # Layers that do not fit into memory
//
// Then (paged.go) tiles are small, and most of them are away: packed (pack.go) in a work
// file, their pages given back to the system (paging_linux.go). Addresses stay the same,
// so the kernels and all of the above do not know.
//
// A sweep goes over groups: as many tiles that have something to do, in the order of
// sweeps, as fit into memory with all that they read. A group is held (store.go) while
// workers go through it again and again until little changes, since that costs much less
// than to fetch it. Then the next one is held, of which much is in memory already and
// some has been read ahead. Which tiles a tile reads is known exactly (reads, in grid.go);
// tiles that agree in the seeds of the last pits read tiles that agree again, so a
// group reads about three times what it computes.
//
// Marks of all blocks stay in memory, a bit for each column, and take the place of lists
// of changes: they are merged as they are made, and a tile that is away is not touched
// before its turn. Offers are read through once a sweep, packed, and unpacked block by
// block. Lower layers are read through a cache of pieces (pieces.go).
//
// Any mixture of versions of tiles will do, so at any moment between two groups the
// work file and a list of what is where (checkpoint.go) are enough to go on from.
package halfboard
