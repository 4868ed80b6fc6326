package chemin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"grenier/layers/chemin"
)

// Method is a way to search.
type Method string

// The methods.
const (
	Classes      Method = "classes"
	Orientations Method = "orientations"
	Layers       Method = "layers"
)

// ErrOption reports an option that is not possible.
var ErrOption = errors.New("not possible")

// ParseMethod returns the method of that name. It fails with ErrOption.
func ParseMethod(name string) (Method, error) {
	switch m := Method(name); m {
	case Classes, Orientations, Layers:
		return m, nil
	}
	return "", fmt.Errorf("method %q: %w; classes, orientations and layers are", name, ErrOption)
}

// Options says how to search.
type Options struct {
	Method Method
	// All lists every optimal solution instead of one of each class of symmetric ones.
	All bool
	// Memory is about the most bytes for records and bounds.
	Memory int64
	// Time, if positive, ends the search, with bounds when it is not done.
	Time    time.Duration
	Threads int
	// Dir, if not empty, is a directory in which Layers keeps what does not fit in memory
	// and from which it goes on after an interruption. It is made, or empty, or of
	// the same board.
	Dir string
	// Progress, if not nil, is told how far the search is, from one goroutine at a time.
	Progress func(Progress)
}

// Progress says how far a search is.
type Progress struct {
	Doing string
	// Done of Total steps are done.
	Done, Total int
	// Best is the best score so far.
	Best uint32
}

// Counts are numbers of orders, orientations or grids; nil where a method does not find them.
type Counts struct {
	Total               *uint64 `json:"total,omitempty"`
	UpToSymmetry        *uint64 `json:"up_to_symmetry,omitempty"`
	Optimal             *uint64 `json:"optimal,omitempty"`
	OptimalUpToSymmetry *uint64 `json:"optimal_up_to_symmetry,omitempty"`
}

// Solution is an order and the grid that it makes.
type Solution struct {
	Order []int    // cells in the order of filling
	Grid  []uint32 // number in each cell
}

// Result is what a search found.
type Result struct {
	// Lower and Upper enclose the maximum; they are equal when it is known.
	Lower, Upper uint32
	// Orders, Orientations and Grids are nil if nothing is known about them.
	Orders, Orientations, Grids *Counts
	// Leaves is the number of whole orders (Classes) or orientations visited.
	Leaves uint64
	// StatesPerLayer has the number of states that Layers kept with 0, 1, ... filled cells.
	StatesPerLayer []uint64
	// Solutions are optimal if the result is exact, and else the best ones found.
	Solutions []Solution
	// Cut is set when the maximum is known but Solutions may not hold all that reach it: they
	// are too many, or the time was over.
	Cut bool
}

// Exact reports whether the maximum is known.
func (r *Result) Exact() bool { return r.Lower == r.Upper }

// MaxSolutions is the most optimal orders or orientations that a search keeps.
const MaxSolutions = 1 << 20

// Solve searches the orders of a board for the largest number. When the time is over, the
// memory too small for a search without a directory, or ctx ends, the result has bounds;
// in the last case the error is that of ctx. It fails with ErrOption, errors that match
// corrupt.ErrCorrupt, and those of the file system.
func Solve(ctx context.Context, b *chemin.Board, opts Options) (*Result, error) {
	if opts.Dir != "" && opts.Method != Layers {
		return nil, fmt.Errorf("a directory with method %s: %w; layers uses one", opts.Method, ErrOption)
	}
	if opts.Threads < 1 {
		return nil, fmt.Errorf("%d threads: %w; 1 is the least", opts.Threads, ErrOption)
	}
	if opts.Memory < minMemory {
		return nil, fmt.Errorf("%d bytes of memory: %w; %d is the least", opts.Memory, ErrOption, minMemory)
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if opts.Time > 0 {
		limited, cancel = context.WithTimeout(ctx, opts.Time)
	}
	defer cancel()
	s := &solver{Options: opts, board: b, best: &incumbent{}, result: &Result{}}
	s.best.offer(b, natural(b))
	err := s.run(limited)
	switch {
	case err == nil:
	case ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errMemory)):
	case ctx.Err() != nil:
		err = ctx.Err()
		s.finish()
		return s.result, err
	default:
		return nil, err
	}
	s.finish()
	return s.result, nil
}

// minMemory is the least memory that makes sense.
const minMemory = 1 << 20

// solver is a search in progress.
type solver struct {
	Options
	board  *chemin.Board
	best   *incumbent
	result *Result
	growth []uint32
	upper  uint64 // proven so far
	// optimal are the optimal orders found; representatives, as the method has it.
	optimal [][]int
}

func (s *solver) run(ctx context.Context) error {
	s.growth = growth(s.board)
	s.upper = uint64(s.growth[s.board.Cells()])
	switch s.Method {
	case Classes:
		return s.classes(ctx)
	case Orientations:
		return s.orientations(ctx)
	case Layers:
		return s.sweepLayers(ctx)
	}
	return fmt.Errorf("method %q: %w", s.Method, ErrOption)
}

// natural returns the order of the cells row by row.
func natural(b *chemin.Board) []int {
	order := make([]int, b.Cells())
	for i := range order {
		order[i] = i
	}
	return order
}

func (s *solver) report(doing string, done, total int) {
	if s.Progress != nil {
		s.Progress(Progress{Doing: doing, Done: done, Total: total, Best: s.best.score.Load()})
	}
}

// finish fills in what all methods have in common.
func (s *solver) finish() {
	r := s.result
	r.Lower = s.best.score.Load()
	r.Upper = uint32(max(uint64(r.Lower), min(s.upper, uint64(s.growth[s.board.Cells()]))))
	if s.board.Cells() <= chemin.MaxCounted {
		total, classes := s.board.Orders()
		if r.Orders == nil {
			r.Orders = &Counts{}
		}
		r.Orders.Total, r.Orders.UpToSymmetry = &total, &classes
	}
	if !r.Exact() || len(s.optimal) == 0 {
		s.optimal = [][]int{s.best.order}
		r.Cut = r.Cut && r.Exact()
	}
	for _, order := range s.listed() {
		grid, err := s.board.Play(order)
		if err != nil {
			panic(err) // the searches make orders of all cells
		}
		r.Solutions = append(r.Solutions, Solution{order, grid})
	}
}

// listed returns the solutions to list, sorted.
func (s *solver) listed() [][]int {
	if !s.All {
		return s.optimal
	}
	seen := map[chemin.Orientation]bool{}
	var orders [][]int
	for _, order := range s.optimal {
		for i := range s.board.Symmetries() {
			image := move(order, &s.board.Symmetries()[i])
			o := s.board.Orient(image)
			if s.Method != Classes && seen[o] {
				continue
			}
			seen[o] = true
			orders = append(orders, image)
		}
	}
	slices.SortFunc(orders, slices.Compare[[]int])
	return orders
}

// move carries an order along a symmetry.
func move(order []int, by *chemin.Symmetry) []int {
	image := make([]int, len(order))
	for i, cell := range order {
		image[i] = int(by[cell])
	}
	return image
}

// grid is the numbers in the cells of a full board.
type grid [chemin.MaxCells]uint32

func gridOf(b *chemin.Board, order []int) grid {
	var g grid
	numbers, err := b.Play(order)
	if err != nil {
		panic(err) // as above
	}
	copy(g[:], numbers)
	return g
}

// orbits counts the different images of some things under the symmetries, and the classes.
func orbits[T comparable](b *chemin.Board, things map[T]bool, image func(T, *chemin.Symmetry) T) (total, classes uint64) {
	seen := map[T]bool{}
	for thing := range things {
		if seen[thing] {
			continue
		}
		classes++
		for i := range b.Symmetries() {
			seen[image(thing, &b.Symmetries()[i])] = true
		}
	}
	return uint64(len(seen)), classes
}

func (s *solver) gridOrbits(grids map[grid]bool) (total, classes uint64) {
	return orbits(s.board, grids, func(g grid, by *chemin.Symmetry) grid {
		var image grid
		for cell := range s.board.Cells() {
			image[by[cell]] = g[cell]
		}
		return image
	})
}

func (s *solver) orientationOrbits(found map[chemin.Orientation]bool) (total, classes uint64) {
	return orbits(s.board, found, func(o chemin.Orientation, by *chemin.Symmetry) chemin.Orientation {
		return o.Move(s.board, by)
	})
}

// countOptimal counts the orientations and grids of the optimal orders, if all were kept.
func (s *solver) countOptimal() {
	if s.result.Cut {
		return
	}
	orientations, grids := map[chemin.Orientation]bool{}, map[grid]bool{}
	for _, order := range s.optimal {
		orientations[s.board.Orient(order)] = true
		grids[gridOf(s.board, order)] = true
	}
	setOptimal(&s.result.Orientations)(s.orientationOrbits(orientations))
	setOptimal(&s.result.Grids)(s.gridOrbits(grids))
}

// setOptimal returns a function that sets the numbers of optimal things.
func setOptimal(c **Counts) func(total, classes uint64) {
	return func(total, classes uint64) {
		if *c == nil {
			*c = &Counts{}
		}
		(*c).Optimal, (*c).OptimalUpToSymmetry = &total, &classes
	}
}

// perSize returns how many vectors the bounds may have of one size of sets: half of the memory
// is for what is collected as garbage later.
func (s *solver) perSize() int {
	vector := 4 * (1 + s.board.Cells()/2)
	return int(s.Memory / int64(2*vector*s.board.Cells()))
}

// prepare finds a good order by a search that keeps few states, and then works out bounds.
func (s *solver) prepare(ctx context.Context) (*bounds, error) {
	if err := s.firstOrder(ctx); err != nil {
		return nil, err
	}
	t, err := newBounds(ctx, s.board, s.growth, min(s.perSize(), mostPerSize), s.Threads, func(size int) {
		s.report("bounds", size, s.board.Cells())
	})
	if err != nil {
		return nil, err
	}
	look := t.outlook(s.board.Full())
	s.upper = min(s.upper, look.upper(new([chemin.MaxCells]uint32), noBound))
	return t, ctx.Err()
}

// firstOrder searches with few states in each layer and without bounds.
func (s *solver) firstOrder(ctx context.Context) error {
	w := s.newSweep(&bounds{board: s.board}, "")
	w.dir, w.width = "", beamWidth
	layer := w.root()
	for layer.filled < s.board.Cells() && layer.n > 0 {
		s.report("a first order", layer.filled, s.board.Cells())
		var err error
		if layer, err = w.advance(ctx, layer); err != nil {
			return err
		}
	}
	return nil
}

const (
	mostPerSize = 1 << 20
	beamWidth   = 2000
)
