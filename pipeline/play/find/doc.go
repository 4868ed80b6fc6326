// Package find searches solved layers for positions that meet a condition, for instance those
// in which one move wins. Package puzzle makes puzzles of such.
//
//	c, err := find.Parse("moves>=2 winning=1 drawing=0")
//	result, err := find.Run(ctx, "data/awari", find.Options{From: 12, To: 12, Condition: c, Count: 10})
//
// It belongs to play, not to check or exchange: it finds positions for people
// to look at and to play from.
//
// # Conditions
//
// A condition (condition.go) is a list of intervals for facts about a position (facts.go). They
// are asked in the order of their costs: the score, the board, the scores of the children,
// the replies, the best line. Most positions are out after a look at their own score, since a
// position is won exactly if a move wins.
//
// # The walk
//
// A layer is read in the order of ranks, so that rows follow each other: runs of boards with the
// same half of the opponent (package colex). The effect of a sowing on that
// half, and on the rank of the child, is worked out once for a row (packed.Row).
//
// # Children
//
// Children are all over their layers. Layers that fit into the memory are decoded as a whole, and
// some thousand children are looked up at a time, so that the processor waits for many of them
// at once (scan.go). Children in larger layers wait until the memory is full; then they are
// sorted by blocks and each block is decoded once for all of them (gather.go).
//
// # Results
//
// The first positions in the order of layers and ranks, a random choice, or those with the
// largest value of a fact: in each case those with the smallest keys of all hits (found.go),
// whatever the number of workers and the memory. A search that was interrupted resumes from
// its state file (state.go). In the end package tables is asked again about each result; it
// plays by the plain rules: a disagreement would be a bug, and ends the program.
package find
