// Package search finds short ways to solve a grid of the swap puzzle, with the
// solvers of document 004 and IDA*.
//
//	name                  finds                    keeps in memory
//	greedy                a solution               nothing
//	chains                at most 4 times as long  nothing
//	graph                 a shortest solution      the whole state graph
//	bfs                   a shortest solution      the states up to its depth
//	bidirectional         a shortest solution      states up to half its depth
//	pseudo-bidirectional  a solution               states up to half its depth
//	astar                 a shortest solution      states with a small g + h
//	astar-bucket          a shortest solution      the same; its queue is quicker
//	astar-incremental     a shortest solution      the same; half Manhattan, kept up to date
//	astar-parallel        a shortest solution      the same, by several workers
//	astar-weighted        at most twice as long    the same, with g + 2h
//	astar-bidirectional   a shortest solution      the same, from both ends
//	dibbs                 a shortest solution      the same, with 2g + h - h'
//	idastar               a shortest solution      nothing
//	beam                  a solution               the best states of each depth
//
// greedy, chains, idastar and beam take grids of any size, the others those whose states fit a
// swap.State.
//
// A solver that stops early, because it needs more memory or time than is allowed or
// is interrupted, says so and still returns the solution of a narrow beam, with the
// lower bound that it had proved by then.
package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"grenier/kernels/fault"
	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
)

var (
	// ErrSolver reports an unknown solver.
	ErrSolver = fault.New(fault.Usage, "unknown solver")
	// ErrHeuristic reports a heuristic that a solver cannot take.
	ErrHeuristic = fault.New(fault.Usage, "heuristic not possible")
)

// Errors that end a search early.
var (
	errMemory = errors.New("memory")
	errTime   = errors.New("time")
)

// Options limits a search. Memory is the most bytes for states, see LeastMemory; Workers are for
// astar-parallel: everything but the time is the same for any number. Progress is called several times a second,
// with a Progress as Detail. Family and Note are not used.
type Options struct {
	job.Job
	// Heuristic is the lower bound of the solvers that are Informed, consistent for dibbs.
	Heuristic heuristic.Heuristic
	Time      time.Duration // 0 for no limit
	// Width is the largest width of beam, 0 for no limit if Time is one, else 16,384.
	Width int
}

// LeastMemory is enough for the narrow beam that gives a solution when a search stops.
const LeastMemory = 4 << 20

// Result is the solution of a solver and how it was found.
type Result struct {
	// Swaps solve the grid, in this order.
	Swaps []swap.Swap
	// Optimal says that there is no shorter solution: Lower is len(Swaps).
	Optimal bool
	// Lower is a proved lower bound on the length of all solutions.
	Lower int
	// Stopped is "memory", "time" or Interrupted if the search ended early, "" if it did
	// not.
	Stopped string
	// Heuristic is the name of the bound that was used, "" if none was.
	Heuristic string
	Counts
	Elapsed time.Duration
}

// Counts is the work of a search.
type Counts struct {
	Expanded   uint64 `json:"expanded"`    // states expanded
	Generated  uint64 `json:"generated"`   // neighbours generated
	PeakOpen   uint64 `json:"peak_open"`   // most states waiting at a time
	PeakClosed uint64 `json:"peak_closed"` // most states remembered at a time
}

// search is one run of a solver.
type search struct {
	ctx     context.Context
	grid    *swap.Grid
	list    swap.List  // the start
	start   swap.State // the start and the goal, of grids that have such states
	goal    swap.State
	h       heuristic.Heuristic
	tracker heuristic.Tracker // of h, at the start, or of half Manhattan
	width   int
	job     job.Job
	limit   time.Duration
	began   time.Time
	lower   int         // proved: no solution is shorter
	best    []swap.Swap // the shortest solution known
	held    holding
	share   float64       // of the work that is done, 0 if only memory says
	told    time.Duration // when progress was reported last
	solver  Solver
	Counts
}

// holding counts the states of a search in memory.
type holding struct{ open, closed, bytes uint64 }

// Solver is a solver by name.
type Solver struct {
	Name     string
	Informed bool // needs a heuristic
	Exact    bool // finds shortest solutions

	find   func(*search) ([]swap.Swap, error) // the moves of a solution
	listed bool                               // takes grids of any size
	smooth bool                               // needs a heuristic that is consistent
}

// solvers lists the solvers whose names Names returns.
var solvers = []Solver{
	{Name: "greedy", find: greedy, listed: true},
	{Name: "chains", find: chains, listed: true},
	{Name: "graph", find: graphSearch, Exact: true},
	{Name: "bfs", find: breadthFirst, Exact: true},
	{Name: "bidirectional", find: bidirectional, Exact: true},
	{Name: "pseudo-bidirectional", find: pseudoBidirectional},
	{Name: "astar", find: heapSearch, Informed: true, Exact: true},
	{Name: "astar-bucket", find: bucketSearch, Informed: true, Exact: true},
	{Name: "astar-incremental", find: incrementalSearch, Exact: true},
	{Name: "astar-parallel", find: parallelSearch, Informed: true, Exact: true},
	{Name: "astar-weighted", find: weightedSearch, Informed: true},
	{Name: "astar-bidirectional", find: bidirectionalAstar, Informed: true, Exact: true},
	{Name: "dibbs", find: dibbs, Informed: true, Exact: true, smooth: true},
	{Name: "idastar", find: deepening, Informed: true, Exact: true, listed: true},
	{Name: "beam", find: beam, Informed: true, listed: true},
}

// Names returns the names of the solvers.
func Names() []string { return namesOf(func(*Solver) bool { return true }) }

// namesOf returns the names of some solvers.
func namesOf(wanted func(*Solver) bool) (names []string) {
	for i := range solvers {
		if wanted(&solvers[i]) {
			names = append(names, solvers[i].Name)
		}
	}
	return names
}

// Find returns the solver of that name. It fails with ErrSolver.
func Find(name string) (Solver, error) {
	i := slices.IndexFunc(solvers, func(s Solver) bool { return s.Name == name })
	if i < 0 {
		return Solver{}, fmt.Errorf("%w %q: must be %s", ErrSolver, name, strings.Join(Names(), ", "))
	}
	return solvers[i], nil
}

// DefaultSolver returns the name of the default solver of a grid: an exact one that
// is quick, if there is one.
func DefaultSolver(g *swap.Grid) string {
	if g.Packs() {
		return "astar-bucket"
	}
	return "beam"
}

// Solve runs the solver of that name on a state of g. It fails with ErrSolver,
// swap.ErrSize if the grid is too large for the solver, heuristic.ErrTooLarge if it is for
// the heuristic, swap.ErrTiles for a list that is no state of g, or ErrHeuristic if the
// solver needs a heuristic and there is none. With the error of
// ctx it returns the result of a search that stops early.
func Solve(ctx context.Context, name string, g *swap.Grid, start swap.List, o Options) (Result, error) {
	solver, err := Find(name)
	if err != nil {
		return Result{}, err
	}
	s, err := newSearch(ctx, solver, g, start, o)
	if err != nil {
		return Result{}, err
	}
	stopped, err := s.run()
	if err != nil {
		return Result{}, err
	}
	if err := replay(start, s.best); err != nil {
		return Result{}, err
	}
	r := Result{
		Swaps: s.best, Optimal: s.lower == len(s.best), Lower: s.lower, Stopped: stopped, Counts: s.Counts, Elapsed: time.Since(s.began),
	}
	if s.h != nil {
		r.Heuristic = s.h.Name()
	}
	if stopped == Interrupted {
		return r, ctx.Err()
	}
	return r, nil
}

// newSearch returns a search that has not begun. It fails as Solve does.
func newSearch(ctx context.Context, solver Solver, g *swap.Grid, start swap.List, o Options) (*search, error) {
	switch {
	case !solver.listed && !g.Packs():
		return nil, fmt.Errorf("%w: %s takes up to %d cells, not %d x %d; larger grids take one of %s",
			swap.ErrSize, solver.Name, swap.MaxCells, g.Rows(), g.Cols(), strings.Join(namesOf(func(s *Solver) bool { return s.listed }), ", "))
	case len(start) != g.Cells() || !start.Valid():
		return nil, fmt.Errorf("%w: %v for %d x %d cells", swap.ErrTiles, start, g.Rows(), g.Cols())
	case solver.Informed && o.Heuristic == nil:
		return nil, fmt.Errorf("%w: %s needs one", ErrHeuristic, solver.Name)
	case solver.smooth && !o.Heuristic.Consistent():
		return nil, fmt.Errorf("%w: %s needs one that is consistent, and %s is not", ErrHeuristic, solver.Name, o.Heuristic.Name())
	}
	s := &search{
		ctx: ctx, grid: g, list: start, job: o.Job, limit: o.Time, width: o.Width, began: time.Now(), solver: solver,
	}
	s.job.Workers = max(1, s.job.Workers)
	if g.Packs() {
		s.start, s.goal = start.State(), g.Goal()
	}
	if s.width == 0 && s.limit == 0 {
		s.width = lastWidth
	}
	if err := s.follow(heuristic.NewManhattan(g)); err != nil {
		return nil, err
	}
	if solver.Informed {
		s.h = o.Heuristic
		return s, s.follow(s.h)
	}
	return s, nil
}

// follow makes s.tracker, and records the bound of the start.
func (s *search) follow(h heuristic.Heuristic) (err error) {
	if s.tracker, err = heuristic.Follow(s.grid, h); err != nil {
		return err
	}
	s.tracker.Begin(s.list)
	s.raise(s.tracker.Bound())
	return nil
}

// Interrupted is Result.Stopped of a search whose context ended.
const Interrupted = "interrupt"

// run searches for s.best. stopped is the reason if the search ended early.
func (s *search) run() (stopped string, err error) {
	if s.best, err = greedy(s); err != nil || s.list.Solved() { // the state 0 stays out of tables
		return "", err
	}
	if s.solver.Exact && !s.grid.Packs() { // it may take hours, so this is the time to look
		if err := rescue(s); err != nil {
			return "", err
		}
	}
	found, err := s.solver.find(s)
	switch {
	case err == nil:
		s.best = found
		if s.solver.Exact {
			s.lower = len(found)
		}
		return "", nil
	case errors.Is(err, errMemory), errors.Is(err, errTime):
		return err.Error(), rescue(s)
	case s.ctx.Err() != nil && errors.Is(err, s.ctx.Err()):
		return Interrupted, rescue(s)
	}
	return "", err
}

// replay checks that moves solve a state: a wrong solution is never handed out.
func replay(start swap.List, moves []swap.Swap) error {
	tiles := slices.Clone(start)
	for _, m := range moves {
		tiles.Swap(m)
	}
	if !tiles.Solved() {
		return fmt.Errorf("the %d swaps found do not solve the grid: this is a bug", len(moves))
	}
	return nil
}

// pause is how many expansions go by between two looks at the clock.
const pause = 1 << 10

// expand counts the expansion of a state, and looks at the clock from time to time.
func (s *search) expand() error {
	s.Expanded++
	if s.Expanded%pause != 0 {
		return nil
	}
	return s.clock()
}

// clock fails with the error of the context, or errTime if the time is over.
func (s *search) clock() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	elapsed := time.Since(s.began)
	if s.limit > 0 && elapsed > s.limit {
		return errTime
	}
	s.tell(elapsed)
	return nil
}

// hold records the memory that the search holds. It fails with errMemory if that
// is more than allowed.
func (s *search) hold(open, closed, bytes uint64) error {
	s.held = holding{open, closed, bytes}
	s.PeakOpen, s.PeakClosed = max(s.PeakOpen, open), max(s.PeakClosed, closed)
	return s.allow(bytes)
}

// allow fails with errMemory if that many bytes are more than allowed.
func (s *search) allow(bytes uint64) error {
	if s.job.Memory > 0 && bytes > s.job.Memory {
		return errMemory
	}
	return nil
}

// raise records a lower bound; all solutions have the parity of the start.
func (s *search) raise(lower int) {
	lower += (lower ^ s.list.Parity()) & 1
	s.lower = max(s.lower, lower)
}
