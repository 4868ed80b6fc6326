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

// begin makes the directory a site, if it is empty, or reads its list. The directories of a site
// stay open, for what takes their places is not touched.
func (p *publisher) begin() (err error) {
	if p.site, err = vfs.MakeDir(p.out); err != nil {
		return err
	}
	if err := p.claim(); err != nil {
		return err
	}
	if err := p.readList(); err != nil {
		return err
	}
	if p.copies, err = vfs.MakeSub(p.site, TablesName); err != nil {
		return err
	}
	p.data, err = vfs.MakeSub(p.site, dataName)
	return err
}

// close closes the directories.
func (p *publisher) close() (err error) {
	for _, d := range []vfs.Dir{p.data, p.copies, p.site} {
		if d != nil {
			err = errors.Join(err, d.Close())
		}
	}
	return err
}

// readList reads the list, or begins one.
func (p *publisher) readList() error {
	data, err := vfs.Read(p.site, listName, jsonfile.MaxBytes)
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

// claim fails if there is something in the directory but no list.
func (p *publisher) claim() error {
	ours := func(final string) bool { return final == listName }
	if err := vfs.RemoveStale(p.site, ours); err != nil {
		return err
	}
	entries, err := p.site.Entries()
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

func (p *publisher) save() error { return jsonfile.Save(p.site, listName, &p.list) }
