// Package search searches awari positions with more seeds than were solved, down to
// the solved layers.
//
//	blocks := search.NewBlocks(tables, 256<<20)
//	e := search.New(blocks, search.Options{})
//	r, err := e.Search(ctx, board, search.Limits{Time: 10 * time.Second})
//	if r.Exact() { fmt.Println(r.Lower, r.Best) }
//
// # What is proven, and what is not
//
// Every result has an interval that the score is proven to lie in, and an estimate, which proves
// nothing: it only steers. The result is exact when the interval is a single number. A graph
// proves (graph.go), a tree guesses (visit.go): it is kept for positions far above the tables,
// where nothing can be proven in time.
//
// # The tree
//
// The tree is searched deeper and deeper, by alpha-beta, with moves ordered by the transposition table, captures by
// size, and few seeds before many. At the end of the depth only captures are followed, and a quiet move is taken to be
// worth the value that the seeds in each pit suggest (appraisal.go). See Marsland, "A review of game-tree pruning"
// (1986). A position that the same player has had before on the path, no seed captured since, counts as 0, as endless
// play does. Below an ancestor that a repetition leads back to, estimates depend on the path: the transposition table
// does not keep them. Bounds of a position that the graph has proven cut the tree off.
//
// # The graph
//
// Quiet moves can be played for longer than any depth. In a graph playing in circles costs nothing: its nodes are
// positions, and the bounds of a node follow from its moves,
//
//	low  = max over the moves of captured - high(child)
//	high = max over the moves of captured - low(child)
//
// where a solved child has its score for both, and a position without moves its score by the rules. A node that
// is not expanded has the bounds that
// its captures into solved layers give. The bounds of the expanded ones are computed
// anew, layer by layer from below, each time that the graph has grown by some share: low and high begin at 0, or at the
// proven bound beyond it, and are recomputed by the two equations until nothing changes.
//
// Then low is a lower bound and high an upper one. Take a player, and give each node the number that he relies on: low
// where he is to move, -high where the other one is. If he is to move, some move attains it; if not, every move leaves
// him that much or more. So he can play on without ever losing what he relies on. If the play ends, in a capture, a
// node that is not expanded or proven before, or a board without moves, he has got it, by induction over layers. If it
// does not end, no seed is captured from some ply on, and he gets 0 for the rest. That is enough unless he relies on
// more than 0. But the positive numbers have an order: low > 0 was set when a child had the high, below 0, that it
// follows from, and high < 0 when all children had theirs, lows above 0; numbers on that side of 0 never go back,
// since the numbers they follow from do not either. So from a node where he relies on more than 0 he can play moves
// that were the reason, each set earlier than the last, and the play ends. This is the argument of package halfboard
// for scores, for the two numbers of each node. Nothing is taken from an iteration that has not ended.
//
// In all this it does not matter which nodes are expanded. Estimates and proof numbers choose. The estimates are the
// scores of the same graph with a guess where it ends. That the estimate of the board can be had, and that no more can
// be had, are goals: the player who has one needs one move in each position, and an answer to all moves of the other
// one that are not refuted. Which move he follows decides whether ten boards must be expanded or ten million. Proof
// numbers say of each move how much is left to be settled, and the least is expanded first (prove.go); where no search
// has been they begin with the distance of the estimate from the goal. Proof numbers do not know in which way a
// position was reached, and may hold on one way alone: they prove nothing, and each attempt begins without them. After
// an attempt that found nothing to expand, all nodes that deciding moves may lead to are expanded, breadth first, and
// all of the graph is solved (pursue.go). So nothing is left out for good.
//
// # Workers, and coming back
//
// One worker, the only one, gives the graph three quarters of the effort. Two and more search at the same time:
// one has the graph, the others the tree. They share a transposition table without locks: an entry is one
// word, and names its position without error (table.go). Bounds of the graph go there as well. Table and graph
// are kept: a search of the same board, or of one after it, goes on with that knowledge. Nothing
// allocates in the inner loops, or calls through interfaces. Most of the time of a position is waiting for memory: so
// graph and tree ask for the memory that all moves of a position need before they take up the first (ahead.go), and an
// iteration gathers its data (iterate.go).
package search

import (
	"fmt"
	"time"

	"grenier/layers/awari"
	"grenier/pipeline/job"
)

// DefaultBytes is the memory of an Engine unless Options say otherwise.
const DefaultBytes = 128 << 20

// MaxDepth is the largest depth in plies that can be searched.
const MaxDepth = 120

// Options are the means of an Engine.
type Options struct {
	// Workers search; with one of them, a search to a depth always gives the same result. Progress
	// is called after each depth, with the Result so far as the Detail. Other fields are not used.
	job.Job
	// Bytes bounds the memory of the transposition table and of the graph, besides the
	// Blocks; 0 stands for DefaultBytes. A quarter is for the table, 512 KiB at least.
	Bytes int64
}

// Limits say when a search ends. An exact result always ends it.
type Limits struct {
	// Time is how long to search; 0 for no limit.
	Time time.Duration
	// Depth is the largest number of plies to look ahead before captures alone
	// are followed; 0 stands for MaxDepth, as do larger numbers.
	Depth int
	// Nodes is about how many positions to visit; 0 for no limit. The graph, which grows by thousands, is left alone when fewer are
	// left.
	Nodes uint64
	// AllMoves searches each move of the board to a value of its own.
	// Otherwise the moves that are not best are only known to be no better.
	AllMoves bool
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
	// NodeLimit: as many positions as were asked for were visited.
	NodeLimit Reason = "nodes"
	// Interrupted: the context was cancelled.
	Interrupted Reason = "interrupted"
)

// Result is the outcome of a search. As JSON it has the fields that change while a search goes on.
type Result struct {
	Board awari.Board `json:"-"`
	// Seeds is the number of seeds on the board.
	Seeds int `json:"-"`
	Value
	// Best is the pit to play, -1 when there is no legal move. It reaches Lower
	// if Exact, otherwise it is the one with the best estimate.
	Best int `json:"-"`
	// Line is the principal variation: pits, the mover's at even
	// indices. It begins with Best and ends where the tables begin, where the
	// game ends, or where nothing more is known. Only its first move is
	// proven, and only in an exact result.
	Line []int `json:"line"`
	// Moves has the result for each pit of the mover. Entries from Q on are zero.
	Moves [awari.MaxPits / 2]Move `json:"-"`
	// Depth is the number of plies that were searched completely.
	Depth int `json:"depth"`
	// Nodes is the number of positions visited, NodesPerSecond the speed in whole ones.
	Nodes          uint64  `json:"nodes"`
	NodesPerSecond float64 `json:"nodes_per_second"`
	// TableHits is how many nodes were solved, StoredHits how many the transposition table settled.
	TableHits  uint64        `json:"-"`
	StoredHits uint64        `json:"-"`
	Elapsed    time.Duration `json:"-"`
	// Reason says why the search ended.
	Reason Reason `json:"-"`
}

// Value is the knowledge of a score.
type Value struct {
	// Lower and Upper are proven: the score is neither less nor more.
	Lower int `json:"lower"`
	Upper int `json:"upper"`
	// Estimate is a guess at the score, between Lower and Upper. It proves
	// nothing unless these are equal.
	Estimate int `json:"estimate"`
}

// Exact reports whether the score is known: it is Lower, and Upper.
func (v Value) Exact() bool { return v.Lower == v.Upper }

// Text returns the value in words.
func (v Value) Text() string {
	if v.Exact() {
		return "value " + awari.Signed(v.Lower)
	}
	return fmt.Sprintf("value %s to %s, estimate %s", awari.Signed(v.Lower), awari.Signed(v.Upper), awari.Signed(v.Estimate))
}

// Move is the knowledge of a move.
type Move struct {
	Pit int
	// Legal reports whether the move may be played. When it may not, the fields
	// that follow are zero.
	Legal bool
	// Captured is the number of seeds the mover takes.
	Captured int
	// Child is the board after the move, seen by the next player.
	Child awari.Board
	// Value is the score of the board if the mover plays this move. Unless it is the best move or
	// AllMoves was asked for, the estimate may be too high.
	Value
}
