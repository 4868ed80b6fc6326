package scrub

import (
	"fmt"
	"time"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
)

// mark says how far a layer has been read.
type mark struct {
	Seeds    int               `json:"seeds"`
	Stamp    rundir.Stamp      `json:"file"`     // of the file that was read
	Checksum manifest.Checksum `json:"checksum"` // of its footer
	Block    int               `json:"block"`    // all blocks before are in order
	Done     bool              `json:"done"`     // all is in order
	At       time.Time         `json:"at"`       // of the last change
}

// document is the form of the note on disk.
type document struct {
	jsonfile.Header
	Layers []mark `json:"layers"`
}

var header = jsonfile.Header{Format: "grenier-scrub", Version: 1}

// interval is the time between two notes about a large file.
const interval = 5 * time.Second

// notes record the progress of a scrub. A nil *notes records nothing.
type notes struct {
	dir    *rundir.Notebook
	note   func(string)
	layers map[int]mark
	saved  time.Time
	failed bool
}

// openNotes reads the record of an interrupted scrub, unless the scrub restarts. A record
// that cannot be read counts as none.
func openNotes(dir *rundir.Notebook, o Options) *notes {
	n := &notes{dir: dir, note: o.Note, layers: map[int]mark{}, saved: time.Now()}
	if o.Restart {
		return n
	}
	data, err := dir.ReadNote(rundir.ScrubName, jsonfile.MaxBytes)
	if err != nil {
		return n
	}
	var doc document
	if err := jsonfile.Parse(dir.NotePath(rundir.ScrubName), data, header, &doc); err != nil {
		n.tell("%v: everything is read again", err)
		return n
	}
	for _, m := range doc.Layers {
		n.layers[m.Seeds] = m
	}
	return n
}

func (n *notes) tell(format string, args ...any) {
	if n.note != nil {
		n.note(fmt.Sprintf(format, args...))
	}
}

// find returns how far the file of a layer, with so many blocks, was read: not at all, if
// it was another one.
func (n *notes) find(t task, checksum uint32, blocks int) mark {
	fresh := mark{Seeds: t.Seeds, Stamp: t.Stamp, Checksum: manifest.Checksum(checksum)}
	if n == nil {
		return fresh
	}
	m, ok := n.layers[t.Seeds]
	if !ok || m.Stamp != fresh.Stamp || m.Checksum != fresh.Checksum || m.Block < 0 || m.Block > blocks {
		return fresh
	}
	return m
}

// set notes how far a layer is, on disk now and then.
func (n *notes) set(m mark) {
	if n == nil {
		return
	}
	m.At = time.Now().UTC()
	n.layers[m.Seeds] = m
	if m.Done || time.Since(n.saved) > interval {
		n.save()
	}
}

// forget records that a layer has to be read from its beginning.
func (n *notes) forget(seeds int) {
	if n != nil {
		delete(n.layers, seeds)
	}
}

// save writes the note, unless a solver has the directory. That it cannot be written is
// told once, and does no harm.
func (n *notes) save() {
	if n == nil || n.failed || len(n.layers) == 0 {
		return
	}
	n.saved = time.Now()
	err := n.dir.IsLocked()
	if err == nil {
		doc := document{Header: header}
		for seeds := range manifest.MaxLayers {
			if m, ok := n.layers[seeds]; ok {
				doc.Layers = append(doc.Layers, m)
			}
		}
		err = n.write(doc)
	}
	if err != nil {
		n.failed = true
		n.tell("an interrupted scrub will begin anew: %v", err)
	}
}

func (n *notes) write(doc document) error {
	data, err := jsonfile.Encode(doc)
	if err != nil {
		return err
	}
	return n.dir.SaveNote(rundir.ScrubName, data)
}

// remove removes the note, unless a solver has the directory: it will.
func (n *notes) remove() {
	if n == nil || n.failed || n.dir.IsLocked() != nil {
		return
	}
	if err := n.dir.RemoveNote(rundir.ScrubName); err != nil {
		n.tell("the note of this scrub cannot be removed: %v", err)
	}
}
