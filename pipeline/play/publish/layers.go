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
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/pipeline/job"
)

const (
	sumsName = "SHA256SUMS"
	reserve  = 4 << 20 // bytes for all but the layers
)

// layers copies the layer files that are not there.
func (p *publisher) layers(ctx context.Context) ([]Layer, error) {
	w := &work{publisher: p}
	var missing uint64
	for i := range p.manifest.Layers {
		l := &p.manifest.Layers[i]
		w.total += 2 * uint64(l.Bytes)
		if !p.list.Lists(file(l)) {
			missing += uint64(l.Bytes)
		}
	}
	if err := p.needRoom(missing); err != nil {
		return nil, err
	}
	all := []Layer{}
	for i := range p.manifest.Layers {
		layer, err := w.layer(ctx, i)
		if err != nil {
			return nil, err
		}
		w.progress(&p.manifest.Layers[i], "check", 2*uint64(layer.Bytes))
		w.done += 2 * uint64(layer.Bytes)
		all = append(all, layer)
		if p.options.Done != nil {
			p.options.Done(layer)
		}
	}
	return all, nil
}

// file returns the file of a layer, as far as is known before it is copied.
func file(l *manifest.Layer) listed.File {
	return listed.File{File: l.File, Seeds: l.Seeds, Source: listed.Source(l)}
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
func (w *work) progress(l *manifest.Layer, stage string, into uint64) {
	w.told = max(w.told, w.done+into)
	s := job.OfLayer(l.Seeds, 0, w.told, w.total)
	s.Doing, s.Unit = stage+" "+s.Doing, job.Bytes
	w.options.Tell(s)
}

// layer copies the file of a layer, unless it is there.
func (w *work) layer(ctx context.Context, i int) (Layer, error) {
	l := &w.manifest.Layers[i]
	layer, copied := Layer{File: l.File, Seeds: i, Bytes: l.Bytes}, file(l)
	checked := func(read, _ uint64) { w.progress(l, "check", 2*read) }
	kept, err := w.list.Keeps(ctx, &copied, checked)
	if err == nil && !kept {
		err = w.copy(ctx, l, &copied)
	}
	layer.SHA256, layer.Kept = copied.SHA256, kept
	return layer, err
}

// copy copies the file of a layer into the site, checks what is on the disk then, and lists it.
func (w *work) copy(ctx context.Context, l *manifest.Layer, copied *listed.File) error {
	if _, err := w.tables.File(ctx, l.Seeds); err != nil { // compares it with the manifest
		return err
	}
	path := rundir.LayerFile(w.dir, l)
	from, err := vfs.OpenFile(path)
	if err != nil {
		return err
	}
	defer from.Close()
	err = w.list.Write(copied, func(to io.Writer) error {
		return listed.Pass(ctx, to, from, func(n uint64) { w.progress(l, "copy", n) })
	})
	if err != nil {
		return err
	}
	if err := w.check(ctx, l); err != nil {
		return fmt.Errorf("the copy of %s: %w", path, err)
	}
	return w.list.Add(*copied)
}

// check compares all checksums of the stored bytes of a layer file in the site. One that was
// copied from a damaged file is removed: nobody shall fetch it.
func (w *work) check(ctx context.Context, l *manifest.Layer) error {
	f, problems, err := layerfile.Inspect(w.path(TablesName, l.File))
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
		progress := func(s layerfile.Scrubbed) { w.progress(l, "check", uint64(l.Bytes+s.Bytes)) }
		if err := f.Scrub(ctx, 0, f.NumBlocks(), 1, progress, report); err != nil {
			return err
		}
	}
	if first == nil {
		return nil
	}
	return errors.Join(first, vfs.RemoveIfThere(w.copies, l.File))
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
