package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grenier/io/vfs"
)

// Notebook is a run directory for checks, which take no lock and note in work/ how far they are.
// It stays open: a directory that takes its place meanwhile is not touched, and a link in the place of work/
// is refused each time.
type Notebook struct {
	*Dir
	run vfs.Dir
}

// Notebook opens the directory for notes, which the caller closes. It fails with a *vfs.KindError
// if there is anything but a directory in the place of work/, be it a link to one. A run
// without work/, or with one that cannot be read, has no notes and takes none.
func (d *Dir) Notebook() (*Notebook, error) {
	run, err := d.open()
	if err != nil {
		return nil, err
	}
	work, err := run.Sub(WorkName)
	if err == nil {
		err = work.Close()
	}
	if isKind(err) || errors.Is(err, vfs.ErrReplaced) {
		return nil, errors.Join(err, run.Close())
	}
	return &Notebook{d, run}, nil
}

// NotePath returns the path of a note, for messages: ScrubName, VerifyName, ProveName or MarksName, or that of a part.
func (n *Notebook) NotePath(name string) string { return filepath.Join(n.path, WorkName, name) }

// ReadNote returns the contents of a note, as vfs.Read does.
func (n *Notebook) ReadNote(name string, limit int64) (data []byte, err error) {
	err = n.inWork(func(work vfs.Dir) error {
		data, err = vfs.Read(work, name, limit)
		return err
	})
	return data, err
}

// SaveNote replaces a note, as vfs.Write does.
func (n *Notebook) SaveNote(name string, data []byte) error {
	return n.inWork(func(work vfs.Dir) error { return vfs.Write(work, name, data) })
}

// RemoveNote removes a note, if there is one. It fails as vfs.Dir does.
func (n *Notebook) RemoveNote(name string) error {
	return n.inWork(func(work vfs.Dir) error { return vfs.RemoveIfThere(work, name) })
}

// inWork does something in work/.
func (n *Notebook) inWork(do func(work vfs.Dir) error) error {
	work, err := n.run.Sub(WorkName)
	if err != nil {
		return err
	}
	return errors.Join(do(work), work.Close())
}

// parted matches the names of PartName.
var parted = regexp.MustCompile(`^(scrub|verify|sample)-[0-9]+-of-([0-9]+)\.json$`)

// PartName returns the name of the note of a part, from 1 on, of the check that has notes of that name.
func PartName(name string, part, of int) string {
	check, _ := strings.CutSuffix(name, ".json")
	return fmt.Sprintf("%s-%d-of-%d.json", check, part, of)
}

// PartCounts returns the numbers of parts into which a check was divided of which there are notes.
func (n *Notebook) PartCounts(name string) (all []int, err error) {
	err = n.inWork(func(work vfs.Dir) error {
		entries, err := work.Entries()
		for _, e := range entries {
			m := parted.FindStringSubmatch(e.Name())
			if m == nil || m[1]+".json" != name {
				continue
			}
			if of, err := strconv.Atoi(m[2]); err == nil && !slices.Contains(all, of) {
				all = append(all, of)
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) { // no work/
		return nil, nil
	}
	slices.Sort(all)
	return all, err
}

// MakeWork opens work/, and makes it if there is none. The caller closes it.
func (n *Notebook) MakeWork() (vfs.Dir, error) { return vfs.MakeSub(n.run, WorkName) }

// Close closes the directory.
func (n *Notebook) Close() error { return n.run.Close() }
