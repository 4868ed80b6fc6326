// Package search searches awari positions with more seeds than were solved, down to
// the solved layers.
//
//	e := search.New(tables, search.Options{})
//	r, err := e.Search(ctx, board, search.Limits{Time: 10 * time.Second})
//	if r.Exact() { fmt.Println(r.Lower, r.Best) }
//
// # What is proven, and what is not
//
// Every position that the search returns from has an interval that its score is
// proven to lie in, and an estimate, which proves nothing. The interval of a
// solved position is its score, that of a position without moves what the rules
// say. Where the search stops for lack of depth the interval is -n to n, the seeds
// on the board, and the estimate is what the captures at hand are worth. In between
//
//	lower = max over the moves of captured - upper(child)
//	upper = max over the moves of captured - lower(child)
//
// where a move that was not searched counts with what every child satisfies. The
// estimate only steers: which move is searched first, and which is cut.
// Results are exact when the interval of the root is a single number.
//
// # Repetition
//
// Endless play is worth 0. A position that the same player has had before on the
// path, no seed captured since, gets the interval [0, 0]. This is sound for the
// whole tree. A player who can be worth m by his strategy in the tree takes up,
// when the position comes back, the strategy of the first time. Either this ends
// in a leaf, and what was captured on the way there together with the leaf is m or
// more; or it never ends, then the repetition was a leaf of his strategy as well,
// and what was captured before it, plus 0, is m or more. The same board with the
// other player to move is no repetition.
//
// It is not sound for a part of the tree: below an ancestor that a repetition
// leads back to, results depend on the path (the graph-history interaction problem).
// So each result has two intervals. One holds on this path; the other holds
// everywhere, takes repetitions for unknown positions, and is
// what the transposition table stores. Both become one where no repetition below
// leads back to before the position: there its subtree is a whole tree again.
// Estimates are stored only there, too.
//
// # The search
//
// Principal variation search with iterative deepening, a transposition table of
// fixed size with whole boards (two positions are never taken for each other),
// moves ordered by what the table says, captures by size, killers and history. At
// the end of the depth only captures are followed. It allocates nothing. See
// Marsland, "A review of game-tree pruning" (1986), for the parts.
//
// # Proofs
//
// A search tree can prove that something can be won, but not that no more can: the
// winner can play quiet moves for longer than any depth. So after each depth, questions like "is the score 3 or
// more" are put to the graph of boards with as many seeds (proof.go), with small
// budgets and different orders of moves, repeatedly. They take a third of the
// effort. Often this closes positions a few seeds above the tables; farther away,
// and with much to play for, one of the bounds stays open.
package search

import (
	"time"

	"grenier/layers/awari"
)

// DefaultTableBytes is the memory of the transposition table unless Options say
// otherwise.
const DefaultTableBytes = 128 << 20

// MaxDepth is the largest depth in plies that can be searched.
const MaxDepth = 120

// Scores are solved layers. *tables.Tables is one.
type Scores interface {
	// Game returns the game that the scores are of.
	Game() awari.Game
	// MaxSeeds returns the number of seeds up to which all layers are solved,
	// -1 if none is.
	MaxSeeds() int
	// Score returns the score of a board. It fails for boards with more than
	// MaxSeeds seeds.
	Score(b awari.Board) (int8, error)
}

// Options are the memory of an Engine.
type Options struct {
	// TableBytes bounds the transposition table; 0 stands for
	// DefaultTableBytes. Its memory is taken when the Engine is made.
	TableBytes int64
}

// Limits say when a search ends. An exact result always ends it.
type Limits struct {
	// Time is how long to search; 0 for no limit.
	Time time.Duration
	// Depth is the largest number of plies to look ahead before captures alone
	// are followed; 0 stands for MaxDepth, as do larger numbers.
	Depth int
	// AllMoves searches each move of the board to a value of its own.
	// Otherwise the moves that are not best are only known to be no better.
	AllMoves bool
	// Progress is called, if not nil, with what is known after each depth. It must
	// return soon.
	Progress func(Result)
}

// Reason says why a search ended.
type Reason string

const (
	// Exact: the score is known.
	Exact Reason = "exact"
	// DepthLimit: the board was searched to the depth asked for.
	DepthLimit Reason = "depth"
	// TimeLimit: the time is over.
	TimeLimit Reason = "time"
	// Interrupted: the context was cancelled.
	Interrupted Reason = "interrupted"
)

// Result is what a search found out about a board.
type Result struct {
	Board awari.Board
	// Seeds is the number of seeds on the board.
	Seeds int
	// Lower and Upper are proven: the score is neither less nor more.
	Lower, Upper int
	// Estimate is a guess at the score, between Lower and Upper. It proves
	// nothing unless these are equal.
	Estimate int
	// Best is the pit to play, -1 when there is no legal move. It reaches Lower
	// if Exact, otherwise it is the one with the best estimate.
	Best int
	// Line is the principal variation: pits, those of the mover at even
	// indices. It begins with Best and ends where the tables begin, where the
	// game ends, or where nothing more is known. Only its first move is
	// proven, and only in an exact result.
	Line []int
	// Moves says what is known about each pit of the mover. Entries from Q on
	// are zero.
	Moves [awari.MaxPits / 2]Move
	// Depth is the number of plies that were searched completely.
	Depth int
	// Nodes is the number of positions visited, TableHits how many of them
	// were solved, StoredHits how many the transposition table settled.
	Nodes, TableHits, StoredHits uint64
	Elapsed                      time.Duration
	// Reason says why the search ended.
	Reason Reason
}

// Exact reports whether the score is known: it is Lower, and Upper.
func (r *Result) Exact() bool { return r.Lower == r.Upper }

// NodesPerSecond returns the speed of the search.
func (r *Result) NodesPerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Nodes) / r.Elapsed.Seconds()
}

// Move is what is known about playing a pit.
type Move struct {
	Pit int
	// Legal reports whether the move may be played. When it may not, the fields
	// that follow are zero.
	Legal bool
	// Captured is the number of seeds the mover takes.
	Captured int
	// Child is the board after the move, seen by the next player.
	Child awari.Board
	// Lower and Upper are proven: the score of the board if the mover plays this
	// move is neither less nor more.
	Lower, Upper int
	// Estimate is a guess at that score, between Lower and Upper. Unless this is
	// the best move or AllMoves was asked for, it may be too high.
	Estimate int
}
