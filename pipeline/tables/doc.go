// Package tables answers questions about solved awari positions: it opens a run
// directory for reading and looks up scores. It is the way into the tables for Go
// programs; nothing else is needed but package awari, for boards and moves.
//
// # A first program
//
// A run directory is what "grenier awari solve" fills (or solve.Solve, see the
// example). Open it, describe a board, ask:
//
//	t, err := tables.Open("data/awari", tables.Options{Family: cpu.Best()})
//	if err != nil {
//		return err
//	}
//	defer t.Close()
//	board := awari.Board{0, 0, 0, 0, 0, 1, 1} // the mover's pits first
//	score, err := t.Score(board)              // 2: the mover will take both seeds
//	probe, err := t.Probe(board)              // and what each of his moves leads to
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
// moves that make progress.
//
// # Many boards
//
// One look-up decodes a block of up to 65,536 scores unless it is in the cache.
// For many boards Scores and Probes are faster: they sort the boards, decode each block
// once, on all CPUs, and stop when their context ends. Read returns scores
// of a layer in the order of their ranks, for statistics over all boards; Unrank
// of awari.Space returns the board of a rank. Layers returns the statistics in
// the manifest.
//
// # Concurrency, memory, errors
//
// A *Tables is safe for concurrent use, so a program opens a directory once. It is
// a snapshot: it knows the layers that the manifest listed when it was opened,
// whatever a solver adds later. Layer files are opened when they are first
// needed, and compared with the manifest then (layer.go). Decoded blocks of 64 KiB
// are kept in a cache of bounded size (cache.go, Options.CacheBytes); a score in
// the cache costs no allocation and no system call. Close may be called at any
// time; calls under way end well or fail with os.ErrClosed.
//
// No wrong score is given out silently. A block that fails its checksums, a file
// that is not the one listed, or one that is missing is an error that matches
// corrupt.ErrCorrupt, and so is a score that disagrees with the moves of its
// board, which Probe and Probes compare.
//
// # Tables on a web server
//
// OpenRemote opens a run directory that a web server hands out as plain files.
// Everything else is the same; what the network costs is in docs/remote.md.
//
//	d, err := remote.Open(ctx, "https://host/tables/", remote.Options{})
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	t, err := tables.OpenRemote(d, tables.Options{Family: cpu.Best()})
//
// # Other languages
//
// docs/format describes every byte of the files; docs/python is a reader in
// Python written from it.
package tables
