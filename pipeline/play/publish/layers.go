package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"

	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
)

const (
	sumsName = "SHA256SUMS"
	piece    = 1 << 20 // bytes that are copied at a time
	reserve  = 4 << 20 // bytes for all but the layers
)

// layers copies the layer files that are not there.
func (p *publisher) layers(ctx context.Context) ([]Layer, error) {
	w := &work{publisher: p}
	var missing uint64
	for i := range p.manifest.Layers {
		l := &p.manifest.Layers[i]
		w.total += 2 * uint64(l.Bytes)
		if _, ok := p.known(l); !ok {
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
		w.progress(&p.manifest.Layers[i], Checking, 2*uint64(layer.Bytes))
		w.done += 2 * uint64(layer.Bytes)
		all = append(all, layer)
		if p.options.Done != nil {
			p.options.Done(layer)
		}
	}
	return all, nil
}

// known returns what the list says about the file of a layer, if it is that of the manifest.
func (p *publisher) known(l *manifest.Layer) (listed, bool) {
	known, ok := p.find(l.File)
	return known, ok && known.Bytes == l.Bytes && known.Checksum == l.Checksum
}

// needRoom fails if the disk has not so many bytes.
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

// progress tells how far it is, so many bytes into the layer at hand. A file that turns out to
// be wrong when it was read does not take it back.
func (w *work) progress(l *manifest.Layer, stage Stage, into uint64) {
	w.told = max(w.told, w.done+into)
	w.tell(Progress{Seeds: l.Seeds, Stage: stage, Done: w.told, Total: w.total})
}

// layer copies the file of a layer, unless it is there.
func (w *work) layer(ctx context.Context, i int) (Layer, error) {
	l := &w.manifest.Layers[i]
	layer := Layer{File: l.File, Seeds: i, Bytes: l.Bytes}
	if known, ok := w.known(l); ok {
		sum, err := w.sum(ctx, l)
		if err != nil {
			return layer, err
		}
		if layer.SHA256, layer.Kept = sum, sum == known.SHA256; layer.Kept {
			return layer, nil
		}
	}
	if _, err := w.tables.File(i); err != nil { // compares it with the manifest
		return layer, err
	}
	sum, err := w.copy(ctx, l)
	if err != nil {
		return layer, err
	}
	layer.SHA256 = sum
	return layer, w.add(listed{File: l.File, Bytes: l.Bytes, Checksum: l.Checksum, SHA256: sum})
}

// sum returns the SHA-256 of the file of a layer in the site, "" if there is none.
func (w *work) sum(ctx context.Context, l *manifest.Layer) (string, error) {
	f, err := vfs.OpenFile(w.path(TablesName, l.File))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	err = pass(ctx, f, h, func(n uint64) { w.progress(l, Checking, 2*n) })
	return text(h), err
}

func text(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// copy copies the file of a layer into the site, checks what is on the disk then, and returns
// its SHA-256.
func (w *work) copy(ctx context.Context, l *manifest.Layer) (string, error) {
	from, err := vfs.OpenFile(rundir.LayerFile(w.dir, l))
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := vfs.BeginIn(w.copies, l.File)
	if err != nil {
		return "", err
	}
	defer to.Abort()
	h := sha256.New()
	if err := pass(ctx, from, io.MultiWriter(to, h), func(n uint64) { w.progress(l, Copying, n) }); err != nil {
		return "", err
	}
	if err := to.Publish(); err != nil {
		return "", err
	}
	if err := w.check(ctx, l); err != nil {
		return "", fmt.Errorf("the copy of %s: %w", rundir.LayerFile(w.dir, l), err)
	}
	return text(h), nil
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
		progress := func(s layerfile.Scrubbed) { w.progress(l, Checking, uint64(l.Bytes+s.Bytes)) }
		if err := f.Scrub(ctx, 0, 1, progress, report); err != nil {
			return err
		}
	}
	if first == nil {
		return nil
	}
	return errors.Join(first, vfs.RemoveIfThere(w.copies, l.File))
}

// pass passes bytes on, and tells how many.
func pass(ctx context.Context, from io.Reader, to io.Writer, progress func(n uint64)) error {
	buf := make([]byte, piece)
	for done := uint64(0); ; {
		n, err := from.Read(buf)
		if _, failed := to.Write(buf[:n]); failed != nil {
			return failed
		}
		done += uint64(n)
		progress(done)
		if err == io.EOF {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
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
