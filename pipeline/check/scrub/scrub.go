// Package scrub reads a run directory from the disk and compares all checksums: of
// the manifest, and of header, model, index, blocks and footer of every layer file, and of the distances beside them. It
// finds data that a disk has lost, at the speed of the disk, and decodes nothing: whether
// the scores are right is a question for package verify.
//
// A large run takes hours, so a scrub records its progress in work/scrub.json (package
// notes), and an interrupted one resumes: it skips files that were intact and have not changed
// since, and continues the file in progress after its last intact block. A scrub that
// finishes removes the record: the next one reads everything.
//
// Several processes may each read a part of each file (job.Part), and one adds up what they have found (part.go).
//
// It writes nothing else and takes no lock. While a solver runs, or in a directory that
// cannot be written, it keeps no record; everything else is the same.
package scrub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"grenier/io/corrupt"
	"grenier/io/jsonfile"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/job"
	"grenier/pipeline/tables/catalog"
)

// Options say which layers to read, and how.
type Options struct {
	job.Job // whose Workers read; without Family and Memory
	// Layers lists the layers to read by their number of seeds; empty stands for all.
	// Progress is recorded only when all are read.
	Layers []int
	// Restart reads everything, even if a scrub was interrupted.
	Restart bool
	// Part is the part of each file that is read, an equal share of its blocks. What it has found is recorded, faults too, and
	// left out when it was in order before. All adds up what was recorded.
	Part job.Part
	// Done, if not nil, is called with each layer that is done, by increasing seeds.
	Done func(Layer)
}

// Run scrubs the run directory at path. Whatever is wrong becomes part of the result;
// see Result.Err. A directory without a manifest that can be read counts as a run if it
// has files that are layers. An error says that the question could not be answered: an error
// of rundir.Open if the directory holds no run at all, ErrNoLayer, one of the operating
// system, or the error of ctx. The result then has the layers that were done before.
func Run(ctx context.Context, path string, o Options) (*Result, error) {
	s := &scrubber{options: o, start: time.Now(), result: &Result{OK: true, Layers: []Layer{}}}
	if err := s.survey(path); err != nil {
		return s.result, err
	}
	if len(o.Layers) == 0 || o.Part != (job.Part{}) {
		book, err := s.dir.Notebook()
		if err != nil {
			return s.result, err
		}
		defer book.Close()
		if err := s.open(book); err != nil {
			return s.result, err
		}
		s.result.Restarted, s.result.parts = s.notes.Again(), s.notes.Of()
	}
	var all []int
	for i := range s.tasks {
		s.total += s.bytesOf(s.tasks[i])
		all = append(all, s.tasks[i].Seeds)
	}
	for _, t := range s.tasks {
		l, err := s.layer(ctx, t)
		if err == nil && t.listed {
			err = s.distances(ctx, t.Seeds, &l)
		}
		if err != nil {
			s.notes.Save()
			return s.result, err
		}
		s.note(&l)
		s.result.add(l, time.Since(s.start))
		if o.Done != nil {
			o.Done(l)
		}
	}
	return s.result, s.notes.End(all)
}

// header begins the notes.
var header = jsonfile.Header{Format: "grenier-scrub", Version: 2}

// ErrNoLayer reports a layer above all that a directory lists or has.
var ErrNoLayer = fault.New(fault.Usage, "no such layer")

// scrubber is a scrub in progress.
type scrubber struct {
	options  Options
	start    time.Time
	dir      *rundir.Dir
	manifest *manifest.Manifest // nil if it cannot be read
	tasks    []task
	notes    *notes.Notes   // nil if nothing is noted
	named    map[int]string // see nameDistances
	result   *Result

	read, total int64 // bytes
}

// task is a layer to be read.
type task struct {
	rundir.Found
	listed, there bool
}

// survey finds the files to read.
func (s *scrubber) survey(path string) (err error) {
	if s.dir, err = rundir.At(path); err != nil {
		return err
	}
	var listErr error
	s.manifest, listErr = s.dir.Manifest()
	found, err := s.dir.Found(s.manifest)
	if err != nil {
		return err
	}
	if listErr != nil {
		if err := s.noManifest(listErr, found); err != nil {
			return err
		}
	}
	return s.choose(found)
}

// noManifest records that the manifest cannot be read. It fails if nothing else shows
// that the directory holds a run.
func (s *scrubber) noManifest(cause error, found []rundir.Found) error {
	lost := errors.Is(cause, fs.ErrNotExist)
	if !lost && !errors.Is(cause, corrupt.ErrCorrupt) {
		return cause
	}
	for _, f := range found {
		if f.Begins {
			if lost {
				cause = corrupt.New(s.dir.ManifestPath(), "", "missing, but there are layer files")
			}
			s.result.OK, s.result.Manifest, s.result.first = false, cause.Error(), cause
			return nil
		}
	}
	if !lost {
		return cause
	}
	if _, err := rundir.Open(s.dir.Path()); err != nil {
		return err
	}
	return cause
}

// choose makes the list of layers to read: all from 0 to the largest one that is listed, or
// that begins like a layer file.
func (s *scrubber) choose(found []rundir.Found) error {
	listed := 0
	if s.manifest != nil {
		listed = len(s.manifest.Layers)
	}
	last := listed - 1
	there := map[int]rundir.Found{}
	for _, f := range found {
		there[f.Seeds] = f
		if f.Seeds > last && f.Begins {
			last = f.Seeds
		}
	}
	for n := range last + 1 {
		f, ok := there[n]
		if n < listed && !s.manifest.Has(n) && !ok {
			continue // left out
		}
		if wanted := s.options.Layers; len(wanted) == 0 || slices.Contains(wanted, n) {
			f.Seeds = n
			s.tasks = append(s.tasks, task{f, n < listed && s.manifest.Has(n), ok})
		}
	}
	for _, f := range found {
		if f.Seeds > last {
			s.result.Ignored = append(s.result.Ignored, rundir.LayerName(f.Seeds))
		}
	}
	for _, n := range s.options.Layers {
		if !slices.ContainsFunc(s.tasks, func(t task) bool { return t.Seeds == n }) {
			if n < listed {
				return fmt.Errorf("%w: %s", ErrNoLayer, catalog.Lacks(s.manifest, s.dir.Path(), n))
			}
			return fmt.Errorf("layer %d: %w (%s has layers 0 to %d)", n, ErrNoLayer, s.dir.Path(), last)
		}
	}
	return nil
}

// layer reads a layer.
func (s *scrubber) layer(ctx context.Context, t task) (Layer, error) {
	path := s.path(t)
	l := Layer{
		Seeds: t.Seeds, File: rundir.LayerName(t.Seeds), State: Intact, Bytes: t.Stamp.Bytes,
		Unlisted: s.manifest != nil && !t.listed, Problems: []string{},
	}
	s.collect(&l)
	if t.listed && s.manifest.Layers[t.Seeds].File != l.File {
		l.damaged(corrupt.New(s.dir.ManifestPath(), fmt.Sprintf("layer %d", t.Seeds), "its file is called %s instead of %s",
			s.manifest.Layers[t.Seeds].File, l.File))
		return l, nil
	}
	switch {
	case !t.there:
		l.State = Missing
		l.problem(corrupt.New(path, "", "missing: %w", fs.ErrNotExist))
		return l, nil
	case !t.Regular:
		l.damaged(corrupt.New(path, "", "%w: not a regular file", corrupt.ErrForeign))
		return l, nil
	}
	return l, s.file(ctx, path, t, &l)
}

// path returns where the file of a layer is, or should be.
func (s *scrubber) path(t task) string {
	if !t.there && t.listed {
		return rundir.LayerFile(s.dir.Path(), &s.manifest.Layers[t.Seeds])
	}
	if !t.there {
		return s.dir.LayerPath(t.Seeds)
	}
	return t.Path
}

// file reads the file of a layer.
func (s *scrubber) file(ctx context.Context, path string, t task, l *Layer) error {
	f, problems, err := layerfile.Inspect(path)
	if errors.Is(err, corrupt.ErrCorrupt) { // no file any more
		l.damaged(err)
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if len(problems) == 0 && t.listed {
		if err := s.manifest.CheckFile(t.Seeds, f); err != nil {
			problems = []error{err}
		}
	}
	if len(problems) == 0 && f.Header().Seeds != t.Seeds {
		problems = []error{corrupt.New(path, "header", "number of seeds %d %w the name", f.Header().Seeds, corrupt.ErrMismatch)}
	}
	for _, p := range problems {
		l.damaged(p)
	}
	if len(problems) > 0 {
		s.read += s.bytesOf(t)
		return nil
	}
	if err := s.blocks(ctx, f, t, l); err != nil || l.State != Intact || !t.listed {
		return err
	}
	if stale := s.manifest.CheckBelow(f); stale != nil {
		l.State = Stale
		l.problem(stale)
	}
	return nil
}

// blocks reads the blocks of a file, the rest of which is in order.
func (s *scrubber) blocks(ctx context.Context, f *layerfile.File, t task, l *Layer) error {
	from, to := s.blocksOf(f, l)
	noted, bytes := s.before(f, t.Seeds, to-from), s.bytesOf(t)
	if noted.Complete() {
		l.Before = &noted.At
		s.total -= bytes
		return nil
	}
	skipped := int64(float64(bytes) / float64(max(to-from, 1)) * float64(noted.Done)) // about
	s.total -= skipped
	begun := s.read
	progress := func(p layerfile.Scrubbed) {
		s.read = begun + p.Bytes
		if l.State == Intact {
			noted.Done = p.Block - from
			s.notes.Set(noted)
		}
		step := job.OfLayer(t.Seeds, 0, s.read, s.total)
		step.Unit = job.Bytes
		s.options.Tell(step)
	}
	err := f.Scrub(ctx, from+noted.Done, to, s.options.Workers, progress, l.damaged)
	if errors.Is(err, corrupt.ErrCorrupt) { // the index has changed
		l.damaged(err)
		err = nil
	}
	if l.State != Intact {
		s.notes.Drop(t.Seeds)
	} else if err == nil && !s.options.Part.One() {
		noted.Done = noted.Parts
		s.notes.Set(noted)
		s.notes.Save()
	}
	s.read = begun + bytes - skipped
	return err
}

// before returns the note about a file: its parts are the blocks that are to be read, and one for the file as a whole. A
// note names the footer too: a file that the manifest does not list has no other name.
func (s *scrubber) before(f *layerfile.File, seeds, blocks int) notes.Layer {
	noted, parts := s.notes.Find(seeds), blocks+1
	footer := fmt.Sprintf("%q", manifest.Checksum(f.Footer().Checksum))
	if s.options.Part.One() && noted.Complete() {
		return noted
	}
	if noted.Parts != parts || string(noted.Result) != footer {
		return notes.Layer{Seeds: seeds, Parts: parts, Result: []byte(footer)}
	}
	return noted
}
