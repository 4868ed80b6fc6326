// Package chemin searches the orders of filling a board of the game chemin (package
// layers/chemin) for the largest number that can be written, and counts the orders,
// orientations and grids that have it. Solve is the entry; it has four methods.
//
//	naive         visits all orders, one after the other: where document 002 begins
//	classes       visits one order of each class of symmetric orders, without a bound: the
//	              method of document 002, with its classes computed
//	orientations  visits one order of each acyclic orientation, except those that
//	              cannot reach the best score: the improvement that the document asks for
//	layers        expands the layers of canonical states, each state once, and keeps
//	              those that may still beat the best score, on disk if they are many;
//	              then lists the optimal orientations as above
//
// The first two share only the rules with the others. These share the bound, and count the optimal
// orders in different ways.
//
// # Paths
//
// The number in a cell t is the number of directed paths from sources of the orientation
// (cells that are filled before all their neighbours) to t. Cut a game after some cells S are
// filled, with numbers v, and let w(j) be, for a cell j of the empty rest T, the number of
// paths from j to t inside T. A path that crosses over does so once, and the others begin at a
// source in T, which has all its neighbours in T. So
//
//	value of t = c + sum over neighbours i in S, j in T of v(i) w(j),  c = sum of w(sources in T)
//
// where c and w depend on the order of T alone: the best value still possible is a maximum
// of sums with factors that are not negative. Two things follow.
//
// # Dominance
//
// The largest number that is still possible from a state does not fall when a value rises. If
// one of two states with the same filled cells is nowhere less than the other, the other cannot
// lead to a larger number, and a search for the maximum alone drops it. That may lose optimal
// orders, so counting never does it.
//
// # One sink
//
// Some optimal order has the maximum in the last cell t and no sink (a cell that is filled
// after all its neighbours) but t. Take any order, t its cell with the largest number, R the cells from which
// numbers flow to t, t among them, and W the others. Fill W first and R then, each in the order as before. Inside R
// nothing changes, and from W a cell of R gains, or it was a source, and then has 1 as before, or more: so the number
// in t does not fall. Now the cells of W beside R feed R, so R has grown. Do so again until W is empty: then
// all cells feed t, and no other cell is a sink. In such an order the empty cells
// are always connected: each component of them has a last cell, which is a sink. The search
// for the maximum therefore never cuts the empty cells in two; counting does not use this.
//
// # The bound
//
// Built from the last cell backwards, (c, w) has a recursion like the game itself:
// putting a cell k in front of T adds w(k), the sum of w over its neighbours in T, and c grows
// by w(k) if all neighbours of k are in T. For each connected set T up to symmetry, the bounds
// keep the vectors (c, w on the cells with a neighbour outside) that no other exceeds. If
// these are too many, groups of them are replaced by their maxima, which makes the bound
// larger, but leaves it a bound. A state is dropped when no vector of its empty cells takes it
// above the best score, or to it when counting. When the empty cells are not connected, the
// largest number is in one component, and the others may be filled before it without loss.
//
// # Memory
//
// Layers are sorted lists of records (runs.go), cut into blocks that are compressed by lz4 and kept
// in memory, or in a work file if there is a directory. New states are collected, sorted, thinned
// out and put aside as runs; merging the runs makes the next layer. Each complete layer is a
// checkpoint from which the same search resumes (checkpoint.go). Whatever takes much memory gets
// a share of the memory allowed (records.go).
package chemin
