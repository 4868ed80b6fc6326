// Package layers defines a state space: which states there are, how they
// are numbered, and how play moves between them. Engines (package trees under
// pipeline) work on any type that implements Space. Package awari implements it;
// tests have spaces of swap and solitaire (internal/testkit).
//
// # The model
//
// The states of a space are split into layers 0, 1, 2, ... A move never leads
// to a higher layer, so a space can be solved layer by layer from the bottom:
// in awari the layer of a board is its number of seeds, and seeds only ever
// leave the board. Inside a layer the states are numbered 0 to Size-1 without
// gaps; Rank and Unrank translate, and an engine stores one value for each
// rank and nothing else.
//
// A move is quiet when it stays in its layer. Quiet moves may form cycles;
// they earn nothing. Every other move leads to a lower layer and earns its
// reward for the player who makes it. States are seen by the player to move,
// and each move passes the turn, so the score of a state is
//
//	score(s) = Terminal(s)                                    without a move
//	score(s) = max over the moves m of m.Reward - score(m.To)  otherwise
//
// and play that never ends is worth 0 to both players (document 001, "Score
// optimal"; docs/sources.md for endless play). A space that is a plain graph, as a
// puzzle is, has quiet moves only and returns 0 from Terminal.
//
// # Adding a game
//
// One file is enough:
//
//  1. Choose a comparable state type, small and without pointers: one value
//     for each position, the player to move first.
//  2. Choose the layer so that no move increases it, and a numbering of each
//     layer. Package colex numbers the ways of placing seeds in pits.
//  3. Write the eight methods of Space.
//  4. Call conformance.Run from a test. It finds ranks that are no bijection,
//     moves that climb or leave the space, and predecessors that disagree with
//     successors.
//
// The generic engine then solves it (retro.SolveLayer), and tests search it forward
// (internal/testkit/reach). The example of package retro is a complete game in one file.
package layers

// Move is one move: where it leads and the gain of the player who makes it.
type Move[S comparable] struct {
	// To is the state after the move, seen by the player whose turn it then
	// is.
	To S
	// Reward is the gain of the mover at once, never negative, and 0 when To
	// is in the layer the move came from.
	Reward int
}

// Space is a layered state space. Implementations are safe for concurrent use.
//
// Methods that take a state are called with states of the space only, and
// methods that take a layer or rank with numbers in range; their behaviour
// otherwise is not specified (a panic is fine). Package conformance checks
// everything this contract promises that a test can see.
type Space[S comparable] interface {
	// Name identifies the space in messages, for example "awari, 12 pits,
	// rules strict".
	Name() string
	// Layers returns the number of layers. They are numbered from 0 to
	// Layers()-1.
	Layers() int
	// Size returns the number of states in a layer. It may be 0.
	Size(layer int) uint64
	// Rank returns the layer of s and its number in that layer, 0 to
	// Size(layer)-1. Equal states have equal ranks, different states
	// different ones.
	Rank(s S) (layer int, rank uint64)
	// Unrank returns the state that has this rank: the inverse of Rank.
	Unrank(layer int, rank uint64) S
	// Successors appends the moves from s to dst and returns the extended
	// slice. The order is fixed. A move leads to the layer of s with reward
	// 0 (a quiet move) or to a lower layer. No two quiet moves lead to the
	// same state; other moves may be listed more than once.
	Successors(dst []Move[S], s S) []Move[S]
	// Predecessors appends to dst the states from which a quiet move leads
	// to s, each once, and returns the extended slice. They are in the layer
	// of s; states of higher layers that lead to s are not listed.
	Predecessors(dst []S, s S) []S
	// Terminal returns the score of a state that has no move. It is called
	// for such states only. Scores fit a signed byte: -127 to 127.
	Terminal(s S) int
}
