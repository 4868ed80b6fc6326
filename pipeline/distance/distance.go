package distance

import (
	"context"
	"errors"
	"fmt"
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
	"grenier/io/vfs"
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
	// Mend leaves out layers of which no distances are listed or there, and reads all other files to the end: what is damaged is
	// computed again, and what is lost.
	Mend bool
	// DryRun only finds out what would be computed, changing nothing.
	DryRun bool
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
	// Problem says why a file is replaced, "" if there is none.
	Problem string `json:"problem,omitempty"`
	// Valued is how many positions have a distance: those whose score is not 0.
	Valued uint64 `json:"valued"`
	// Longest is the greatest distance, in plies; Board is the first board that has it, "" if there is none.
	Longest int     `json:"longest"`
	Board   string  `json:"board"`
	Seconds float64 `json:"seconds"`

	file manifest.Distances // that is there then
}

// Result is the outcome of a run.
type Result struct {
	Layers  []Layer `json:"layers"`
	Seconds float64 `json:"seconds"`
}

// Run computes the distances of layers of the run directory dir that have none yet, writes a file for each beside its
// scores, and lists it in the manifest. When it fails, or ctx ends, the files of the layers before stay, and the next run goes on
// with the others.
//
// It fails with a *memory.Error, with ErrPlies, with tables.ErrUnsolved, like rundir.Lock, and with an error that matches corrupt.ErrCorrupt
// if the scores of a layer do not follow from each other. The result then holds the layers that were done before.
func Run(ctx context.Context, dir string, o Options) (result *Result, err error) {
	start := time.Now()
	result = &Result{Layers: []Layer{}}
	defer func() { result.Seconds = time.Since(start).Seconds() }()
	r := &run{options: o, path: dir, meter: meter{report: o.Progress}}
	if err := r.open(); err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	t, err := tables.Open(ctx, dir, catalog.Listed(r.manifest), tables.Kernel(o.Family), tables.CacheBytes(1)) // read in order only
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	layers, err := r.begin(ctx, t)
	if err != nil {
		return result, err
	}
	for i := range layers {
		if err := r.layer(ctx, &layers[i]); err != nil {
			return result, err
		}
		result.Layers = append(result.Layers, layers[i])
		if o.Done != nil {
			o.Done(layers[i])
		}
	}
	return result, nil
}

// run is a computation in progress.
type run struct {
	options  Options
	path     string
	dir      *rundir.Locked // nil for a dry run
	manifest *manifest.Manifest
	tables   *tables.Tables
	space    *awari.Space
	keeps    bool      // there are distances of the layer in progress in work/
	kept     time.Time // when they were kept last
	meter    meter
}

// open locks the run directory, unless nothing is to be changed, and reads the manifest.
func (r *run) open() error {
	d, err := rundir.Open(r.path)
	if err != nil {
		return err
	}
	if r.manifest, err = catalog.Manifest(d); err != nil {
		return err
	}
	if r.options.DryRun {
		return d.IsLocked()
	}
	if r.dir, err = rundir.Lock(r.path, r.manifest.Identity); err != nil {
		return err
	}
	if r.manifest, err = catalog.Manifest(r.dir); err != nil { // it may have changed before we had the lock
		return errors.Join(err, r.dir.Unlock())
	}
	return nil
}

// close unlocks the run directory.
func (r *run) close() error {
	if r.dir == nil {
		return nil
	}
	return r.dir.Unlock()
}

// begin finds out what there is of each layer, and whether the memory suffices for the others.
func (r *run) begin(ctx context.Context, t *tables.Tables) (layers []Layer, err error) {
	o := &r.options
	o.Workers, r.tables = max(1, o.Workers), t
	if o.Layers, err = verify.Layers(t, o.Layers); err != nil {
		return nil, err
	}
	if r.space, err = awari.NewSpace(t.Game(), max(0, t.MaxSeeds())); err != nil {
		return nil, err
	}
	largest := -1
	for _, n := range o.Layers {
		layer, wanted, err := r.examine(ctx, n)
		if err != nil {
			return nil, err
		}
		if !wanted {
			continue
		}
		layers = append(layers, layer)
		r.meter.total += work(&r.manifest.Layers[n])
		if !layer.There {
			largest = max(largest, n)
		}
	}
	if largest < 0 || o.DryRun {
		return layers, nil
	}
	return layers, memory.Check(fmt.Sprintf("computing the distances of layer %d", largest), Least(t, largest, o.Workers), o.Memory)
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

// layer computes the distances of a layer, unless there is a file of them, and lists it.
func (r *run) layer(ctx context.Context, layer *Layer) (err error) {
	start, n := time.Now(), layer.Seeds
	size := work(&r.manifest.Layers[n])
	switch {
	case layer.There:
		r.meter.skip(n, size)
		return r.list(n, layer.file)
	case r.options.DryRun:
		return nil
	}
	r.meter.begin(n)
	s := r.sweeper(n)
	open, err := r.start(ctx, s, layer)
	if err == nil {
		err = r.sweeps(ctx, s, open, layer)
	}
	if err == nil {
		err = r.save(ctx, s, layer)
	}
	if err != nil {
		return errors.Join(err, r.keepInterrupted(ctx, s))
	}
	r.meter.end(size)
	layer.Seconds = time.Since(start).Seconds()
	if err := r.list(n, layer.file); err != nil {
		return err
	}
	if !r.keeps {
		return nil
	}
	return vfs.RemoveIfThere(r.dir.Work(), rundir.DistancesName)
}

// list lists the file of the distances of layer n in the manifest, unless it is listed.
func (r *run) list(n int, file manifest.Distances) error {
	if r.options.DryRun || r.manifest.Layers[n].Distances == file {
		return nil
	}
	next := *r.manifest
	next.Layers = slices.Clone(next.Layers)
	next.Layers[n].Distances = file
	if err := r.dir.SaveManifest(&next); err != nil {
		return err
	}
	r.manifest = &next
	return nil
}

// backed compares the scores of layer n with those of their moves, and returns the winners of whom a capture
// keeps the score.
func (r *run) backed(ctx context.Context, n int) (set, error) {
	o, fresh := &r.options, newSet(r.space.Size(n))
	room := int64(verify.DefaultMemoryBytes)
	if o.Memory > 0 {
		room = int64(min(memory.Room(o.Memory)-r.tables.Overhead(o.Workers)-verify.Fixed(r.tables, n, o.Workers)-8*uint64(len(fresh)), math.MaxInt64))
	}
	result, err := verify.Run(ctx, r.path, verify.Options{
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

// sweeper returns what will sweep layer n.
func (r *run) sweeper(n int) *sweeper {
	return &sweeper{
		Rules: packed.New(r.space.Game), space: r.space, seeds: n, size: r.space.Size(n), workers: r.options.Workers, grow: r.meter.grounded,
	}
}

// start loads a layer, compares its scores with their moves, unless an interrupted run did, and returns how many distances are to be found.
func (r *run) start(ctx context.Context, s *sweeper, layer *Layer) (open uint64, err error) {
	found, err := r.found(ctx, s.seeds)
	if err != nil {
		return 0, err
	}
	if found != nil {
		s.fresh = newSet(s.size)
		defer func() { err = errors.Join(err, found.Close()) }()
	} else if s.fresh, err = r.backed(ctx, s.seeds); err != nil {
		return 0, err
	}
	r.collect(s.seeds)
	layer.Valued, err = s.load(ctx, func(from uint64, dst []int8) error { return r.tables.Read(ctx, s.seeds, from, dst) })
	if err != nil || found == nil {
		return layer.Valued, err
	}
	known, err := s.resume(ctx, found, r.options.Family)
	r.keeps = true
	r.meter.resume(s.size + known)
	r.options.Notef("layer %d goes on after %d plies", s.seeds, s.done)
	return layer.Valued - known, err
}

// sweeps finds the distances of a layer, ply by ply, and says in layer which are the longest.
func (r *run) sweeps(ctx context.Context, s *sweeper, open uint64, layer *Layer) error {
	r.kept = time.Now()
	for open > 0 {
		plies := s.done + 1
		if plies > MaxPlies {
			return fmt.Errorf("layer %d: %w", s.seeds, ErrPlies)
		}
		r.meter.ply(plies)
		found, err := s.sweep(ctx, plies, open)
		if err != nil {
			return err
		}
		if found == 0 {
			return corrupt.New(r.tables.Path(s.seeds), "", "%d scores are not traced down to a capture; verify --prove names some", open)
		}
		open, s.done = open-found, plies
		if time.Since(r.kept) > keepEvery {
			if err := r.keep(ctx, s); err != nil {
				return err
			}
		}
	}
	if layer.Longest = s.done; layer.Longest > 0 {
		rank := slices.IndexFunc(s.cells, func(c cell) bool { return int(c.plies) == layer.Longest })
		layer.Board = r.space.Text(r.space.Unrank(s.seeds, uint64(rank)))
	}
	return nil
}

// save writes the file of a layer.
func (r *run) save(ctx context.Context, s *sweeper, layer *Layer) (err error) {
	h := catalog.DistanceHeader(r.manifest, layer.Seeds)
	if h.Model, err = s.model(layer.Longest); err != nil {
		return err
	}
	if err := r.dir.PlaceLayers(r.manifest.Layers[layer.Seeds].Directory); err != nil {
		return err
	}
	p, err := r.dir.NewDistances(layer.Seeds)
	if err != nil {
		return err
	}
	summary, err := s.write(ctx, p, h, &r.options)
	layer.file, layer.Bytes = manifest.NewDistances(summary.Footer), summary.Footer.Bytes
	return err
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

// resume takes in work on a layer that an interrupted run did.
func (m *meter) resume(work uint64) { m.set(func() { m.begun, m.done = m.begun+work, m.done+work }) }

// grounded takes in positions whose distance is known.
func (m *meter) grounded(positions uint64) { m.set(func() { m.done += positions }) }

// end ends a layer.
func (m *meter) end(work uint64) { m.set(func() { m.before += work; m.done = m.before }) }
