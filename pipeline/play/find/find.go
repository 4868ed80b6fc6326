package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"grenier/io/crew"
	"grenier/io/memory"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/job"
	bestline "grenier/pipeline/play/line"
	"grenier/pipeline/tables"
)

// MaxCount is the most positions that are listed.
const MaxCount = 1_000_000

// ErrOptions reports options that make no sense.
var ErrOptions = fault.New(fault.Usage, "search")

// Options say what to search for, and how. The job and State do not change what is found. Note is not
// used, and a Memory of 0 stands for DefaultMemory.
type Options struct {
	job.Job
	From, To  int // layers, by seeds
	Condition Condition
	// Count is how many positions are listed, 0 to MaxCount; 0 only counts hits.
	Count int
	// Order says which; with First the search ends as soon as there are enough. The zero
	// value is Most("value").
	Order Order
	Seed  uint64 // of Random
	// State, if not empty, is the path of the file that keeps how far the search is.
	State string
}

// DefaultMemory is the default of Options.Memory.
const DefaultMemory = 1 << 30

// Result is the outcome of a search.
type Result struct {
	Game      awari.Game `json:"-"`
	Rules     string     `json:"rules"`
	Pits      int        `json:"pits"`
	From      int        `json:"from"` // layers, by seeds
	To        int        `json:"to"`
	Condition string     `json:"condition"`
	Order     string     `json:"order"`
	Seed      uint64     `json:"seed"`
	// Positions is how many were looked at, up to the last one that was wanted.
	Positions uint64 `json:"positions"`
	// Hits is how many of them meet the condition.
	Hits uint64 `json:"hits"`
	// Undecided is how many may or may not: their best lines are too hard to find.
	Undecided uint64 `json:"undecided"`
	// Unmeasured is how many hits have a best line that is too hard to find, if the order asks for
	// it: they come last.
	Unmeasured uint64 `json:"unmeasured"`
	Found      []Hit  `json:"-"`
}

// Hit is a position that was found.
type Hit struct {
	tables.Probe
	Rank uint64 // in its layer
}

// Run searches the run directory dir. It fails with ErrOptions or ErrCondition, with a
// *memory.Error, like tables.Open and Tables.Read, with ErrOther or an error that matches corrupt.ErrCorrupt for the state file, and with the error of
// ctx; the state file then has what was done.
func Run(ctx context.Context, dir string, o Options) (result *Result, err error) {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	o.Workers = max(1, o.Workers)
	t, err := tables.Open(ctx, dir, tables.Kernel(o.Family), tables.CacheBytes(cacheBytes))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	s, err := newSearch(t, o)
	if err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	s.begun = s.state.Positions
	if err := s.run(ctx); err != nil {
		return nil, errors.Join(err, s.save())
	}
	result = &Result{
		Game: t.Game(), Rules: t.Game().Rules().String(), Pits: t.Game().Pits(), From: o.From, To: o.To,
		Condition: o.Condition.String(), Order: o.Order.String(), Seed: o.Seed,
		Positions: s.state.Positions, Hits: s.state.Hits, Undecided: s.state.Undecided, Unmeasured: s.state.Unmeasured,
	}
	if result.Found, err = s.ask(ctx); err != nil {
		return nil, errors.Join(err, s.save())
	}
	return result, s.remove()
}

// search is a search in progress.
type search struct {
	options Options
	tables  *tables.Tables
	space   *awari.Space
	rules   *packed.Rules
	keep    [256]bool // scores that are looked at
	blind   bool      // nothing is asked about moves
	ends    bool      // as soon as enough is found
	total   uint64    // positions in all layers
	begun   uint64    // positions looked at before this run

	seeds    int      // the layer
	held     [][]int8 // layers in memory, by seeds; nil for others
	scanners []*scanner
	parts    []*part
	partSize uint64
	over     atomic.Bool // enough was found

	state state
	saved time.Time
	kept  bool // there is a state file of this search
}

// newSearch checks what is asked for.
func newSearch(t *tables.Tables, o Options) (*search, error) {
	switch {
	case o.From < 0 || o.From > o.To:
		return nil, fmt.Errorf("%w: layers %d to %d", ErrOptions, o.From, o.To)
	case o.Count < 0 || o.Count > MaxCount:
		return nil, fmt.Errorf("%w: %d positions: must be 0 to %d", ErrOptions, o.Count, MaxCount)
	}
	if err := cmp.Or(t.NeedAll(o.From, o.To), o.Condition.Check(t.Game())); err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(t.Game(), o.To)
	if err != nil {
		return nil, err
	}
	c := &o.Condition
	s := &search{options: o, tables: t, space: space, rules: packed.New(t.Game()), keep: c.scores(), held: make([][]int8, o.To+1), saved: time.Now()}
	s.ends = o.Order.first() && o.Count > 0
	s.blind = len(c.between(moves, facts)) == 0 && (o.Order.most < moves || o.Order.most == facts)
	for n := o.From; n <= o.To; n++ {
		s.total += space.Size(n)
	}
	s.state = s.beginning()
	least := s.fixed() + uint64(o.Workers)*leastQueue*perChild // if all layers stay on disk
	return s, memory.Check(fmt.Sprintf("searching layer %d", o.To), least, o.Memory)
}

// errEnough ends a search that has found enough.
var errEnough = errors.New("enough was found")

// run searches the layers from where the state is.
func (s *search) run(ctx context.Context) error {
	for s.state.Seeds <= s.options.To && !s.enough() {
		s.seeds = s.state.Seeds
		if err := s.hold(ctx); err != nil {
			return err
		}
		err := s.layer(ctx)
		if errors.Is(err, errEnough) {
			break
		}
		if err != nil {
			return err
		}
		s.state.Seeds, s.state.Rank = s.seeds+1, 0
	}
	s.state.list.prune()
	return nil
}

// enough reports whether no other position can matter.
func (s *search) enough() bool {
	return s.ends && s.state.list.full()
}

// layer searches a layer, from the rank of the state on.
func (s *search) layer(ctx context.Context) error {
	for _, x := range s.scanners {
		x.judge = newJudge(ctx, s.tables, s.rules, &s.options.Condition)
	}
	start, size := s.state.Rank, s.space.Size(s.seeds)
	count := int((size - start + s.partSize - 1) / s.partSize)
	return crew.Ordered[*part]{
		Read: func(i int, p *part) error {
			p.from = start + uint64(i)*s.partSize
			p.to = min(p.from+s.partSize, size)
			return nil
		},
		Work:  func(worker, _ int, p *part) error { return s.scanners[worker].scan(p) },
		Write: func(_ int, p *part) error { return s.take(p) },
	}.Run(ctx, s.options.Workers, count, s.parts)
}

// take adds what was found in the next part.
func (s *search) take(p *part) error {
	x := &s.state
	p.list.prune()
	for _, f := range p.list.all {
		if s.enough() {
			break
		}
		x.list.add(f)
	}
	if s.enough() {
		// What comes behind the last position does not count: the parts depend on the memory.
		last := x.list.all[len(x.list.all)-1].Rank
		x.Positions += last + 1 - x.Rank
		x.Hits, x.Rank = uint64(s.options.Count), last+1
		s.over.Store(true)
		return errEnough
	}
	x.Positions += p.to - p.from
	x.Hits += p.hits
	x.Undecided += p.undecided
	x.Unmeasured += p.unmeasured
	x.Rank = p.to
	step := job.OfLayer(s.seeds, s.begun, x.Positions, s.total)
	step.Found = x.Hits
	step.Doing += fmt.Sprintf(", %s found", humanize.Comma(int64(x.Hits)))
	s.options.Tell(step)
	if time.Since(s.saved) < saveInterval {
		return nil
	}
	return s.save()
}

// probesAtOnce is how many positions are asked for together.
const probesAtOnce = 4096

// ask asks the tables for what was found: they play by the plain rules.
func (s *search) ask(ctx context.Context) ([]Hit, error) {
	hits := make([]Hit, 0, len(s.state.list.all))
	j := newJudge(ctx, s.tables, s.rules, &s.options.Condition)
	for rest := s.state.list.all; len(rest) > 0; rest = rest[min(len(rest), probesAtOnce):] {
		some := rest[:min(len(rest), probesAtOnce)]
		boards := make([]awari.Board, len(some))
		for i, f := range some {
			boards[i] = s.space.Unrank(f.Seeds, f.Rank)
		}
		probes, err := s.tables.Probes(ctx, boards)
		if err != nil {
			return nil, err
		}
		for i := range probes {
			p := fromProbe(s.rules, &probes[i])
			ok, err := j.all(&p)
			if err != nil {
				return nil, err
			}
			if !ok {
				panic(fmt.Sprintf("find: board %s does not meet %q", s.space.Text(boards[i]), s.options.Condition.String()))
			}
			hits = append(hits, Hit{Probe: probes[i], Rank: some[i].Rank})
		}
	}
	return hits, nil
}

// cacheBytes is the cache of the tables, for best lines and for what is printed.
const cacheBytes = 16 << 20

// What the parts of a search take, in bytes.
const (
	perProbe  = 2048 // a position that is asked again
	perHit    = 512  // one that is listed, and in the state file
	perFound  = 64   // one in a list
	perWorker = 2*pieceSize + 1<<17
	// A child with its place in order, and its share of the queue.
	perChild = 8 + 1 + 4 + 32/childrenEach + 1
	// leastQueue is the fewest children for which blocks are worth decoding.
	leastQueue = 1 << 16
)

// fixed returns the bytes of data that do not depend on the layer.
func (s *search) fixed() uint64 {
	o := &s.options
	bytes := s.tables.Overhead(o.Workers) + cacheBytes
	bytes += uint64(o.Workers) * (perWorker + batchSize*packed.MaxHalf*perChild)
	if o.measures() {
		bytes += uint64(o.Workers) * linePositions * bestline.PositionBytes
	}
	lists := uint64(2*o.Workers + 3)
	return bytes + uint64(min(o.Count, probesAtOnce))*perProbe + uint64(o.Count)*perHit + lists*uint64(2*o.Count+slack)*perFound
}
