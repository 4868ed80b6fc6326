// Package distance computes how far captures are: a table that wins.
//
// Scores alone do not win. A winner who plays any move that keeps the score may play in cycles for ever, and endless
// play is worth 0. With distances he sees which move makes progress.
//
// # Distance
//
// A move keeps the score of a position if what it captures minus the score of its child is that score. The mover of a
// position with a score above 0 is the winner, that of one below 0 the loser. The distance is the
// number of plies to the next capture, by either player, or to the end of the game, when both play only moves that keep the score, the
// winner hurries and the loser delays:
//
//	winner to move: 1 if a capture keeps the score, otherwise
//	                1 + the least distance after a quiet move that keeps it
//	loser to move:  1 if no quiet move keeps the score, otherwise
//	                1 + the greatest distance after a quiet move that keeps it
//
// So a loser who can only capture has the distance 1. So has one without a move: the end of the game counts as
// a ply, and his opponent, who moved there, had 2. A move that takes all seeds because each leaves the opponent none (rules awari) is a capture. A
// position worth 0 has no distance: nobody can force anything. Package line (pipeline/play/line) has the same definition, and
// proves that distances are finite if scores are grounded, which package prove (pipeline/check/prove) proves.
//
// The equations have one finite solution. If two differed, take a position where they do and the smaller of its two values is least. In the solution that has this value, it
// follows from children with smaller values, on which both agree: so the other solution has the same value there, or, for a winner, a still smaller one.
//
// # How it is done
//
// Captures matter in one place only: has a winner one that keeps the score? Package verify tells that while it compares all scores of the layer with
// their moves, in any memory (verify.Options.Backed). After that no lower layer is needed. The layer
// is then swept: sweep d gives the distance d to the positions that have
// it, when all smaller ones are known. A winner has it if a quiet move that keeps the score leads to a known distance, a loser
// if all of them do.
//
// Nobody goes and looks whether that is so: children are all over the layer, of which there may be no more than a piece in memory. A position whose
// distance becomes known writes letters to those from which quiet moves lead there, and the next sweep reads them, piece by piece (sweep.go). What is known of a position
// is two bytes (cells.go); they and the letters are in memory as far as there is room, and in files otherwise. So the least is some megabytes for any layer, and
// work is much the same with more memory.
//
// # Files
//
// The distances of a layer are a file of the form of layer files, whose "scores" are the plies (docs/format/distance-file.md). It names
// the hash of the scores, so one that was made from others is refused. A run writes layer after layer, and lists each in the manifest.
// One that is interrupted keeps what complete sweeps of the layer in progress have found, in the same form in work/ (keep.go). From
// there the next run goes on: all smaller distances are known, so neither scores nor captures are looked at again.
package distance
