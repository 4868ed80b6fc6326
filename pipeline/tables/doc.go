// Package tables answers questions about solved awari positions: it opens a run
// directory for reading, on this machine or on a web server, and looks up scores. It is the way into the tables for Go
// programs, which need no other package: boards, games and errors of others have names here.
//
// # A first program
//
// A run directory is what "grenier awari solve" fills (or solve.Solve, see the
// examples). Open it, describe a board, ask:
//
//	t, err := tables.Open(ctx, "data/awari") // or "https://host/tables/"
//	if err != nil {
//		return err
//	}
//	defer t.Close()
//	board := tables.Board{0, 0, 0, 0, 0, 1, 1} // the mover's pits first
//	score, err := t.Score(ctx, board)          // 2: the mover will take both seeds
//	probe, err := t.Probe(ctx, board)          // and what each of his moves leads to
//
// A score is the number of seeds that the mover takes from now on minus those
// that the opponent takes, when both play perfectly; endless play is worth 0. The
// mover owns pits 0 to Q-1. A board that was typed in is read by Game.Parse, which
// checks it; t.Game() has the number of pits and the rules. All layers from 0 to
// t.MaxSeeds() are there; boards with more seeds fail with ErrUnsolved.
//
// # Playing on
//
// Probe gives the board after each legal move, seen by the next player, in
// Move.Child: probe that next. A move is best if its Value is that of the
// board. Where no best move captures, playing any of them may lead into a
// cycle, which is worth 0 whatever the score says; package line finds the best
// moves that make progress. It asks Distance, which knows how many plies the next capture
// is away if that was computed (package distance), and searches otherwise.
//
// # Many boards
//
// One look-up decodes a block of up to 65,536 scores unless it is in the cache.
// For many boards Scores and Probes are faster: they sort the boards and decode each block
// once, on all CPUs. ReadOne is for a score that is the only one of its block, and decodes a part of it.
// Boards iterates over a whole layer and decodes ahead; Read returns its scores alone, in the order of their
// ranks. Layers returns the statistics in the manifest.
//
// # Contexts
//
// Whatever may wait takes a context, for this call alone. When it ends, the call fails with its error: soon, if
// the tables are on a web server, even if that never answers; between two blocks, if they are on a disk. A score in the cache is
// returned in any case.
//
// # Concurrency, memory, errors
//
// A *Tables is safe for concurrent use, so a program opens a directory once. It is
// a snapshot: it knows the layers that the manifest listed when it was opened,
// whatever a solver adds later. Layer files are opened when they are first
// needed, and compared with the manifest then (layer.go). Decoded blocks of 64 KiB
// are kept in a cache of bounded size (CacheBytes). A score in
// the cache costs no allocation, no lock and no system call. Close may be called at any
// time; calls under way end well or fail with os.ErrClosed.
//
// No wrong score is given out silently. A block that fails its checksums, a file
// that is not the one listed, or one that is missing is an error that matches
// ErrCorrupt, and so is a score that disagrees with the moves of its
// board, which Probe and Probes compare.
//
// # Tables on a web server
//
// Everything is the same there; what the network costs is in docs/remote.md.
//
// # Other languages
//
// docs/format describes every byte of the files; docs/python is a reader in
// Python written from it.
package tables
