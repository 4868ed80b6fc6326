package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/check/internal/notes"
)

// A part of a verification (job.Part) compares the columns, or the positions of a sample, that are its share. It notes the outcome as
// if it were that of the layer, and the outcomes of all parts add up to it. Damage is not taken from notes: who adds up looks at the file again.

// header begins the notes.
var header = jsonfile.Header{Format: "grenier-verify", Version: 2}

// open opens the notes of the verification.
func (r *run) open(ctx context.Context, book *rundir.Notebook, m *manifest.Manifest) (err error) {
	o := notes.Options{
		Name: rundir.VerifyName, Header: header, Reads: r.tables.Game().CapturesLeadTo, Restart: r.options.Restart, Tell: r.options.Note,
		Part: r.options.Part, Also: func(n int) string { return r.distanceNote(ctx, n) },
	}
	if r.options.Sample > 0 {
		o.Name = rundir.SampleName
		o.Also = func(int) string { return fmt.Sprintf("sample %d, seed %d", r.options.Sample, r.options.Seed) }
	}
	r.notes, err = notes.Open(book, m, o)
	return err
}

// before returns when an earlier run has found layer n, or the part of it, in order; nil if none has.
func (r *run) before(n int) *time.Time {
	if noted := r.notes.Find(n); noted.Complete() {
		return &noted.At
	}
	return nil
}

// note notes the outcome for a layer: if it is of a part or nothing is wrong.
func (r *run) note(l *Layer) {
	noted := notes.Layer{Seeds: l.Seeds, Parts: 1, Done: 1, Faults: len(l.Problems) > 0}
	if r.options.Part.One() {
		part := *l
		part.Problems = nil // but for differences, and one that is damage
		for _, p := range l.Problems {
			if p.Difference != nil || !part.isDamaged() {
				part.Problems = append(part.Problems, p)
			}
		}
		result, err := json.Marshal(&part)
		if err != nil {
			return // the part will be missing
		}
		noted.Result = result
	} else if noted.Faults {
		return
	}
	r.notes.Set(noted)
}

// sum is what the parts of a layer have found together.
type sum struct {
	found
	damaged, missing []int // parts
}

// add adds up what the parts have noted about layer n.
func (r *run) add(n int) (s sum) {
	for i, noted := range r.notes.Parts(n) {
		var part Layer
		if noted == nil || json.Unmarshal(noted.Result, &part) != nil {
			s.missing = append(s.missing, i+1)
			continue
		}
		f := found{checked: part.Checked, mismatches: part.Mismatches}
		for _, p := range part.Problems {
			if p.Difference != nil {
				f.first = append(f.first, *p.Difference)
			}
		}
		if s.found.add(&f); part.isDamaged() {
			s.damaged = append(s.damaged, i+1)
		}
	}
	return s
}

// take takes over what the parts have found. If some were stopped by damage that is in no file of the layer, it is below; if it is not
// there either any more, these are missing.
func (r *run) take(ctx context.Context, n int, layer *Layer, s sum) error {
	layer.compared(&s.found)
	layer.Missing = s.missing
	if s.damaged == nil || layer.isDamaged() {
		return nil
	}
	var below Layer
	for k, most := r.tables.Game().CapturesLeadTo(n); k <= most && !below.isDamaged(); k++ {
		if err := r.checkFile(ctx, k, &below, true); err != nil {
			return err
		}
	}
	if below.isDamaged() {
		layer.Problems = append(layer.Problems, below.Problems[0])
	} else {
		layer.Missing = slices.Sorted(slices.Values(append(s.damaged, s.missing...)))
	}
	return nil
}
