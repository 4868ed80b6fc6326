package publish

import (
	"errors"
	"fmt"
	"strings"

	"grenier/io/jsonfile"
	"grenier/io/listed"
	"grenier/io/vfs"
	"grenier/kernels/fault"
)

// listName is the file that says that a directory is a site.
const listName = "grenier-site.json"

// listHeader begins it.
var listHeader = jsonfile.Header{Format: "grenier-site", Version: 2}

// ErrForeign reports a directory that is neither empty nor a site of the same game.
var ErrForeign = fault.New(fault.Usage, "not a site of these tables")

// begin makes the directory a site, if it is empty, or reads its list. The directories of a site
// stay open, for directories that take their places are not touched.
func (p *publisher) begin() (err error) {
	if p.site, err = vfs.MakeDir(p.out); err != nil {
		return err
	}
	if err := p.claim(); err != nil {
		return err
	}
	p.list, err = listed.Open(p.site, listName, listed.Options{
		Header: listHeader, Identity: p.manifest.Identity, Other: ErrForeign, Tell: p.options.Note,
	})
	if err != nil {
		return err
	}
	if p.copies, err = vfs.MakeSub(p.site, TablesName); err != nil {
		return err
	}
	p.list.Dir = p.copies
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
