package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"grenier/layers/swap"
	"grenier/layers/swap/heuristic"
	"grenier/pipeline/job"
	"grenier/pipeline/swap/patterns"
)

// HeuristicsTable compares bounds on random grids.
type HeuristicsTable struct {
	Rows     int      `json:"rows"`
	Cols     int      `json:"cols"`
	Grids    int      `json:"grids"`
	Distance Distance `json:"distance"`
	// Swaps is the number of swaps on which Inconsistent was counted.
	Swaps  int     `json:"swaps_checked"`
	Bounds []Bound `json:"bounds"`
}

// Distance sums up true distances.
type Distance struct {
	Mean    float64 `json:"mean"`
	Largest int     `json:"largest"`
}

// Bound is a heuristic in a table.
type Bound struct {
	Name    string  `json:"name"`
	Mean    float64 `json:"mean"`
	Largest int     `json:"largest"`
	// Share is the mean of bound over distance, of grids that are not solved.
	Share float64 `json:"mean_share"`
	// Admissible is always true. Consistent is the claim of the bound.
	Admissible bool `json:"admissible"`
	Consistent bool `json:"consistent"`
	// Exceeds is the number of grids where the bound is above the distance,
	// Inconsistent the number of swaps that change it by more than 1.
	Exceeds      int `json:"exceeds_distance"`
	Inconsistent int `json:"inconsistent_swaps"`
	// Entries is the number of values in its tables.
	Entries int `json:"table_entries"`
	// Nanoseconds is the time of an evaluation in the quickest of several rounds.
	Nanoseconds float64 `json:"nanoseconds"`
}

// edgeGrids is the number of grids on whose swaps consistency is checked.
const edgeGrids = 1000

// bound is a heuristic with its name in tables and the size of its own tables.
type bound struct {
	heuristic.Heuristic
	name    string
	entries int
}

func (b *bench) heuristicParts() ([]part, error) {
	g, err := swap.NewGrid(3, 3)
	if err != nil {
		return nil, err
	}
	s := &survey{grid: g, states: randomGrids(g, b.o.Grids, b.o.Seed)}
	t := &HeuristicsTable{Rows: g.Rows(), Cols: g.Cols(), Grids: len(s.states), Swaps: min(edgeGrids, len(s.states)) * len(g.Swaps())}
	b.report.Heuristics = t
	return []part{{"heuristics", 10, func(ctx context.Context, tick func(float64)) error {
		bounds, err := b.allBounds(ctx, g)
		if err != nil {
			return err
		}
		if s.distance, t.Distance, err = b.distances(ctx, g, s.states); err != nil {
			return err
		}
		for i, h := range bounds {
			row, err := s.measure(ctx, h)
			if err != nil {
				return err
			}
			t.Bounds = append(t.Bounds, row)
			tick(float64(i+1) / float64(len(bounds)))
		}
		return nil
	}}}, nil
}

// distances returns the true distances of states of a small grid.
func (b *bench) distances(ctx context.Context, g *swap.Grid, states []swap.State) (each []int, d Distance, err error) {
	p, err := patterns.Static(ctx, g, heuristic.Tiles(1<<g.Cells()-1), b.patternOptions(heuristic.Unit))
	if err != nil {
		return nil, d, err
	}
	exact, err := heuristic.NewStatic(p)
	if err != nil {
		return nil, d, err
	}
	each = make([]int, len(states))
	sum := 0
	for i, s := range states {
		each[i] = exact.Estimate(s)
		sum += each[i]
		d.Largest = max(d.Largest, each[i])
	}
	d.Mean = float64(sum) / float64(len(states))
	return each, d, nil
}

func (b *bench) patternOptions(cost heuristic.Cost) patterns.Options {
	return patterns.Options{Job: job.Job{Workers: b.o.Workers, Memory: b.o.Memory}, Cost: cost}
}

// survey is the work on heuristics.
type survey struct {
	grid     *swap.Grid
	states   []swap.State
	distance []int // of each state
}

// measure evaluates a bound on all grids.
func (s *survey) measure(ctx context.Context, h bound) (Bound, error) {
	row := Bound{Name: h.name, Admissible: true, Consistent: h.Consistent(), Entries: h.entries}
	sum, share, unsolved := 0, 0.0, 0
	for i, state := range s.states {
		if i%pause == 0 && ctx.Err() != nil {
			return row, ctx.Err()
		}
		v, d := h.Estimate(state), s.distance[i]
		sum += v
		row.Largest = max(row.Largest, v)
		if v > d {
			row.Exceeds++
		}
		if d > 0 {
			share += float64(v) / float64(d)
			unsolved++
		}
		if i < edgeGrids {
			row.Inconsistent += s.jumps(h, state, v)
		}
	}
	row.Mean = float64(sum) / float64(len(s.states))
	if unsolved > 0 {
		row.Share = share / float64(unsolved)
	}
	if row.Exceeds > 0 || row.Consistent && row.Inconsistent > 0 {
		return row, fmt.Errorf("%w: %s says consistent %v: above the distance of %d grids, %d swaps change it by more than 1",
			ErrWrong, h.name, row.Consistent, row.Exceeds, row.Inconsistent)
	}
	row.Nanoseconds = s.time(ctx, h)
	return row, ctx.Err()
}

// pause is how many states go by between two looks at the context.
const pause = 1 << 8

// jumps returns the number of swaps of a state that change a bound from v by more
// than 1.
func (s *survey) jumps(h heuristic.Heuristic, state swap.State, v int) (n int) {
	for _, m := range s.grid.Swaps() {
		if change := h.Estimate(s.grid.Apply(state, m)) - v; change < -1 || change > 1 {
			n++
		}
	}
	return n
}

// round is how long evaluations are timed at once. Tests have less time.
var round = 4 * time.Millisecond

// time returns the nanoseconds of an evaluation. A round is a fixed time and not a
// fixed number, as bounds differ by a factor of a thousand.
func (s *survey) time(ctx context.Context, h heuristic.Heuristic) float64 {
	const rounds = 5
	best, next := 0.0, 0
	for i := 0; i < rounds && ctx.Err() == nil; i++ {
		start, n, elapsed := time.Now(), 0, time.Duration(0)
		for elapsed < round {
			for range 64 {
				h.Estimate(s.states[next])
				next = (next + 1) % len(s.states)
			}
			n += 64
			elapsed = time.Since(start)
		}
		if each := float64(elapsed) / float64(n); i == 0 || each < best {
			best = each
		}
	}
	return best
}

// partitions of the tiles of 3 x 3, from 1 as document 004 counts them.
var partitions = []string{"123456789", "12345|6789", "1245|36789", "123456|789", "123|456|789"}

// allBounds makes every bound that there is for 3 x 3.
func (b *bench) allBounds(ctx context.Context, g *swap.Grid) ([]bound, error) {
	walking, err := heuristic.NewWalking(g)
	if err != nil {
		return nil, err
	}
	manhattan := heuristic.NewManhattan(g)
	far, walked := bound{manhattan, "manhattan", 0}, bound{walking, "walking", walking.Entries()}
	all := []bound{{heuristic.Zero{}, "zero", 0}, {heuristic.NewInversions(g), "inversion", 0}, far, lift(g, far), walked, lift(g, walked)}
	static, err := b.staticBounds(ctx, g)
	if err != nil {
		return nil, err
	}
	dynamic, err := b.dynamicBounds(ctx, g)
	if err != nil {
		return nil, err
	}
	all = append(append(all, static...), dynamic...)
	return append(all, lift(g, largest(g, static, walked))), nil
}

// maxOf is the static bound in the largest of several.
const maxOf = "apdb tracked 123456|789"

// largest returns the largest of a static bound, its inverse, and another bound.
func largest(g *swap.Grid, static []bound, other bound) bound {
	for _, s := range static {
		if s.name == maxOf {
			return bound{heuristic.Max{s, heuristic.Inverse{Heuristic: s, Grid: g}, other}, "max", s.entries + other.entries}
		}
	}
	panic("no bound " + maxOf)
}

func lift(g *swap.Grid, h bound) bound {
	return bound{heuristic.Lift{Heuristic: h.Heuristic, Grid: g}, h.name + "+parity", h.entries}
}

// staticBounds makes the sums of databases of the partitions.
func (b *bench) staticBounds(ctx context.Context, g *swap.Grid) (all []bound, err error) {
	for _, cost := range []heuristic.Cost{heuristic.Unit, heuristic.Tracked} {
		for _, partition := range partitions {
			var parts []*heuristic.Pattern
			entries := 0
			for part := range strings.SplitSeq(partition, "|") {
				p, err := b.pattern(ctx, g, part, cost)
				if err != nil {
					return nil, err
				}
				parts = append(parts, p)
				entries += len(p.Values)
			}
			h, err := heuristic.NewStatic(parts...)
			if err != nil {
				return nil, err
			}
			all = append(all, bound{h, fmt.Sprintf("apdb %v %s", cost, partition), entries})
		}
	}
	return all, nil
}

// pattern builds the database of the tiles whose digits are in a text.
func (b *bench) pattern(ctx context.Context, g *swap.Grid, digits string, cost heuristic.Cost) (*heuristic.Pattern, error) {
	var numbers []int
	for _, digit := range digits {
		numbers = append(numbers, int(digit-'1'))
	}
	tiles, err := heuristic.TilesOf(g, numbers)
	if err != nil {
		return nil, err
	}
	return patterns.Static(ctx, g, tiles, b.patternOptions(cost))
}

// dynamicBounds makes the covers by sets of up to 2, 3 and 4 tiles.
func (b *bench) dynamicBounds(ctx context.Context, g *swap.Grid) (all []bound, err error) {
	for _, cost := range []heuristic.Cost{heuristic.Unit, heuristic.Tracked} {
		var tables []*heuristic.SetTable
		entries := 0
		for size := 1; size <= heuristic.MaxSet; size++ {
			t, err := patterns.Dynamic(ctx, g, size, b.patternOptions(cost))
			if err != nil {
				return nil, err
			}
			tables = append(tables, t)
			entries += len(t.Values)
			if size == 1 {
				continue // half the Manhattan distance
			}
			for _, exact := range []bool{false, true} {
				h, err := heuristic.NewDynamic(exact, tables...)
				if err != nil {
					return nil, err
				}
				how := map[bool]string{false: "greedy", true: "exact"}[exact]
				all = append(all, bound{h, fmt.Sprintf("gadb %v k=%d %s", cost, size, how), entries})
			}
		}
	}
	return all, nil
}
