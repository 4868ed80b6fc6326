// Package halfboard is the fast awari engine: it computes the exact score of
// every position of a layer from the layers below it, working on halves of the
// board instead of boards. It is three rooms, each of which knows only those before it: board lays out a layer and
// computes captures, fixpoint sweeps, stream works with files. This package puts them together: Engine.Solve takes the
// form that fits into memory (memory.go, form.go), runs the stages and returns a Layer.
//
// # A layer is a row of matrices
//
// A position is a pair of halves, A of the player to move and B of the opponent.
// The positions with a seeds in A form a matrix: a column for each A, a
// row for each B, both in colex order (board). 64 columns are a panel, 64 rows
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
// only and are shared by all A and all layers, under all rule sets: also where a capture of all
// seeds of the opponent takes nothing, since it is one if it would empty B+c. Which rows the columns
// of a panel read is listed once for each layer. The least of the moves,
// and of the best capture value (the offer), is the negated score. It
// comes out along B and is stored along A: a transposition, which also finds what has
// changed (kernels/transpose).
//
// # The fixpoint
//
// All scores start at 0 and are recomputed from their children, in any order and from
// any mixture of old and new values, until nothing changes: scores only move away
// from 0, and the fixpoint is the value of the game with endless play worth 0
// (Knaster and Tarski). This is asynchronous value iteration: there is one copy of the scores,
// updated in place, and workers need no common snapshot.
//
// A sweep (fixpoint) goes over the tiles, about 1024 x 1024 positions each,
// in the order in which scores travel, and computes what is out of date.
// The first sweeps change so much that a changed tile makes all of the tiles that
// read it out of date. Later ones are sparse: each changed score is traced back to
// the columns of blocks that read it, which are marked, and nothing else is computed.
// When that begins depends on the measured cost of both.
//
// # Stages
//
// Engine.Solve runs: capture pass, in one round, dense sweeps, sparse sweeps, full
// rows. The result is read in colex order through Layer. Memory for scores is a
// region outside the Go heap.
//
// From time to time offers and scores are written to disk while sweeps go on (stream), compressed as bit
// planes: sweeps can resume from any scores found before.
//
// # Layers that do not fit into memory
//
// Then scores are not bytes but codes of 6, 4, 3 or 2 bits (kernels/window), and a layer is solved
// window by window (stream). The window with base b and v values shows a score s as
// sign(s) * min(max(|s|-b, 0), v). Clipping is odd and monotone: it commutes with negation
// and with the least of several scores, so it maps the run of sweeps from 0 to the run from 0 with
// clipped captures (docs/sources.md, "The fixpoint and endless play"). What sweeps find there
// is therefore the clipped score, and the windows of bases 0, v, 2v, ... add up to
// the score. The open rows of a whole layer are in memory at once, so sweeps are as
// above; only the kernels know how wide a score is.
//
// A code is a clipped score and its floor, what the best capture gives at least. So sweeps
// need no offers: a score never falls below its floor, and above 0 it is its own.
//
// The widest codes that fit into memory are used (memory.go): wide ones need
// fewer windows. When few scores are at an end of a window, -v or v, all that come after it can be
// searched at once, in all memory that is left for scores: a thin window has a mask for
// each line, and codes of 8 bits, which show 20 values, for these scores alone. Only the kernels and
// those who begin it know that a window is thin. The stages are:
//
//   - Capture values are computed once, before scores take memory, in rounds: of as many
//     panels at a time as fit; a round goes once through what these capture in the lower layers,
//     with a few pieces of each in memory (board). They go to streams in the work
//     directory, strip by strip: up to 1024 rows of a panel.
//   - For each window: useThin makes it thin if that fits; which scores to search it sees from
//     the codes in memory, or reads from the digits of the window before. turnAll reads the capture values of open rows once and makes codes of
//     them. Sweeps as above bring these to the fixpoint. storeWindow reads the capture values
//     of full rows once, computes these rows, and writes the clipped scores of all rows, as
//     digits, to streams.
//   - When the layer is sealed, Layer adds up the digits of all windows: first of the
//     sample (Options.Sample), then slab by slab, an eighth of the ranks at a time.
//
// A score that is not at an end of a window, -v or v, is 0 in all windows after it. Columns
// of blocks without a score at an end are not computed again (Alive, in board), and
// a window is the last one if no score is at an end. Where that makes later windows read enough less
// (WorthPruning, in stream), the streams of capture values are written again (passSegment): with what is left of the values
// beyond the base (window.Clip), and without those that no later window needs, which packs better. Those of open rows are
// written when a window begins, without what the one before has settled (Prune); those of full rows when it is stored, without
// what is within its base (PruneZeros): so it can be found again, since streams are stored before what it finds.
//
// Passes over capture values or digits are pipelines of three stages: one goroutine reads,
// several work, one writes (io/crew). A complete stream is synced to disk in
// the background; only the next one waits for that (publish, in stream).
//
// All streams are also checkpoints of an interrupted layer: windows that are
// stored are not searched again, segments of captures not computed again. Inside a window that takes
// longer than the time between checkpoints, codes are checkpointed too: any scores found are a valid start. Streams of earlier runs are read through first; what is damaged is
// computed again.
package halfboard
