package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"grenier/io/jsonfile"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// Options say what to prove and how.
type Options struct {
	job.Job
	// Layers lists the layers to prove by their number of seeds; empty stands for
	// all that are solved. The proof of a layer takes for granted that the lower
	// ones are right: those not listed must have been proved before.
	Layers []int
	// MemoryBytes bounds what is known of the positions of a layer, and panels of verify.Options, together;
	// 0 stands for verify.DefaultMemoryBytes, and Memory, if not 0, decides. What does not fit is in files in work/ of the
	// directory: the moves that keep scores, five to six bits for each position, and if need be which are grounded, one bit.
	MemoryBytes int64
	// OnDisk has a file of the latter in any case.
	OnDisk bool
	// Resume records which layers are proved, and which positions of the one in progress are grounded. It
	// leaves out what was recorded by a run that was interrupted, unless it is to Restart.
	Resume, Restart bool
	// Done, if not nil, is called with each layer that is done.
	Done func(Layer)
}

// Run verifies and proves the run directory dir, layer by layer. Whatever is wrong
// with a layer becomes part of the result; layers above one that is not proved are
// only verified. An error says that the question could not be answered: a
// *memory.Error, or an error of verify.Run. The result then holds the layers that
// were done before.
func Run(ctx context.Context, dir string, o Options) (result *Result, err error) {
	start := time.Now()
	result = &Result{OK: true, Layers: []Layer{}}
	d, err := rundir.Open(dir)
	if err != nil {
		return result, err
	}
	m, err := d.Manifest()
	if err != nil {
		return result, err
	}
	t, err := tables.Open(ctx, dir, catalog.Listed(m), tables.Kernel(o.Family), tables.CacheBytes(1)) // read in order only
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	book, err := d.Notebook()
	if err != nil {
		return result, err
	}
	defer book.Close()
	r, err := newRun(t, book, o)
	if err != nil {
		return result, err
	}
	defer r.close()
	if o.Resume {
		if r.notes, err = notes.Open(book, m, notes.Options{
			Name: rundir.ProveName, Header: header, Reads: t.Game().CapturesLeadTo, Restart: o.Restart, Tell: o.Note,
		}); err != nil {
			return result, err
		}
		result.Restarted = r.notes.Again()
	}
	for _, n := range r.options.Layers {
		layer, err := r.layer(ctx, n, result.OK)
		if err != nil {
			r.notes.Save()
			return result, err
		}
		result.add(layer, time.Since(start))
		if o.Done != nil {
			o.Done(layer)
		}
	}
	r.forgetMarks()
	return result, r.notes.End(r.options.Layers)
}

// header begins the notes.
var header = jsonfile.Header{Format: "grenier-prove", Version: 2}

// run is a proof in progress.
type run struct {
	options Options
	book    *rundir.Notebook
	work    vfs.Dir // open if something was or is there; nil otherwise
	tables  *tables.Tables
	space   *awari.Space
	notes   *notes.Notes // nil if nothing is noted
	meter   meter
}

// newRun prepares a proof: it counts what is to be proved.
func newRun(t *tables.Tables, book *rundir.Notebook, o Options) (*run, error) {
	o.Workers = max(1, o.Workers)
	if o.MemoryBytes == 0 {
		o.MemoryBytes = verify.DefaultMemoryBytes
	}
	var err error
	if o.Layers, err = verify.Layers(t, o.Layers); err != nil {
		return nil, err
	}
	space, err := awari.NewSpace(t.Game(), max(0, t.MaxSeeds()))
	if err != nil {
		return nil, err
	}
	r := &run{
		options: o, book: book, tables: t, space: space, meter: meter{report: o.Progress},
	}
	for _, n := range o.Layers {
		r.meter.total += work(&t.Layers()[n])
	}
	if err := r.checkMemory(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// checkMemory fails if there is too little memory for the largest layer, or if it needs marks on
// disk that cannot be written.
func (r *run) checkMemory() error {
	if len(r.options.Layers) == 0 {
		return nil
	}
	_, fits, err := r.room(slices.Max(r.options.Layers))
	if err != nil || fits {
		return err
	}
	m, err := r.newMarks(0)
	if err != nil {
		return fmt.Errorf("a proof in so little memory keeps a file in work/: %w", err)
	}
	return m.Close()
}

// newMarks makes the marks of a layer of that size on disk.
func (r *run) newMarks(size uint64) (*marks.Set, error) {
	work, err := r.openWork()
	if err != nil {
		return nil, err
	}
	return marks.Create(work, rundir.MarksName, size)
}

// openWork returns the directory of what is on disk.
func (r *run) openWork() (vfs.Dir, error) {
	var err error
	if r.work == nil {
		r.work, err = r.book.MakeWork()
	}
	return r.work, err
}

// close closes the directory of marks.
func (r *run) close() {
	if r.work != nil {
		r.work.Close()
	}
}

// room returns the bytes of memory for the proof of layer n besides its marks, and whether
// those fit; if not, the bytes are without them.
func (r *run) room(n int) (bytes int64, fits bool, err error) {
	o, least, marks := &r.options, uint64(1), (r.space.Size(n)+63)/64*8
	bytes = o.MemoryBytes
	if o.Memory > 0 {
		least = verify.Least(r.tables.Game(), n)
		fixed := r.fixed(n)
		if fixed+least > memory.Room(o.Memory) {
			return 0, false, &memory.Error{What: fmt.Sprintf("the proof of layer %d", n), Need: memory.Need(fixed + least), Allowed: o.Memory, Enough: r.enough(n)}
		}
		bytes = int64(min(memory.Room(o.Memory)-fixed, math.MaxInt64))
	}
	if !o.OnDisk && marks+least <= uint64(bytes) {
		return bytes - int64(marks), true, nil
	}
	return bytes, false, nil
}

// fixed returns the bytes of data that proving layer n takes besides marks in memory and panels: as for
// verifying, which has tables of its own, and for each worker scores, lines of columns and marks.
func (r *run) fixed(n int) uint64 {
	const perWorker, chunk = 256 << 10, 2 << 20 // ranks of a chunk of verify
	w, game := r.options.Workers, r.tables.Game()
	row, err := colex.Binomial(n+game.Half()-1, n)
	if err != nil {
		return math.MaxInt64
	}
	windows := (min(r.space.Size(n), chunk) + row) / 8 // a bit for each rank
	return verify.Fixed(r.tables, n, w) + r.tables.Overhead(w) + verify.GroundingBytes(game, n, w) + marks.Bytes + uint64(w)*(perWorker+windows+row)
}

// enough says which layers below n can be proved in the memory allowed.
func (r *run) enough(n int) string {
	for n--; n >= 0; n-- {
		if r.fixed(n)+verify.Least(r.tables.Game(), n) <= memory.Room(r.options.Memory) {
			return fmt.Sprintf("enough up to layer %d", n)
		}
	}
	return "too little for any layer"
}

// layer verifies layer n, and proves it if nothing is wrong with it and
// those below are proved.
func (r *run) layer(ctx context.Context, n int, below bool) (layer Layer, err error) {
	if below {
		if layer, ok := r.before(n); ok {
			done := work(&r.tables.Layers()[n])
			r.meter.skip(done)
			r.meter.layerDone(done)
			return layer, nil
		}
	}
	l, err := r.newLayer(n)
	if err != nil {
		return Layer{}, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	inOrder := below && l.resume()
	if inOrder {
		layer.Layer = l.resumed()
		r.meter.skip(l.size)
	} else if layer.Layer, inOrder, err = l.verify(ctx); err != nil {
		return Layer{}, err
	}
	r.meter.compared(n, l.size)
	switch {
	case !below || !inOrder:
	case layer.Plies:
		layer.Proof = l.byDistances()
	default:
		layer.Proof, err = l.prove(ctx)
	}
	if err != nil {
		return layer, err
	}
	if layer.Proof != nil {
		r.record(&layer)
	}
	r.meter.layerDone(work(l.info))
	return layer, nil
}

// before returns layer n if a run that was interrupted has proved it.
func (r *run) before(n int) (Layer, bool) {
	noted, size := r.notes.Find(n), r.space.Size(n)
	layer := Layer{
		Layer: verify.Layer{Seeds: n, Positions: size, Checked: size, Before: &noted.At, Problems: []verify.Problem{}},
		Proof: &Proof{},
	}
	return layer, noted.Complete() && json.Unmarshal(noted.Result, layer.Proof) == nil
}

// record notes a layer that is proved.
func (r *run) record(l *Layer) {
	if l.Proof.Ungrounded > 0 {
		return
	}
	if result, err := json.Marshal(l.Proof); err == nil {
		r.notes.Set(notes.Layer{Seeds: l.Seeds, Parts: 1, Done: 1, Result: result})
	}
}
