package puzzle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/internal/chance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/find"
	"grenier/pipeline/tables"
)

// ErrOptions reports options that make no sense.
var ErrOptions = fault.New(fault.Usage, "puzzles")

const (
	// MaxCount is the most puzzles that are drawn.
	MaxCount = 10_000
	// drawsEach is how many positions are looked at for each puzzle that is wanted, at most.
	drawsEach = 2_000
	// atOnce is how many positions are asked for together.
	atOnce = 64
)

// Options say which puzzles are wanted. The job and Note are not used, but for Progress.
type Options struct {
	job.Job
	From, To  int // layers, by seeds, which are drawn from in turn; one between them may be left out of the tables
	Condition find.Condition
	Theme     string // that they have; any if it is empty
	// Least and Most are the ratings between which they are.
	Least, Most int
	Count       int    // 1 to MaxCount
	Seed        uint64 // of the random choice
}

// Draw returns puzzles: positions of each layer in turn, drawn at random without repetition. They are fewer than wanted if the layers, or
// 2,000 positions for each, have no more. It fails with ErrOptions, like tables.Tables.Probes, or with the error of ctx.
func Draw(ctx context.Context, t *tables.Tables, o Options) ([]Puzzle, error) {
	d, err := newDrawer(t, o)
	if err != nil {
		return nil, err
	}
	puzzles := []Puzzle{}
	for {
		boards := d.boards()
		if len(boards) == 0 {
			return puzzles, nil
		}
		probes, err := t.Probes(ctx, boards)
		if err != nil {
			return nil, err
		}
		for i := range probes {
			p, err := d.puzzle(ctx, &probes[i])
			if err != nil {
				return nil, err
			}
			if p == nil {
				continue
			}
			if puzzles = append(puzzles, *p); len(puzzles) == o.Count {
				return puzzles, nil
			}
		}
		o.Tell(job.Step{Doing: "drawing puzzles", Done: float64(len(puzzles)), Total: float64(o.Count), Unit: job.Items})
	}
}

// drawer draws positions.
type drawer struct {
	options Options
	tables  *tables.Tables
	space   *awari.Space
	judges  []func(context.Context, *tables.Probe) (bool, error)
	layers  []int                // by seeds
	orders  []chance.Permutation // of the positions of each
	drawn   uint64
}

func newDrawer(t *tables.Tables, o Options) (*drawer, error) {
	switch {
	case o.From < 0 || o.From > o.To:
		return nil, fmt.Errorf("%w: layers %d to %d", ErrOptions, o.From, o.To)
	case o.Count < 1 || o.Count > MaxCount:
		return nil, fmt.Errorf("%w: %d of them (1 to %d are possible)", ErrOptions, o.Count, MaxCount)
	case o.Least < 0 || o.Least > o.Most || o.Most > 100:
		return nil, fmt.Errorf("%w: ratings %d to %d (0 to 100 are possible)", ErrOptions, o.Least, o.Most)
	case o.Theme != "" && !slices.Contains(Themes(), o.Theme):
		return nil, fmt.Errorf("%w: there is no theme %q: %s are possible", ErrOptions, o.Theme, strings.Join(Themes(), ", "))
	}
	if err := cmp.Or(t.Need(o.To), o.Condition.Check(t.Game())); err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(t.Game(), o.To)
	if err != nil {
		return nil, err
	}
	first := base()
	d := &drawer{options: o, tables: t, space: space}
	d.judges = append(d.judges, first.Judge(t), d.options.Condition.Judge(t))
	for n := o.From; n <= o.To; n++ {
		if t.Has(n) {
			d.layers = append(d.layers, n)
			d.orders = append(d.orders, chance.NewPermutation(space.Size(n), chance.Mix(o.Seed)+uint64(n)))
		}
	}
	return d, nil
}

// boards returns the next positions, none if there are no more.
func (d *drawer) boards() (boards []awari.Board) {
	layers, limit := uint64(len(d.orders)), uint64(d.options.Count)*drawsEach
	largest := d.space.Size(d.options.To)
	for ; d.drawn < min(limit, largest*layers) && len(boards) < atOnce; d.drawn++ {
		n, i := int(d.drawn%layers), d.drawn/layers
		if seeds := d.layers[n]; i < d.space.Size(seeds) {
			boards = append(boards, d.space.Unrank(seeds, d.orders[n].At(i)))
		}
	}
	return boards
}

// puzzle returns the puzzle that a position is, nil if it is none that is wanted.
func (d *drawer) puzzle(ctx context.Context, p *tables.Probe) (*Puzzle, error) {
	for _, meets := range d.judges {
		if ok, err := meets(ctx, p); !ok || err != nil {
			return nil, err
		}
	}
	plies, err := lineOf(ctx, d.tables, p)
	if err != nil || plies == nil {
		return nil, err
	}
	game, o := d.tables.Game(), &d.options
	if o.Theme != "" && !slices.Contains(themesOf(game, plies), o.Theme) {
		return nil, nil
	}
	if z := newPuzzle(game, p.Value, plies); z.Rating >= o.Least && z.Rating <= o.Most {
		return z, nil
	}
	return nil, nil
}
