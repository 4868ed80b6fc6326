// Package notes records in work/ of a run directory which layers a check has found in order, so
// that an interrupted check resumes. A note about a layer holds as long as its file, and
// those of all layers below, are the ones that were checked.
//
// Notes are only a help. While a solver has the directory, and where nobody can write, there
// are none; notes that cannot be read count as none. Checks that are quick leave none.
package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
)

// Layer says how far the check of a layer is. Layers with faults are not noted.
type Layer struct {
	Seeds int `json:"seeds"`
	// Parts of the layer, and how many of them are in order: all, if that is equal.
	Parts int       `json:"parts"`
	Done  int       `json:"done"`
	At    time.Time `json:"at"` // of the last change
	// Result is what a check wants to know again of a layer that is done; it may be nil.
	Result json.RawMessage `json:"result,omitempty"`
}

// Complete reports whether all of the layer is in order.
func (l *Layer) Complete() bool { return l.Parts > 0 && l.Done == l.Parts }

// stamp says which file was checked.
type stamp struct {
	File     rundir.Stamp      `json:"file"`
	Checksum manifest.Checksum `json:"checksum"` // of its footer
}

// document is the form of the notes on disk.
type document struct {
	jsonfile.Header
	Files  []stamp `json:"files"` // by seeds
	Layers []Layer `json:"layers"`
}

// Options say which notes.
type Options struct {
	Name   string          // of the file in work/, see package rundir
	Header jsonfile.Header // of the notes
	// Restart begins without the notes that are there.
	Restart bool
	// Tell, if not nil, gets messages for the user.
	Tell func(string)
}

// Notes are the notes of one check. A nil *Notes has none and takes none.
type Notes struct {
	options Options
	dir     *rundir.Notebook
	files   []stamp
	layers  map[int]Layer
	changed time.Time // since when there is something that is not on disk
	there   bool      // they are on disk
	failed  bool
}

// patience is for how long notes may be missing on disk.
const patience = 5 * time.Second

// Open reads the notes about the layers of a directory that m lists.
func Open(dir *rundir.Notebook, m *manifest.Manifest, o Options) (*Notes, error) {
	found, err := dir.Found(m)
	if err != nil {
		return nil, err
	}
	n := &Notes{options: o, dir: dir, layers: map[int]Layer{}, files: make([]stamp, len(m.Layers)), changed: time.Now()}
	for i := range m.Layers {
		n.files[i].Checksum = m.Layers[i].Checksum
	}
	for _, f := range found {
		if f.Seeds < len(n.files) {
			n.files[f.Seeds].File = f.Stamp
		}
	}
	n.load()
	return n, nil
}

// load takes in the notes on disk that still hold.
func (n *Notes) load() {
	path := n.dir.NotePath(n.options.Name)
	data, err := n.dir.ReadNote(n.options.Name, jsonfile.MaxBytes)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			n.tell("%v: nothing counts as checked", err)
		}
		return
	}
	n.there = true
	var doc document
	if err := jsonfile.Parse(path, data, n.options.Header, &doc); err != nil {
		n.tell("%v: nothing counts as checked", err)
		return
	}
	if n.options.Restart {
		return
	}
	same := 0
	for same < min(len(doc.Files), len(n.files)) && doc.Files[same] == n.files[same] {
		same++
	}
	for _, l := range doc.Layers {
		if l.Seeds >= 0 && l.Seeds < same && l.Done > 0 && l.Done <= l.Parts {
			n.layers[l.Seeds] = l
		}
	}
}

func (n *Notes) tell(format string, args ...any) {
	if n.options.Tell != nil {
		n.options.Tell(fmt.Sprintf(format, args...))
	}
}

// Find returns the note about a layer; one without parts if there is none.
func (n *Notes) Find(seeds int) Layer {
	if n == nil {
		return Layer{Seeds: seeds}
	}
	l, ok := n.layers[seeds]
	if !ok {
		l.Seeds = seeds
	}
	return l
}

// Set notes how far a layer is, on disk if that has taken long.
func (n *Notes) Set(l Layer) {
	if n == nil {
		return
	}
	l.At = time.Now().UTC()
	n.layers[l.Seeds] = l
	if time.Since(n.changed) > patience {
		n.Save()
	}
}

// Save writes the notes, unless a solver has the directory. That they cannot be written is
// told once, and does no harm.
func (n *Notes) Save() {
	if n == nil || n.failed || len(n.layers) == 0 {
		return
	}
	n.changed = time.Now()
	err := n.dir.IsLocked()
	if err == nil {
		doc := document{Header: n.options.Header, Files: n.files}
		for seeds := range n.files {
			if l, ok := n.layers[seeds]; ok {
				doc.Layers = append(doc.Layers, l)
			}
		}
		err = n.write(doc)
	}
	if err != nil {
		n.failed = true
		n.tell("an interrupted check will begin anew: %v", err)
		return
	}
	n.there = true
}

func (n *Notes) write(doc document) error {
	data, err := jsonfile.Encode(doc)
	if err != nil {
		return err
	}
	return n.dir.SaveNote(n.options.Name, data)
}

// Forget removes the notes about layers of a check that is through, unless a solver has the
// directory.
func (n *Notes) Forget(layers []int) {
	if n == nil {
		return
	}
	for _, seeds := range layers {
		delete(n.layers, seeds)
	}
	if n.failed || !n.there || n.dir.IsLocked() != nil {
		return
	}
	if len(n.layers) > 0 {
		n.Save()
		return
	}
	if err := n.dir.RemoveNote(n.options.Name); err != nil {
		n.tell("the notes of this check cannot be removed: %v", err)
	}
}
