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
	"grenier/pipeline/internal/marks"
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
	// OnDisk has on disk what can be there, even if there is memory for it.
	OnDisk bool
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
	return layers, memory.Check(fmt.Sprintf("computing the distances of layer %d", largest), least(t, largest, o.Workers), o.Memory)
}

// least returns the bytes of data that the distances of layers of up to n seeds take with the given workers, if the rest is on disk: in sweeps, or,
// before that, for verifying.
func least(t *tables.Tables, n, workers int) uint64 {
	return t.Overhead(workers) + max(sweepBytes(t, n, workers), verifyBytes(t, n, workers)+verify.Least(t.Game(), n))
}

// sweepBytes returns the memory of sweeps of layer n that is not in least, but for what may be on disk.
func sweepBytes(t *tables.Tables, n, workers int) uint64 {
	const perWorker = 1 << 20 // boards, blocks, rows
	size := t.Layers()[n].Positions
	return leastBytes(size, workers, shiftOf(size, workers)) + rowBytes(t.Game().Half(), n) + ranks.DecodingBytes(ranks.MaxSymbols) +
		uint64(workers)*(perWorker+encoderBytes)
}

// verifyBytes returns the memory that verifying layer n takes besides panels, with that of the winners of whom a capture keeps the score.
func verifyBytes(t *tables.Tables, n, workers int) uint64 {
	return marks.Bytes + verify.Fixed(t, n, workers)
}

// room returns the bytes of memory that there are besides the given ones for layer n.
func (r *run) room(fixed uint64) uint64 {
	allowed, fixed := r.options.Memory, fixed+r.tables.Overhead(r.options.Workers)
	if allowed == 0 {
		allowed = verify.DefaultMemoryBytes
	}
	return memory.Room(allowed) - min(fixed, memory.Room(allowed))
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
	if err := r.compute(ctx, layer); err != nil {
		return err
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

// compute writes the file of the distances of a layer.
func (r *run) compute(ctx context.Context, layer *Layer) (err error) {
	s, err := r.sweeper(ctx, layer.Seeds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
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
	return nil
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

// verify compares the scores of a layer with those of their moves, and finds the winners of whom a capture keeps the score.
func (r *run) verify(ctx context.Context, s *sweeper) error {
	o, n := &r.options, s.seeds
	room := int64(min(r.room(verifyBytes(r.tables, n, o.Workers)), math.MaxInt64))
	result, err := verify.Run(ctx, r.path, verify.Options{
		Job: job.Job{Workers: o.Workers, Family: o.Family, Progress: r.meter.verified}, Layers: []int{n}, MemoryBytes: room, ScoresOnly: true, Backed: s.marks.Add,
	})
	if err != nil {
		return err
	}
	if problems := result.Layers[0].Problems; len(problems) > 0 {
		return corrupt.New(r.tables.Path(n), "", "its scores cannot be used: %s", problems[0].Text)
	}
	return nil
}

// collect has the memory back that verifying took, unless there are so few positions that it is not worth the time.
func (r *run) collect(n int) {
	if r.space.Size(n) >= 1<<18 {
		runtime.GC()
	}
}

// sweeper returns what will sweep layer n. It fails like package vfs.
func (r *run) sweeper(ctx context.Context, n int) (s *sweeper, err error) {
	s = &sweeper{
		Rules: packed.New(r.space.Game), space: r.space, seeds: n, size: r.space.Size(n), workers: r.options.Workers, grow: r.meter.add,
		scores: func(from uint64, dst []int8) error { return r.tables.Read(ctx, n, from, dst) }, dir: r.dir.Work(),
	}
	if !r.options.OnDisk {
		s.room = r.room(sweepBytes(r.tables, n, s.workers))
	}
	s.marks, err = marks.Create(s.dir, rundir.MarksName, s.size)
	return s, err
}

// start loads a layer, compares its scores with their moves, unless an interrupted run did, and returns how many distances are to be found.
func (r *run) start(ctx context.Context, s *sweeper, layer *Layer) (open uint64, err error) {
	found, err := r.found(ctx, s.seeds)
	if err != nil {
		return 0, err
	}
	if found != nil {
		defer func() { err = errors.Join(err, found.Close()) }()
		r.meter.resume(s.size)
		s.known = func(from uint64, dst []int8) error { return found.NewDecoder(r.options.Family).Read(ctx, dst, from) }
	} else if err := r.verify(ctx, s); err != nil {
		return 0, err
	}
	r.collect(s.seeds)
	if err := s.load(ctx); err != nil {
		return 0, err
	}
	layer.Valued, s.done = s.valued, s.longest // not before all are known: nothing is kept then
	if found != nil {
		r.keeps = true
		r.meter.resume(s.valued - s.left)
		r.options.Notef("layer %d goes on after %d plies", s.seeds, s.done)
	}
	return s.left, nil
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
		found, err := s.sweep(ctx, plies)
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
		rank, err := s.first(layer.Longest)
		if err != nil {
			return err
		}
		layer.Board = r.space.Text(r.space.Unrank(s.seeds, rank))
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
func work(l *manifest.Layer) uint64 { return 2*l.Positions + l.Win + l.Loss }

// meter adds up progress: each position counts when its score is compared, when it is loaded, and when its distance is known.
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

// add takes in positions that were loaded, or whose distance is known.
func (m *meter) add(positions uint64) { m.set(func() { m.done += positions }) }

// end ends a layer.
func (m *meter) end(work uint64) { m.set(func() { m.before += work; m.done = m.before }) }
