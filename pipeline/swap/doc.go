// Package swap groups the engines of the swap puzzle (document 004). It has no
// code of its own: grids and swaps are in layers/swap, lower bounds in
// layers/swap/heuristic.
//
//	search    solvers of one grid: A*, IDA*, bidirectional and beam search; start here
//	patterns  builds pattern databases, which are lower bounds that search looks up
//	bfs       counts all states by distance, one bit a state, in memory or on disk
//	bench     measures heuristics, solvers and databases against each other
//
// docs/swap.md has the results.
package swap
