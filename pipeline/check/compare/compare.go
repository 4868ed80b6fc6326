// Package compare compares solved layers score by score: of two run directories, of two
// layer files, or of one of each. If two directories have distances of a layer, these are compared too.
//
//	result, err := compare.Run(ctx, "data/awari", "data/imported", compare.Options{})
//
// Everything is read and decoded, so damage is found as well, in either. Checksums are
// never taken for the scores that they are of.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/internal/parts"
	"grenier/pipeline/job"
)

// MaxDifferences is how many of the differences of a layer are described.
const MaxDifferences = 10

var (
	// ErrDifferences reports scores that differ.
	ErrDifferences = fault.New(fault.Difference, "scores differ")
	// ErrDistances reports distances that differ although the scores do not.
	ErrDistances = fault.New(fault.Difference, "distances differ")
)

// ErrGame reports layers that cannot be compared: of different games, or none that both
// have.
var ErrGame = fault.New(fault.Usage, "cannot be compared")

// Options say what to compare and how.
type Options struct {
	job.Job // without Memory and Note
	// Layers lists the layers by their number of seeds; empty stands for all that both
	// have.
	Layers []int
}

// Result is the outcome of a comparison of A with B.
type Result struct {
	// OK says that no score and no distance differs.
	OK    bool   `json:"ok"`
	A     string `json:"a"` // paths
	B     string `json:"b"`
	Rules string `json:"rules"`
	Pits  int    `json:"pits"`
	// Layers holds the outcomes by increasing number of seeds.
	Layers []Layer `json:"layers"`
	// OnlyA and OnlyB list the layers that only one has. They are no differences.
	OnlyA []int `json:"only_a"`
	OnlyB []int `json:"only_b"`
	// Stale says which layers of a run directory were computed from others than those below them.
	Stale   []string `json:"stale,omitempty"`
	Seconds float64  `json:"seconds"`

	stale error // the first one
}

// Layer is the outcome for one layer.
type Layer struct {
	Seeds     int    `json:"seeds"`
	Positions uint64 `json:"positions"`
	Differences
	// Distances are the differences of the distances, nil unless both have some.
	Distances *Differences `json:"distances,omitempty"`
}

// Differences are the positions of a layer whose values differ: how many there are, and the first of them by rank,
// MaxDifferences at most.
type Differences struct {
	Differing uint64       `json:"differing"`
	First     []Difference `json:"first"`
}

// Difference is a position with two scores, or two distances.
type Difference struct {
	Rank  uint64 `json:"rank"`
	Board string `json:"board"` // as awari.Game.Text writes it
	A     int    `json:"a"`     // the values
	B     int    `json:"b"`
}

// Err returns ErrDifferences if scores differ, ErrDistances if only distances do, otherwise an error that wraps a
// *manifest.StaleError if there is a stale layer.
func (r *Result) Err() error {
	var differing, plies, positions uint64
	for i := range r.Layers {
		l := &r.Layers[i]
		differing += l.Differing
		positions += l.Positions
		if l.Distances != nil {
			plies += l.Distances.Differing
		}
	}
	switch {
	case differing > 0:
		return fmt.Errorf("%w: %d of %d positions", ErrDifferences, differing, positions)
	case plies > 0:
		return fmt.Errorf("%w: of %d of %d positions", ErrDistances, plies, positions)
	}
	return r.stale
}

// Run compares what is at the paths a and b, run directories or layer files. It fails with
// ErrGame, with tables.ErrUnsolved for a layer that one of them lacks, with an error that
// matches corrupt.ErrCorrupt for one that is damaged, and with the error of ctx. Differences are
// no error; see Result.Err.
func Run(ctx context.Context, a, b string, o Options) (result *Result, err error) {
	start := time.Now()
	c := &comparison{Options: o, paths: [2]string{a, b}}
	defer func() { err = errors.Join(err, c.close()) }()
	for i := range c.sides {
		if c.sides[i], err = openSide(ctx, c.paths[i], o.Family); err != nil {
			return nil, err
		}
	}
	if result, err = c.begin(ctx); err != nil {
		return nil, err
	}
	if err := c.findStale(result); err != nil {
		return nil, err
	}
	for _, n := range c.Layers {
		layer, err := c.layer(ctx, n)
		if err != nil {
			return nil, err
		}
		result.Layers = append(result.Layers, layer)
		result.OK = result.OK && layer.Differing == 0 && (layer.Distances == nil || layer.Distances.Differing == 0)
	}
	result.Seconds = time.Since(start).Seconds()
	return result, nil
}

// findStale adds the stale layers of the run directories to the result.
func (c *comparison) findStale(r *Result) error {
	for _, s := range c.sides {
		stale, err := s.stale()
		if err != nil {
			return err
		}
		for _, err := range stale {
			r.OK, r.stale = false, cmp.Or(r.stale, err)
			r.Stale = append(r.Stale, err.Error())
		}
	}
	return nil
}

// comparison is a comparison in progress.
type comparison struct {
	Options
	paths [2]string
	sides [2]side // those that are open
	space *awari.Space
	plies map[int]bool // the layers of which both have distances

	mu          sync.Mutex
	done, total uint64
}

// close closes the sides.
func (c *comparison) close() error {
	var all error
	for _, s := range c.sides {
		if s != nil {
			all = errors.Join(all, s.close())
		}
	}
	return all
}

// begin finds out which layers there are to compare.
func (c *comparison) begin(ctx context.Context) (*Result, error) {
	a, b := c.sides[0], c.sides[1]
	if a.game() != b.game() {
		return nil, fmt.Errorf("%w: %s is of %s, %s of %s", ErrGame, c.paths[0], a.game().Name(), c.paths[1], b.game().Name())
	}
	game := a.game()
	result := &Result{
		OK: true, A: c.paths[0], B: c.paths[1], Rules: game.Rules().String(), Pits: game.Pits(),
		Layers: []Layer{}, OnlyA: []int{}, OnlyB: []int{},
	}
	var both []int
	for n := range awari.MaxSeeds + 1 {
		switch inA, inB := a.Need(n) == nil, b.Need(n) == nil; {
		case inA && inB:
			both = append(both, n)
		case inA:
			result.OnlyA = append(result.OnlyA, n)
		case inB:
			result.OnlyB = append(result.OnlyB, n)
		}
	}
	if len(both) == 0 {
		return nil, fmt.Errorf("%w: there is no layer that both %s and %s have", ErrGame, c.paths[0], c.paths[1])
	}
	if len(c.Layers) == 0 {
		c.Layers = both
	} else {
		result.OnlyA, result.OnlyB = []int{}, []int{} // not asked for
	}
	return result, c.count(ctx, game)
}

// count adds up what is to be compared, and checks that both sides have the layers.
func (c *comparison) count(ctx context.Context, game awari.Game) error {
	c.Layers = slices.Compact(slices.Sorted(slices.Values(c.Layers)))
	for _, n := range c.Layers {
		for _, s := range c.sides {
			if err := s.Need(n); err != nil {
				return err
			}
		}
	}
	var err error
	if c.space, err = awari.NewSpace(game, slices.Max(c.Layers)); err != nil {
		return err
	}
	c.plies = map[int]bool{}
	for _, n := range c.Layers {
		both := true
		for _, s := range c.sides {
			has, err := s.hasDistances(ctx, n)
			if err != nil {
				return err
			}
			both = both && has
		}
		c.total += c.space.Size(n)
		if both {
			c.plies[n] = true
			c.total += c.space.Size(n)
		}
	}
	return nil
}

// layer compares layer n.
func (c *comparison) layer(ctx context.Context, n int) (layer Layer, err error) {
	layer = Layer{Seeds: n, Positions: c.space.Size(n)}
	if layer.Differences, err = c.all(ctx, n, side.read, func(x int8) int { return int(x) }); err != nil || !c.plies[n] {
		return layer, err
	}
	plies, err := c.all(ctx, n, side.readDistances, func(x int8) int { return int(uint8(x)) })
	layer.Distances = &plies
	return layer, err
}

// reader reads values of a side, as side.read does.
type reader func(s side, ctx context.Context, n int, start uint64, dst []int8) error

// all compares all values of layer n that a reader reads; value returns what a byte stands for.
func (c *comparison) all(ctx context.Context, n int, read reader, value func(int8) int) (Differences, error) {
	d := Differences{First: []Difference{}}
	workers := max(1, c.Workers)
	memory := make([][2][parts.Size]int8, workers)
	err := parts.Each(ctx, workers, c.space.Size(n), func(worker int, from, to uint64) error {
		m := &memory[worker]
		a, b := m[0][:to-from], m[1][:to-from]
		if err := read(c.sides[0], ctx, n, from, a); err != nil {
			return err
		}
		if err := read(c.sides[1], ctx, n, from, b); err != nil {
			return err
		}
		c.piece(&d, n, from, a, b)
		return nil
	})
	if err != nil {
		return d, err
	}
	for i := range d.First {
		f := &d.First[i]
		f.Board = c.space.Text(c.space.Unrank(n, f.Rank))
		f.A, f.B = value(int8(f.A)), value(int8(f.B))
	}
	return d, nil
}

// piece compares the positions of layer n from rank first on.
func (c *comparison) piece(d *Differences, n int, first uint64, a, b []int8) {
	count, found := differences(first, a, b)
	c.mu.Lock()
	defer c.mu.Unlock()
	d.Differing += count
	d.First = append(d.First, found...)
	slices.SortFunc(d.First, func(a, b Difference) int { return cmp.Compare(a.Rank, b.Rank) })
	d.First = d.First[:min(len(d.First), MaxDifferences)]
	c.done += uint64(len(a))
	c.Tell(job.OfLayer(n, 0, c.done, c.total))
}

// differences counts the positions whose bytes differ, and returns the first ones.
func differences(first uint64, a, b []int8) (count uint64, found []Difference) {
	if slices.Equal(a, b) {
		return 0, nil
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if count++; count <= MaxDifferences {
			found = append(found, Difference{Rank: first + uint64(i), A: int(a[i]), B: int(b[i])})
		}
	}
	return count, found
}
