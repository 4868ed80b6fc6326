package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"grenier/io/layerfile"
	"grenier/io/listed"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/pipeline/job"
)

const (
	sumsName = "SHA256SUMS"
	reserve  = 4 << 20 // bytes for all but the layers
)

// layers copies the files of scores and of distances that are not there.
func (p *publisher) layers(ctx context.Context, report *Report) error {
	w := &work{publisher: p}
	scores, plies := p.sources()
	var missing uint64
	for _, s := range slices.Concat(scores, plies) {
		w.total += 2 * s.Bytes
		if !p.list.Lists(s.File) {
			missing += s.Bytes
		}
	}
	if err := p.needRoom(missing); err != nil {
		return err
	}
	var err error
	if report.Layers, err = w.all(ctx, scores); err != nil {
		return err
	}
	report.Distances, err = w.all(ctx, plies)
	return err
}

// source is a file that is to be in the site.
type source struct {
	listed.File // as far as it is known before it is copied
	path        string
	// open compares it with the manifest.
	open func(ctx context.Context, seeds int) (*layerfile.File, error)
}

// sources returns the files of the scores, and of the distances that are listed.
func (p *publisher) sources() (scores, plies []source) {
	for _, i := range p.manifest.Sealed() {
		l := &p.manifest.Layers[i]
		f := listed.File{File: l.File, Seeds: i, Source: listed.Source(l.Hash, l.Checksum), Bytes: uint64(l.Bytes)}
		scores = append(scores, source{f, rundir.LayerFile(p.dir, l), p.tables.File})
		if d := l.Distances; d.Listed() {
			f := listed.File{File: rundir.DistanceName(i), Seeds: i, Source: listed.Source(d.Hash, d.Checksum), Bytes: uint64(d.Bytes)}
			plies = append(plies, source{f, rundir.DistanceFile(p.dir, l), p.tables.ListedDistances})
		}
	}
	return scores, plies
}

// all copies the files that are not there.
func (w *work) all(ctx context.Context, sources []source) ([]Layer, error) {
	all := []Layer{}
	for i := range sources {
		s := &sources[i]
		layer, err := w.layer(ctx, s)
		if err != nil {
			return nil, err
		}
		w.progress(s, "check", 2*uint64(layer.Bytes))
		w.done += 2 * uint64(layer.Bytes)
		all = append(all, layer)
		if w.options.Done != nil {
			w.options.Done(layer)
		}
	}
	return all, nil
}

// needRoom fails if the disk has less room.
func (p *publisher) needRoom(need uint64) error {
	free, err := rundir.FreeBytes(p.out)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err == nil && need > 0 && free < need+reserve {
		err = &rundir.RoomError{What: "the site", Path: p.out, Need: need + reserve, Free: free}
	}
	return err
}

// work is the copying of the layers of a site. Each byte counts twice: it is copied, and
// read again from where it is then; or it is there already.
type work struct {
	*publisher
	done, total uint64 // bytes
	told        uint64 // of them
}

// progress tells how far it is: into bytes of the layer at hand are done. A file that turns out to
// be wrong when it was read does not take it back.
func (w *work) progress(s *source, stage string, into uint64) {
	w.told = max(w.told, w.done+into)
	step := job.OfLayer(s.Seeds, 0, w.told, w.total)
	step.Doing, step.Unit = stage+" "+step.Doing, job.Bytes
	w.options.Tell(step)
}

// layer copies a file, unless it is there.
func (w *work) layer(ctx context.Context, s *source) (Layer, error) {
	copied := s.File
	checked := func(read, _ uint64) { w.progress(s, "check", 2*read) }
	kept, err := w.list.Keeps(ctx, &copied, checked)
	if err == nil && !kept {
		err = w.copy(ctx, s, &copied)
	}
	return Layer{File: s.File.File, Seeds: s.Seeds, Bytes: int64(s.Bytes), SHA256: copied.SHA256, Kept: kept}, err
}

// copy copies a file into the site, checks what is on the disk then, and lists it.
func (w *work) copy(ctx context.Context, s *source, copied *listed.File) error {
	if _, err := s.open(ctx, s.Seeds); err != nil {
		return err
	}
	from, err := vfs.OpenFile(s.path)
	if err != nil {
		return err
	}
	defer from.Close()
	err = w.list.Write(copied, func(to io.Writer) error {
		return listed.Pass(ctx, to, from, func(n uint64) { w.progress(s, "copy", n) })
	})
	if err != nil {
		return err
	}
	if err := w.check(ctx, s); err != nil {
		return fmt.Errorf("the copy of %s: %w", s.path, err)
	}
	return w.list.Add(*copied)
}

// check compares all checksums of the stored bytes of a file in the site. One that was
// copied from a damaged file is removed: nobody shall fetch it.
func (w *work) check(ctx context.Context, s *source) error {
	f, problems, err := layerfile.Inspect(w.path(TablesName, s.File.File))
	if err != nil {
		return err
	}
	defer f.Close()
	first := errors.Join(problems...)
	if first == nil {
		report := func(problem error) {
			if first == nil {
				first = problem
			}
		}
		progress := func(read layerfile.Scrubbed) { w.progress(s, "check", s.Bytes+uint64(read.Bytes)) }
		if err := f.Scrub(ctx, 0, f.NumBlocks(), 1, progress, report); err != nil {
			return err
		}
	}
	if first == nil {
		return nil
	}
	return errors.Join(first, vfs.RemoveIfThere(w.copies, s.File.File))
}

// listing writes the manifest of the layers, and their SHA-256.
func (p *publisher) listing(all []Layer) error {
	m := *p.manifest
	m.Layers = slices.Clone(m.Layers)
	for i := range m.Layers {
		m.Layers[i].Directory = "" // all are beside it
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, l := range all {
		fmt.Fprintf(&sums, "%s  %s\n", l.SHA256, l.File)
	}
	fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), rundir.ManifestName)
	if err := p.write(p.copies, rundir.ManifestName, data); err != nil {
		return err
	}
	return p.write(p.copies, sumsName, sums.Bytes())
}
