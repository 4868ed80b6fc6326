package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/vfs"
	"grenier/kernels/fault"
)

// listName is the file that says that a directory is a site.
const listName = "grenier-site.json"

// listHeader begins it.
var listHeader = jsonfile.Header{Format: "grenier-site", Version: 1}

// ErrForeign reports a directory that is neither empty nor a site of the same game.
var ErrForeign = fault.New(fault.Usage, "not a site of these tables")

// list says what a site is of, and which layer files are complete.
type list struct {
	jsonfile.Header
	manifest.Identity
	Layers []listed `json:"layers"`
}

// listed is a layer file that was copied and checked.
type listed struct {
	File     string            `json:"file"`
	Bytes    int64             `json:"bytes"`
	Checksum manifest.Checksum `json:"checksum"` // of the footer, as in the manifest
	SHA256   string            `json:"sha256"`
}

func (p *publisher) listPath() string { return p.path(listName) }

// begin makes the directory a site, if it is empty, or reads its list.
func (p *publisher) begin() error {
	if err := p.claim(); err != nil {
		return err
	}
	data, err := jsonfile.Read(p.listPath())
	if errors.Is(err, fs.ErrNotExist) {
		p.list = list{Header: listHeader, Identity: p.manifest.Identity, Layers: []listed{}}
		return p.save()
	}
	if err != nil {
		return err
	}
	if err := jsonfile.Parse(p.listPath(), data, listHeader, &p.list); err != nil {
		return err
	}
	if p.list.Identity != p.manifest.Identity {
		return fmt.Errorf("%s: %w: it is of %v, the run is of %v", p.out, ErrForeign, p.list.Identity, p.manifest.Identity)
	}
	return nil
}

// claim makes the directory, and fails if there is something in it but no list.
func (p *publisher) claim() error {
	if err := vfs.MakeDir(p.out); err != nil {
		return err
	}
	d, err := vfs.OpenDir(p.out)
	if err != nil {
		return err
	}
	defer d.Close()
	ours := func(final string) bool { return final == listName }
	if err := vfs.RemoveStale(d, ours); err != nil {
		return err
	}
	entries, err := d.Entries()
	if err != nil || len(entries) == 0 {
		return err
	}
	for _, e := range entries {
		if e.Name() == listName {
			return nil
		}
	}
	return fmt.Errorf("%s: %w: it has %s in it and no %s; choose an empty directory, or one to be made",
		p.out, ErrForeign, strings.TrimSpace(entries[0].Name()), listName)
}

// find returns what the list says about a file.
func (p *publisher) find(name string) (listed, bool) {
	for _, l := range p.list.Layers {
		if l.File == name {
			return l, true
		}
	}
	return listed{}, false
}

// add adds a file to the list, in the place of one of that name.
func (p *publisher) add(l listed) error {
	for i := range p.list.Layers {
		if p.list.Layers[i].File == l.File {
			p.list.Layers[i] = l
			return p.save()
		}
	}
	p.list.Layers = append(p.list.Layers, l)
	return p.save()
}

func (p *publisher) save() error { return jsonfile.Save(p.listPath(), &p.list) }
