// Package prove proves the scores of solved awari layers.
//
// Package verify looks at each position and its children: the score must be the
// best that the moves give. Scores of which that is true are locally optimal;
// they are a fixpoint of the equations of the game. There can be others than the
// true scores. Where play can go round in circles, positions can back each other:
// one says that it wins 3 because its child loses 3, and that one loses 3 because
// its only child, the first one again, wins 3. Nobody ever takes these seeds.
// Endless play is worth 0, so the true scores are the fixpoint in which every
// score other than 0 can be traced down to seeds that are taken.
//
// # The theorem
//
// Take one layer, whose lower layers have true scores. A move is quiet if it takes
// no seeds; its child is in the layer too. All else leaves the layer and has a
// known value: a move that takes seeds, or the end of the game. The grounded
// positions are the smallest set such that
//
//   - a position with a score k > 0 is grounded if a move that takes seeds gives k,
//     or if it has a quiet move to a grounded child with the score -k;
//   - a position with a score -k < 0 is grounded if all its quiet moves to children with
//     k, should there be any, lead to grounded ones.
//
// In the words of games on graphs these are attractors, a least fixpoint. Locally
// optimal scores of a layer are the true ones if and only if every position with a
// score other than 0 is grounded. docs/proof.md has the proof. In short: follow the
// scores, from a grounded position with a positive score to the child that grounds
// it. Your score in hand never shrinks, whatever the opponent plays, and while
// it is above 0 every ply makes it larger or goes to a position that was grounded earlier; so play
// cannot last for ever, and you get it. If it never was above 0, endless play is no
// loss either. Both players can do so; hence each gets the score, and no more.
//
// # How it is done
//
// Run has each layer verified (package verify): checksums, then local optimality.
// On the way verify tells which positive scores a move that takes seeds gives
// (verify.Options.Backed): these positions are marked. Passes over the layer (verify.Grounding) mark the others that are
// grounded, until all are, or one marks nothing (layer.go). In the end all scores are read again, and compared with the marks.
// No code is shared with the engine that solves layers.
//
// A layer that has distances needs no passes: they are a proof in themselves, of which verify compares every line (docs/proof.md).
//
// Marks, and what passes know of moves, are in memory as far as there is room, and in files otherwise. A copy of the marks is
// kept for a run that resumes (resume.go).
package prove
