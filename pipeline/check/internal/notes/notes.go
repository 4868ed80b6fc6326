// Package notes records in work/ of a run directory which layers a check has found in order, so
// that an interrupted check resumes. It is the one writer and reader of such notes.
//
//	n, err := notes.Open(dir, m, notes.Options{Name: rundir.VerifyName, Header: header, Reads: game.CapturesLeadTo})
//	n.Find(20)    how far the check of layer 20 was
//	n.Set(layer)  how far it is; on disk now and then
//	n.Save()      at once: the check is interrupted
//	n.End(all)    the check is through
//
// A note is believed if no byte of it was changed since it was written: it is sealed (package jsonfile). Its
// entry for a layer holds as long as all files that the check of that layer reads are the ones that were
// checked: the file of the layer, and for most checks the files of the layers that its captures lead to. Everything else is
// checked again, and the user is told why.
//
// Notes are only a help. While a solver has the directory, and where nobody can write, there
// are none. Checks that are quick leave none.
//
// A part of a check (job.Part) has a note of its own, with what the part has found in each layer as the result, faults too. It
// stays when the part is through: these notes are what the parts add up to (part.go).
package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/tally"
	"grenier/kernels/crc32c"
	"grenier/pipeline/job"
)

// Layer says how far the check of a layer is. Layers with faults are not noted, but by parts.
type Layer struct {
	Seeds int `json:"seeds"`
	// Of names the files that were checked: see Notes.of. Set sets it.
	Of string `json:"of"`
	// Parts of the layer, and how many of them are in order: all, if that is equal.
	Parts int       `json:"parts"`
	Done  int       `json:"done"`
	At    time.Time `json:"at"` // of the last change
	// Faults says that a part of a check is through with the layer, but has found faults.
	Faults bool `json:"faults,omitempty"`
	// Result is for the check that noted it; it may be nil.
	Result json.RawMessage `json:"result,omitempty"`
}

// Complete reports whether all of the layer is in order.
func (l *Layer) Complete() bool { return l.through() && !l.Faults }

// through reports whether all of it was looked at.
func (l *Layer) through() bool { return l.Parts > 0 && l.Done == l.Parts }

// document is the form of the notes on disk.
type document struct {
	jsonfile.Header
	Layers []Layer `json:"layers"`
}

// Options say which notes.
type Options struct {
	Name   string          // of the file in work/, see package rundir
	Header jsonfile.Header // of the notes
	// Reads returns the layers, from least to most, that the check of a layer reads besides its own; nil if
	// there are none.
	Reads func(seeds int) (least, most int)
	// Also names what else the check of a layer depends on; nil if there is nothing.
	Also func(seeds int) string
	// Part is the part of the check that is noted.
	Part job.Part
	// Restart begins without the notes that are there.
	Restart bool
	// Tell, if not nil, gets messages for the user.
	Tell func(string)
}

// Notes are the notes of one check. A nil *Notes is empty and stays so.
type Notes struct {
	options Options
	dir     *rundir.Notebook
	game    manifest.Identity
	files   map[int]file // by seeds
	layers  map[int]Layer
	changed time.Time // since when there is something that is not on disk
	there   bool      // they are on disk
	failed  error     // they cannot be written
	again   string    // see Again
	begins  string    // what is done about notes that are not believed
	parts   []*Notes  // if all are asked for
}

// file says which file a check finds: one of the directory that the manifest lists.
type file struct {
	Stamp    rundir.Stamp
	Checksum manifest.Checksum // of its footer
	Hash     tally.Hash        // of its scores
}

// maxBytes bounds notes. Those of a part may have faults of all layers.
const maxBytes = 1 << 20

// patience is for how long notes may be missing on disk.
const patience = 5 * time.Second

// Open reads the notes about the layers of a directory that m lists; without m, about those whose files are there. Notes of a
// part are no help but its result: it fails with a *rundir.LockedError while a solver has the directory, or like package
// vfs, if they cannot be written. Those of all parts (Of) are read only, and it fails with ErrParts or job.ErrMissing.
func Open(dir *rundir.Notebook, m *manifest.Manifest, o Options) (*Notes, error) {
	n, err := find(dir, m, o)
	if err != nil {
		return nil, err
	}
	if o.Part.All {
		return n, n.collect()
	}
	n.load()
	return n, n.begin()
}

// find finds the files that notes may be about.
func find(dir *rundir.Notebook, m *manifest.Manifest, o Options) (*Notes, error) {
	found, err := dir.Found(m)
	if err != nil {
		return nil, err
	}
	n := &Notes{options: o, dir: dir, layers: map[int]Layer{}, files: map[int]file{}, changed: time.Now(), begins: "starts again"}
	for _, f := range found {
		n.files[f.Seeds] = file{Stamp: f.Stamp}
	}
	if m != nil {
		n.game = m.Identity
		for i := range m.Layers {
			n.files[i] = file{n.files[i].Stamp, m.Layers[i].Checksum, m.Layers[i].Hash}
		}
	}
	return n, nil
}

// load takes in the notes on disk that still hold.
func (n *Notes) load() {
	path := n.dir.NotePath(n.file())
	data, err := n.dir.ReadNote(n.file(), maxBytes)
	n.there = err == nil
	if errors.Is(err, fs.ErrNotExist) || n.options.Restart {
		return
	}
	var doc document
	if err == nil {
		err = jsonfile.ParseSealed(path, data, n.header(), &doc)
	}
	if err != nil {
		n.restart(": %v", err)
		return
	}
	n.take(doc.Layers)
}

// take takes in the notes about layers whose files are the same.
func (n *Notes) take(layers []Layer) {
	var others []string
	for _, l := range layers {
		if l.Of != n.of(l.Seeds) {
			others = append(others, fmt.Sprint(l.Seeds))
			continue
		}
		n.layers[l.Seeds] = l
	}
	if others != nil {
		n.restart(" with what depends on files that have changed: layer %s", strings.Join(others, ", "))
	}
}

// of names the files that the check of a layer reads, and the game: a SHA-256 that is another one if any
// of them is.
func (n *Notes) of(seeds int) string {
	h := sha256.New()
	fmt.Fprintln(h, n.game, seeds, n.files[seeds])
	if n.options.Reads != nil {
		least, most := n.options.Reads(seeds)
		for k := least; k <= most; k++ {
			fmt.Fprintln(h, k, n.files[k])
		}
	}
	if n.options.Also != nil {
		fmt.Fprint(h, n.options.Also(seeds))
	}
	if n.options.Part.One() {
		fmt.Fprintln(h, n.options.Part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Owner returns a number for data about a layer that a check keeps in other files: another one if its files
// are others.
func (n *Notes) Owner(seeds int) uint32 { return crc32c.Of([]byte(n.of(seeds))) }

// name returns the name of the check.
func (n *Notes) name() string { return strings.TrimSuffix(n.file(), ".json") }

// restart says why not all that was noted is believed.
func (n *Notes) restart(format string, args ...any) {
	n.again = n.name() + " " + n.begins + fmt.Sprintf(format, args...)
	n.tell("%s", n.again)
}

// Again says why not all that an interrupted check noted is believed, "" if it is.
func (n *Notes) Again() string {
	if n == nil {
		return ""
	}
	return n.again
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
	if n == nil || n.options.Part.All {
		return
	}
	l.Of, l.At = n.of(l.Seeds), time.Now().UTC()
	n.layers[l.Seeds] = l
	if time.Since(n.changed) > patience {
		n.Save()
	}
}

// Save writes the notes, unless a solver has the directory. That they cannot be written is
// told once, and does no harm.
func (n *Notes) Save() {
	if n == nil || n.failed != nil || len(n.layers) == 0 {
		return
	}
	if n.failed = n.save(); n.failed != nil {
		n.tell("an interrupted %s will begin anew: %v", n.name(), n.failed)
	}
}

// save is Save that fails.
func (n *Notes) save() error {
	n.changed = time.Now()
	if err := n.dir.IsLocked(); err != nil {
		return err
	}
	doc := document{Header: n.header()}
	for _, seeds := range slices.Sorted(maps.Keys(n.layers)) {
		doc.Layers = append(doc.Layers, n.layers[seeds])
	}
	data, err := jsonfile.EncodeSealed(doc)
	if err == nil {
		err = n.dir.SaveNote(n.file(), data)
	}
	n.there = n.there || err == nil
	return err
}

// Drop takes back the note about a layer.
func (n *Notes) Drop(seeds int) {
	if n != nil {
		delete(n.layers, seeds)
	}
}

// End ends a check that is through: notes about its layers are removed, unless a solver has the
// directory; those of a part are its result, which it fails to keep as Open does.
func (n *Notes) End(layers []int) error {
	switch {
	case n == nil:
		return nil
	case n.options.Part.One():
		return n.save()
	}
	for _, seeds := range layers {
		n.Drop(seeds)
	}
	if n.failed != nil || !n.there || n.dir.IsLocked() != nil {
		return nil
	}
	if len(n.layers) > 0 {
		n.Save()
		return nil
	}
	if err := n.dir.RemoveNote(n.options.Name); err != nil {
		n.tell("the notes of this %s cannot be removed: %v", n.name(), err)
	}
	return nil
}
