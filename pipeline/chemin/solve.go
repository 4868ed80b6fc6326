package chemin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"grenier/kernels/fault"
	"grenier/layers/chemin"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

// Method is a way to search.
type Method string

// The methods.
const (
	Naive        Method = "naive"
	Classes      Method = "classes"
	Orientations Method = "orientations"
	Layers       Method = "layers"
)

// ErrOption reports an option that is not possible.
var ErrOption = fault.New(fault.Usage, "not possible")

// Options says how to search.
type Options struct {
	Method Method
	// All lists every optimal solution instead of one of each class of symmetric ones.
	All bool
	// Job has no Family and no Note. Memory must be at least runs.LeastMemory.
	job.Job
	// Time, if positive, ends the search, with bounds when it is not done.
	Time time.Duration
	// Dir, if not empty, is a run directory (package rundir) in which Layers keeps its records
	// and from which it resumes after an interruption. It need not exist; if it does it must be
	// empty or of the same board.
	Dir string
}

// Counts are numbers of orders, orientations or grids; nil where a method does not find them.
type Counts struct {
	Total               *uint64 `json:"total,omitempty"`
	UpToSymmetry        *uint64 `json:"up_to_symmetry,omitempty"`
	Optimal             *uint64 `json:"optimal,omitempty"`
	OptimalUpToSymmetry *uint64 `json:"optimal_up_to_symmetry,omitempty"`
	// OptimalEnding counts optimal orders whose last cell has the score; of orders only.
	OptimalEnding *uint64 `json:"optimal_ending_in_score,omitempty"`
}

// Solution is an order and the grid that it makes.
type Solution struct {
	Order []int    // cells in the order of filling
	Grid  []uint32 // number in each cell
}

// Result has the findings of a search.
type Result struct {
	// Lower and Upper enclose the maximum; they are equal when it is known.
	Lower uint32 `json:"lower"`
	Upper uint32 `json:"upper"`
	// Orders, Orientations and Grids are nil if nothing is known about them.
	Orders       *Counts `json:"orders,omitempty"`
	Orientations *Counts `json:"orientations,omitempty"`
	Grids        *Counts `json:"grids,omitempty"`
	// Leaves is the number of whole orders (Naive and Classes) or orientations visited.
	Leaves uint64 `json:"leaves,omitempty"`
	// StatesPerLayer has the number of states that Layers kept with 0, 1, ... filled cells.
	StatesPerLayer []uint64 `json:"states_per_layer,omitempty"`
	// Solutions are optimal if the result is exact, and else the best ones found.
	Solutions []Solution `json:"-"`
	// Cut is set when the maximum is known but Solutions may lack some that reach it: they
	// are too many, or the time was up.
	Cut bool `json:"cut,omitempty"`
}

// Exact reports whether the maximum is known.
func (r *Result) Exact() bool { return r.Lower == r.Upper }

// MaxSolutions is the most solutions that a search lists; with little memory it is less.
const MaxSolutions = 1 << 20

// Solve searches the orders of a board for the largest number. When the time is up, memory is
// too small for a search without a directory, or ctx ends, the result has bounds; in the last
// case with the error of ctx. It fails with ErrOption, a *memory.Error if the job
// has too little memory, errors that match corrupt.ErrCorrupt, and errors of the file
// system.
func Solve(ctx context.Context, b *chemin.Board, opts Options) (*Result, error) {
	if opts.Dir != "" && opts.Method != Layers {
		return nil, fmt.Errorf("a directory with method %s: %w; layers uses one", opts.Method, ErrOption)
	}
	opts.Workers = max(1, opts.Workers)
	room, err := runs.Room(&opts.Job)
	if err != nil {
		return nil, err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if opts.Time > 0 {
		limited, cancel = context.WithTimeout(ctx, opts.Time)
	}
	defer cancel()
	s := &solver{Options: opts, board: b, room: room, best: &incumbent{}, result: &Result{}, begun: time.Now()}
	natural := make([]int, b.Cells())
	for i := range natural {
		natural[i] = i
	}
	s.best.offer(b, natural)
	err = s.run(limited)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, runs.ErrMemory):
		err = nil
	default:
		return nil, err
	}
	s.finish()
	return s.result, err
}

// solver is a search in progress.
type solver struct {
	Options
	board  *chemin.Board
	room   int64 // bytes of everything that the search keeps, and of garbage
	best   *incumbent
	result *Result
	growth []uint32
	upper  uint64      // proven so far
	store  *runs.Store // of Layers
	// optimal has an optimal order of each class that the method knows.
	optimal [][]int

	begun, phaseBegun time.Time // of the search, and of its phase
	phase             string
}

func (s *solver) run(ctx context.Context) error {
	s.growth = growth(s.board)
	s.upper = uint64(s.growth[s.board.Cells()])
	switch s.Method {
	case Naive, Classes:
		return s.classes(ctx)
	case Orientations:
		return s.orientations(ctx)
	case Layers:
		return s.sweepLayers(ctx)
	}
	return fmt.Errorf("method %q: %w; naive, classes, orientations and layers are", s.Method, ErrOption)
}

// report reports progress; even says that steps take about the same time.
func (s *solver) report(doing string, done, total float64, even bool) {
	now := time.Now()
	if doing != s.phase {
		s.phase, s.phaseBegun = doing, now
	}
	pace := &job.Pace{Layer: job.NoLayer, Run: job.Unknown}
	if even && done > 0 {
		pace.Rate = done / now.Sub(s.phaseBegun).Seconds()
		pace.Run = time.Duration(min((total-done)/pace.Rate, mostSeconds) * float64(time.Second))
	}
	if left := max(0, s.Time-now.Sub(s.begun)); s.Time > 0 && (pace.Run == job.Unknown || left < pace.Run) {
		pace.Run = left
	}
	s.Tell(job.Step{Doing: fmt.Sprintf("%s, best %d", doing, s.best.score.Load()), Done: done, Total: max(1, total), Pace: pace})
}

// mostSeconds bounds times that are shown, to about a century.
const mostSeconds = 3e9

// finish fills in the figures that all methods have in common.
func (s *solver) finish() {
	r := s.result
	r.Lower = s.best.score.Load()
	r.Upper = uint32(max(uint64(r.Lower), min(s.upper, uint64(s.growth[s.board.Cells()]))))
	if s.board.Cells() <= chemin.MaxCounted {
		total, classes := s.board.Orders()
		setTotal(&r.Orders, &tally{total, classes})
	}
	if !r.Exact() || len(s.optimal) == 0 {
		s.optimal = [][]int{s.best.found()}
		r.Cut = r.Cut && r.Exact()
	}
	for _, order := range s.listed() {
		r.Solutions = append(r.Solutions, Solution{order, play(s.board, order)})
	}
}

// play returns the numbers in the cells after an order.
func play(b *chemin.Board, order []int) []uint32 {
	numbers, err := b.Play(order)
	if err != nil {
		panic(err) // the searches make orders of all cells
	}
	return numbers
}

// listed returns the solutions to list, sorted.
func (s *solver) listed() [][]int {
	if !s.All {
		return s.optimal
	}
	var orders [][]int
	for _, order := range s.optimal {
		orders = append(orders, s.images(order)...)
	}
	slices.SortFunc(orders, slices.Compare[[]int])
	if most := s.mostListed(); len(orders) > most {
		s.result.Cut = s.result.Exact()
		orders = orders[:most]
	}
	return orders
}

// images returns the solutions that are symmetric to one.
func (s *solver) images(order []int) [][]int {
	var images [][]int
	o := s.board.Orient(order)
	seen := map[chemin.Orientation]bool{}
	for i := range s.board.Symmetries() {
		by := &s.board.Symmetries()[i]
		moved := o.Move(s.board, by)
		switch {
		case s.Method == Naive || s.Method == Classes:
			images = append(images, move(order, by))
		case !seen[moved]:
			seen[moved] = true
			images = append(images, moved.Order(s.board))
		}
	}
	return images
}

// move carries an order along a symmetry.
func move(order []int, by *chemin.Symmetry) []int {
	image := make([]int, len(order))
	for i, cell := range order {
		image[i] = int(by[cell])
	}
	return image
}

// setTotal sets the number of all things, if it is known.
func setTotal(c **Counts, n *tally) {
	if n != nil {
		ensure(c)
		(*c).Total, (*c).UpToSymmetry = &n.total, &n.classes
	}
}

// setOptimal sets the number of optimal things.
func setOptimal(c **Counts, n *tally) {
	ensure(c)
	(*c).Optimal, (*c).OptimalUpToSymmetry = &n.total, &n.classes
}

func ensure(c **Counts) {
	if *c == nil {
		*c = &Counts{}
	}
}
