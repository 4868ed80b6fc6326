// Package classes searches the whole state graph of a swap puzzle breadth
// first, class by class: it counts the states at each distance from the goal as
// package bfs does, but visits one state only of those that symmetry makes
// equal. It shares no code with that package but the types of options and results;
// each checks the other.
//
// # Classes
//
// A symmetry h of the grid changes no distance: s and h s h^-1 are equally far from
// the goal. Neither does the inverse. The class of a state is what these make of
// it: up to 16 states on a square, 8 on a rectangle, 4 on a line. Its smallest
// state, as a number, stands for it. The number of states in a class is twice the
// number of symmetries over the number of images that are equal to the smallest.
//
// # Neighbours of a class
//
// A swap of s is the product s t with a transposition t of two cells. Symmetries
// take swaps to swaps, but the inverse does not: that of s t is t s^-1, where two
// tiles are exchanged. So the neighbours of the one state that stands for a class
// are not enough: a class may be reached from none of these. With s also s^-1 has
// to be expanded, unless a symmetry alone makes it of s; then every neighbour of
// every state of the class is an image of one that is found.
//
// The images of a neighbour are not computed anew. That of s t under h is the image
// of s with the cells h(a) and h(b) exchanged, and its inverse is the image of s^-1
// with the tiles h(a) and h(b) exchanged, which are where the image of s says: some
// ten operations each (images.go).
//
// # Depths
//
// The neighbours of depth d are of depths d-1 and d+1: the graph is bipartite. So
// depth d+1 is the set of neighbours of depth d, less depth d-1, and no more than
// these depths are kept. Workers collect neighbours in an array; when it is full it
// is sorted and becomes a run, a list of keys without repetitions. At the end of a
// depth the runs are merged: keys are divided into ranges, and a worker reads those
// of one range from all runs, sorts them, and leaves out those of depth d-1. Too
// many runs, or too large ones, are made one run on the way.
//
// A key is the rank of a state; keys are stored as differences, about a byte each
// (block.go), in memory or in a work file. On disk a checkpoint after each depth
// says where the two depths are: the same search goes on from there.
package classes

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"grenier/kernels/fault"
	"grenier/kernels/perm"
	"grenier/layers/swap"
	"grenier/pipeline/solve"
	"grenier/pipeline/swap/bfs"
)

// Result is what a search counts.
type Result struct {
	bfs.Result          // all states, as without symmetry
	Classes    []uint64 // number of classes at each distance from the goal
}

// AllClasses returns the number of all classes.
func (r *Result) AllClasses() uint64 {
	sum := uint64(0)
	for _, n := range r.Classes {
		sum += n
	}
	return sum
}

// MemoryError reports that a search does not fit in the memory allowed.
type MemoryError struct {
	Rows, Cols    int
	Depth         int    // at which that was found; 0 for before the search
	Need, Allowed uint64 // bytes; more than Need may be needed later
	OnDisk        uint64 // bytes that a search with its classes on disk needs at least
}

// Error says what is needed.
func (e *MemoryError) Error() string {
	at := ""
	if e.Depth > 0 {
		at = fmt.Sprintf(" at depth %d", e.Depth)
	}
	return fmt.Sprintf("searching classes of %d x %d needs at least %s of memory%s, or %s with its classes on disk, and %s are allowed",
		e.Rows, e.Cols, humanize.IBytes(e.Need), at, humanize.IBytes(e.OnDisk), humanize.IBytes(e.Allowed))
}

// Is makes it too little memory.
func (e *MemoryError) Is(target error) bool { return target == fault.Memory }

// baseMemory is what a process takes besides the search, about.
const baseMemory = 24 << 20

// budget is what the memory allowed is used for.
type budget struct {
	keys   int    // that a worker collects before they are sorted
	runs   int    // after which they are made one; workers may add two each
	fixed  uint64 // bytes of all that has a fixed size
	lists  uint64 // bytes left for depths and runs
	onDisk uint64 // bytes that a search on disk needs at least
}

// Sizes of what a worker has.
const (
	maxKeys    = 8 << 20
	minKeys    = 256 << 10       // so that a block fills it once at most
	keyBytes   = 2 * 8           // a key, and room to sort it
	workerRoom = 8<<recentBits + // recent keys
		8*blockBytes + // unpacked keys
		4*blocksAtOnce*blockBytes // blocks read and written
)

// newBudget divides memory among workers and lists.
func newBudget(memory uint64, workers int, onDisk bool) budget {
	least := uint64(max(minKeys, 8*blockBytes*(workers+1)))
	share := memory - min(memory, fixed(workers, 0)+minLists)
	if onDisk {
		share = share / 4 * 3
	} else {
		share /= 4
	}
	keys := min(max(least, share/keyBytes/uint64(workers)), maxKeys)
	return budget{
		keys: int(keys), runs: int(keys)/(4*blockBytes) - 2*workers, fixed: fixed(workers, keys),
		lists: memory - min(memory, fixed(workers, keys)), onDisk: fixed(workers, least) + minLists,
	}
}

// minLists is the least room for lists that a search begins with.
const minLists = 2 << 20

func fixed(workers int, keys uint64) uint64 {
	return baseMemory + uint64(workers)*(keyBytes*keys+workerRoom)
}

// Search counts the states and classes of a grid at each distance from the goal.
// It fails with a MemoryError when o.Memory is too little, which may be found only
// on the way, with bfs.ErrWorkers, and with the error of ctx; on disk also with
// a bfs.DiskError, like rundir.Lock, with errors that match corrupt.ErrCorrupt, and with those of the
// operating system.
func Search(ctx context.Context, g *swap.Grid, o bfs.Options) (*Result, error) {
	s, err := newSearch(g, o)
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		return s.in(ctx, &memory{}, nil)
	}
	if err := s.checkRoom(o); err != nil {
		return nil, err
	}
	d, c, err := openDir(o.Dir, g)
	if err != nil {
		return nil, err
	}
	return s.in(ctx, d, c)
}

// newSearch checks the options and returns a search without store.
func newSearch(g *swap.Grid, o bfs.Options) (*search, error) {
	if o.Workers < 1 {
		return nil, fmt.Errorf("classes: %w: %d", bfs.ErrWorkers, o.Workers)
	}
	s := &search{
		grid: g, around: newNeighbourhood(g), budget: newBudget(o.Memory, o.Workers, o.Dir != ""),
		report: o.Progress, total: perm.Factorial(g.Cells()), workers: make([]*worker, o.Workers),
	}
	need := s.budget.fixed + minLists
	if o.Dir == "" {
		need = max(need, s.budget.fixed+s.least())
	}
	if need > o.Memory {
		return nil, &MemoryError{Rows: g.Rows(), Cols: g.Cols(), Need: need, Allowed: o.Memory, OnDisk: s.budget.onDisk}
	}
	return s, nil
}

// least returns the bytes that the largest depth takes in memory at least. A line
// through all cells, row by row and back, has distances up to n(n-1)/2, so there
// are no more depths than that; and a key takes a byte.
func (s *search) least() uint64 {
	n := uint64(s.around.cells)
	return s.fewest() / (n*(n-1)/2 + 1)
}

// fewest returns the number of classes if all were as large as can be; nearly all
// are.
func (s *search) fewest() uint64 { return s.total / uint64(2*s.around.order) }

// diskBytes is about the most that a class takes on disk, all classes counted: a
// depth has up to a quarter of them on small grids, a key takes little more than a
// byte, and the runs of a depth have up to ten keys for each of its classes. 3 x 4
// takes 2.7.
const diskBytes = 4

// checkRoom refuses a search on disk for which there is too little room. What is in
// the work directory already counts as room: the search goes on with it.
func (s *search) checkRoom(o bfs.Options) error {
	if o.Free == nil {
		return nil
	}
	room, err := solve.Room(o.Dir, o.Free)
	if err != nil {
		return nil // unknown here, or rundir.Lock will tell
	}
	if need := diskBytes * s.fewest(); need > room {
		return &bfs.DiskError{Path: o.Dir, Need: need, Free: room}
	}
	return nil
}

// in searches with a store, which it closes, from a checkpoint on if there is one.
func (s *search) in(ctx context.Context, kept store, c *checkpoint) (_ *Result, err error) {
	defer func() { err = errors.Join(err, kept.close()) }()
	s.store = kept
	for i := range s.workers {
		s.workers[i] = newWorker(s)
	}
	if c != nil {
		s.checkpoint = *c
	} else if err := s.begin(); err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	if err := s.grid.CheckAllDepths(s.states); err != nil {
		return nil, kept.damaged(nil, err)
	}
	return &Result{Result: bfs.Result{Rows: s.rows, Cols: s.cols, Depths: s.states}, Classes: s.classes}, nil
}
