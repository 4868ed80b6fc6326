package verify

import (
	"context"
	"fmt"
	"time"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/check/internal/notes"
)

// A part of a verification (job.Part) compares the columns, or the positions of a sample, that are its share, and notes its
// verdict. The verdicts of all parts add up to that of the layer.

// verdict is what was found out about a layer, or a part of it.
type verdict struct {
	// File and Distances are what is wrong with the files. Nothing is compared if the file of scores is damaged.
	File      notes.Faults `json:"file,omitempty"`
	Distances notes.Faults `json:"distances,omitempty"`
	// Checked, Mismatches and First are what was compared, as in Layer.
	Checked    uint64       `json:"checked"`
	Mismatches uint64       `json:"mismatches"`
	First      []Difference `json:"first,omitempty"`
	// Stopped is the damage that ended the comparison.
	Stopped notes.Faults `json:"stopped,omitempty"`
}

// take takes a verdict into the outcome for the layer.
func (l *Layer) take(v *verdict) {
	for _, err := range append(v.File, v.Distances...) {
		l.damaged(err)
	}
	l.Checked, l.Mismatches = v.Checked, v.Mismatches
	for i := range v.First {
		d := &v.First[i]
		l.Problems = append(l.Problems, Problem{Text: d.String(), Difference: d})
	}
	for _, err := range v.Stopped {
		l.damaged(err)
	}
}

// header begins the notes.
var header = jsonfile.Header{Format: "grenier-verify", Version: 2}

// open opens the notes of the verification, or those of all its parts.
func (r *run) open(ctx context.Context, book *rundir.Notebook, m *manifest.Manifest) (err error) {
	o := notes.Options{
		Name: rundir.VerifyName, Header: header, Reads: r.tables.Game().CapturesLeadTo, Restart: r.options.Restart, Tell: r.options.Note,
		Part: r.options.Part, Also: func(n int) string { return r.distanceNote(ctx, n) },
	}
	if r.options.Sample > 0 {
		o.Name = rundir.SampleName
		o.Also = func(int) string { return fmt.Sprintf("sample %d, seed %d", r.options.Sample, r.options.Seed) }
	}
	if r.options.Part.All {
		r.sum, err = notes.Collect(book, m, o)
	} else {
		r.notes, err = notes.Open(book, m, o)
	}
	return err
}

// before returns when an earlier run has found layer n, or the part of it, in order; nil if none has.
func (r *run) before(n int) *time.Time {
	if noted := r.notes.Find(n); noted.Complete() {
		return &noted.At
	}
	return nil
}

// note notes a verdict: if it is of a part or nothing is wrong.
func (r *run) note(n int, v *verdict) {
	faults := len(v.File)+len(v.Distances)+len(v.Stopped) > 0 || v.Mismatches > 0
	if r.options.Part.One() {
		r.notes.Result(n, v, faults)
	} else if !faults {
		r.notes.Set(notes.Layer{Seeds: n, Parts: 1, Done: 1})
	}
}

// add adds what the parts have found in layer n, and returns which of them are missing.
func (r *run) add(n int, v *verdict) (missing []int) {
	all, missing := notes.Results[verdict](r.sum, n)
	var f found
	for i := range all {
		part := &all[i]
		v.File.Merge(part.File)
		v.Distances.Merge(part.Distances)
		f.add(&found{part.Checked, part.Mismatches, part.First})
		if len(v.Stopped) == 0 {
			v.Stopped = part.Stopped
		}
	}
	if len(v.File) == 0 {
		v.Checked, v.Mismatches, v.First = f.checked, f.mismatches, f.first
	} else {
		v.Stopped = nil
	}
	return missing
}
