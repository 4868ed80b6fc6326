package distance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/kernels/ranks"
	"grenier/layers/awari"
	"grenier/layers/awari/packed"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// MaxPlies is the greatest distance that a file holds: a byte.
const MaxPlies = math.MaxUint8

// ErrPlies reports a layer with a greater one.
var ErrPlies = fault.New(fault.Usage, "a distance is more than 255 plies, which a file does not hold")

// Options say what to compute and how.
type Options struct {
	job.Job
	// Layers lists the layers by their number of seeds; empty stands for all that are solved.
	Layers []int
	// Done, if not nil, is called with each layer that is done.
	Done func(Layer)
}

// Layer is the outcome for one layer.
type Layer struct {
	Seeds     int    `json:"seeds"`
	Positions uint64 `json:"positions"`
	// Bytes is the length of the file.
	Bytes int64 `json:"bytes"`
	// There says that the file was there already; what follows is not known then.
	There bool `json:"there"`
	// Valued is how many positions have a distance: those whose score is not 0.
	Valued uint64 `json:"valued"`
	// Longest is the greatest distance, in plies; Board is the first board that has it, "" if there is none.
	Longest int     `json:"longest"`
	Board   string  `json:"board"`
	Seconds float64 `json:"seconds"`
}

// Result is the outcome of a run.
type Result struct {
	Layers  []Layer `json:"layers"`
	Seconds float64 `json:"seconds"`
}

// Run computes the distances of layers of the run directory dir that have none yet, and writes a file for each beside its
// scores. When it fails, or ctx ends, the files of the layers before stay, and the next run goes on
// with the others.
//
// It fails with a *memory.Error, with ErrPlies, with tables.ErrUnsolved, like rundir.Lock, and with an error that matches corrupt.ErrCorrupt
// if the scores of a layer do not follow from each other. The result then holds the layers that were done before.
func Run(ctx context.Context, dir string, o Options) (result *Result, err error) {
	start := time.Now()
	result = &Result{Layers: []Layer{}}
	defer func() { result.Seconds = time.Since(start).Seconds() }()
	d, err := rundir.Open(dir)
	if err != nil {
		return result, err
	}
	m, err := catalog.Manifest(d)
	if err != nil {
		return result, err
	}
	locked, err := rundir.Lock(dir, m.Identity)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, locked.Unlock()) }()
	t, err := tables.Open(ctx, dir, catalog.Listed(m), tables.Kernel(o.Family), tables.CacheBytes(1)) // read in order only
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	r, err := newRun(t, locked, m, o)
	if err != nil {
		return result, err
	}
	for _, n := range r.options.Layers {
		layer, err := r.layer(ctx, n)
		if err != nil {
			return result, err
		}
		result.Layers = append(result.Layers, layer)
		if o.Done != nil {
			o.Done(layer)
		}
	}
	return result, nil
}

// run is a computation in progress.
type run struct {
	options  Options
	dir      *rundir.Locked
	manifest *manifest.Manifest
	tables   *tables.Tables
	space    *awari.Space
	meter    meter
}

func newRun(t *tables.Tables, dir *rundir.Locked, m *manifest.Manifest, o Options) (*run, error) {
	o.Workers = max(1, o.Workers)
	var err error
	if o.Layers, err = verify.Layers(t, o.Layers); err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(t.Game(), max(0, t.MaxSeeds()))
	if err != nil {
		return nil, err
	}
	r := &run{options: o, dir: dir, manifest: m, tables: t, space: space, meter: meter{report: o.Progress}}
	for _, n := range o.Layers {
		r.meter.total += work(&m.Layers[n])
	}
	if len(o.Layers) == 0 {
		return r, nil
	}
	n := slices.Max(o.Layers)
	return r, memory.Check(fmt.Sprintf("computing the distances of layer %d", n), Least(t, n, o.Workers), o.Memory)
}

// Least returns the bytes of data that the distances of layers of up to n seeds take with the given workers: a cell and some
// bits for each position, or, before that, what verifying takes, and a bit.
func Least(t *tables.Tables, n, workers int) uint64 {
	const perWorker = 1 << 20 // boards, blocks, rows
	size := t.Layers()[n].Positions
	sweeps := size*cellBits/8 + rowBytes(t.Game().Half(), n) + ranks.DecodingBytes(ranks.MaxSymbols) + uint64(workers)*(perWorker+encoderBytes)
	return t.Overhead(workers) + max(sweeps, size/8+verify.Fixed(t, n, workers)+verify.Least(t.Game(), n))
}

// encoderBytes is the memory of an encoder with its model, and of the blocks in flight.
const encoderBytes = 3<<20 + flightsEach*2*layerfile.MaxBlockSize

// layer computes the distances of the layer of n seeds, unless there is a file of them.
func (r *run) layer(ctx context.Context, n int) (Layer, error) {
	start, info := time.Now(), &r.manifest.Layers[n]
	layer := Layer{Seeds: n, Positions: info.Positions}
	if bytes, ok, err := r.there(n); ok || err != nil {
		layer.Bytes, layer.There = bytes, true
		r.meter.skip(n, work(info))
		return layer, err
	}
	r.meter.begin(n)
	fresh, err := r.backed(ctx, n)
	if err != nil {
		return layer, err
	}
	r.collect(n)
	s, err := r.sweeps(ctx, n, fresh, &layer)
	if err != nil {
		return layer, err
	}
	if layer.Bytes, err = r.save(ctx, n, s, layer.Longest); err != nil {
		return layer, err
	}
	r.meter.end(work(info))
	layer.Seconds = time.Since(start).Seconds()
	return layer, nil
}

// there reports whether there is an intact file of the distances of layer n, and of how many bytes. One of other scores, or a
// damaged one, is replaced.
func (r *run) there(n int) (bytes int64, ok bool, err error) {
	f, err := layerfile.Peek(rundir.DistanceFile(r.dir.Path(), &r.manifest.Layers[n]))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, corrupt.ErrCorrupt) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	ok = catalog.CheckDistances(r.manifest, n, f) == nil
	return f.Footer().Bytes, ok, f.Close()
}

// backed compares the scores of layer n with those of their moves, and returns the winners of whom a capture
// keeps the score.
func (r *run) backed(ctx context.Context, n int) (set, error) {
	o, fresh := &r.options, newSet(r.space.Size(n))
	room := int64(verify.DefaultMemoryBytes)
	if o.Memory > 0 {
		room = int64(min(memory.Room(o.Memory)-r.tables.Overhead(o.Workers)-verify.Fixed(r.tables, n, o.Workers)-8*uint64(len(fresh)), math.MaxInt64))
	}
	result, err := verify.Run(ctx, r.dir.Path(), verify.Options{
		Job: job.Job{Workers: o.Workers, Family: o.Family, Progress: r.meter.verified}, Layers: []int{n}, MemoryBytes: room, ScoresOnly: true,
		Backed: func(bits []byte, at int64) error {
			for i, b := range bits {
				rank := 8 * uint64(at+int64(i))
				if b != 0 {
					fresh.share(rank/64, uint64(b)<<(rank%64))
				}
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if problems := result.Layers[0].Problems; len(problems) > 0 {
		return nil, corrupt.New(r.tables.Path(n), "", "its scores cannot be used: %s", problems[0].Text)
	}
	return fresh, nil
}

// collect has the memory back that verifying took, unless there are so few positions that it is not worth the time.
func (r *run) collect(n int) {
	if r.space.Size(n) >= 1<<18 {
		runtime.GC()
	}
}

// sweeps finds the distances of layer n, ply by ply, and says in layer which are the longest.
func (r *run) sweeps(ctx context.Context, n int, fresh set, layer *Layer) (*sweeper, error) {
	s := &sweeper{
		Rules: packed.New(r.space.Game), space: r.space, seeds: n, size: r.space.Size(n), workers: r.options.Workers,
		fresh: fresh, grow: r.meter.grounded,
	}
	open, err := s.load(ctx, func(from uint64, dst []int8) error { return r.tables.Read(ctx, n, from, dst) })
	if err != nil {
		return nil, err
	}
	layer.Valued = open
	for plies := 1; open > 0; plies++ {
		if plies > MaxPlies {
			return nil, fmt.Errorf("layer %d: %w", n, ErrPlies)
		}
		r.meter.ply(plies)
		found, err := s.sweep(ctx, plies, open)
		if err != nil {
			return nil, err
		}
		if found == 0 {
			return nil, corrupt.New(r.tables.Path(n), "", "%d scores are not traced down to a capture; verify --prove names some", open)
		}
		open -= found
		layer.Longest = plies
	}
	if layer.Longest > 0 {
		rank := slices.IndexFunc(s.cells, func(c cell) bool { return int(c.plies) == layer.Longest })
		layer.Board = r.space.Text(r.space.Unrank(n, uint64(rank)))
	}
	return s, nil
}

// save writes the file of layer n, and returns its length.
func (r *run) save(ctx context.Context, n int, s *sweeper, longest int) (int64, error) {
	h := catalog.DistanceHeader(r.manifest, n)
	var err error
	if h.Model, err = s.model(longest); err != nil {
		return 0, err
	}
	if err := r.dir.PlaceLayers(r.manifest.Layers[n].Directory); err != nil {
		return 0, err
	}
	p, err := r.dir.NewDistances(n)
	if err != nil {
		return 0, err
	}
	summary, err := s.write(ctx, p, h, &r.options)
	return summary.Footer.Bytes, err
}

// work returns the work for a layer, a summand of the total.
func work(l *manifest.Layer) uint64 { return l.Positions + l.Win + l.Loss }

// meter adds up progress: each position counts once when its score is compared, and once more when its distance is known.
type meter struct {
	mu                         sync.Mutex
	report                     func(job.Step) // may be nil
	begun, before, done, total uint64
	seeds, plies               int
}

// set changes the meter and reports the step.
func (m *meter) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	if m.report == nil {
		return
	}
	s := job.OfLayer(m.seeds, m.begun, m.done, m.total)
	if m.plies > 0 {
		s.Doing += fmt.Sprintf(", %d plies", m.plies)
	}
	m.report(s)
}

// skip leaves out a layer that is done.
func (m *meter) skip(n int, work uint64) {
	m.set(func() {
		m.seeds, m.plies = n, 0
		m.begun, m.before, m.done = m.begun+work, m.before+work, m.before+work
	})
}

// begin begins a layer.
func (m *meter) begin(n int) { m.set(func() { m.seeds, m.plies = n, 0 }) }

// verified takes in how far the comparison of a layer is.
func (m *meter) verified(s job.Step) { m.set(func() { m.done = m.before + uint64(s.Done) }) }

// ply begins a sweep.
func (m *meter) ply(plies int) { m.set(func() { m.plies = plies }) }

// grounded takes in positions whose distance is known.
func (m *meter) grounded(positions uint64) { m.set(func() { m.done += positions }) }

// end ends a layer.
func (m *meter) end(work uint64) { m.set(func() { m.before += work; m.done = m.before }) }
