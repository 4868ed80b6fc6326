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
//   - a position with a score k < 0 is grounded if all its quiet moves, should there
//     be any, lead to grounded children.
//
// In the words of games on graphs these are attractors, a least fixpoint. Locally
// optimal scores of a layer are the true ones if and only if every position with a
// score other than 0 is grounded. docs/proof.md has the proof. In short: follow the
// scores, from a grounded position with a positive score to the child that grounds
// it. Your score in hand never shrinks, whatever the opponent plays, and while
// it is above 0 every ply goes to a position that was grounded earlier; so play
// cannot last for ever, and you get it. If it never was above 0, endless play is no
// loss either. Both players can do so; hence each gets the score, and no more.
//
// # How it is done
//
// Run has each layer verified (package verify): checksums, then local optimality.
// On the way verify tells which positive scores a move that takes seeds gives
// (verify.Options.Backed). After that no lower layer is needed, and no score of a
// child (layer.go): scores are grounded level by level, k and -k for k from the
// largest down to 1. A quiet child of a position with the score k has -k or more,
// one of a position with -k has k or more. So it is enough to know which positions
// are won, grounded with a positive score, and which have the score -k of this level and
// are not grounded yet, the candidates: two bits a position (states.go). The scores are only
// read in order, once for each level, from memory if there is room, else from the file.
//
// A level begins with a look at all scores, which finds the candidates, and goes on with a look at
// all candidates (part.go). One of which all quiet moves lead to won positions is grounded, and
// followed: the positions from which moves lead there are won, and candidates from
// which moves lead to those are looked at again. Where moves come from is found by taking
// sowings back (layers/awari/packed); a position is won by a move played forward by layers/awari.
// A level does not end with positions left before a look at all candidates grounds none.
// No code is shared with the engine that solves layers.
//
// A layer that has distances needs no levels: they are a proof in themselves, of which verify compares every line (docs/proof.md).
//
// If two bits a position do not fit into memory, there is one bit on disk (resume.go copies them), and passes in the order
// of the ranks ground positions of all levels together, about a ply at a time (passes.go): these
// share the panels of verify (verify.Grounding). The positions left in the end are settled in
// memory (rest.go).
//
// Workers ground positions in place, in any order. A position is won before the candidates
// behind it are looked at, so if two workers each win one of its children, one of them sees both.
package prove
