package prove

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"grenier/io/rundir"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/check/verify"
)

// The proof of a layer resumes from a copy of its marks. Whatever is marked is
// grounded, so a copy of any moment after the comparison of the scores will do. A note says that
// these were compared, and holds for the same files only: it has compared of all parts.
const compared, all = 1, 2

// copies says when the marks were copied.
type copies struct {
	last   time.Time     // the end of the last copy, or the begin of the layer
	took   time.Duration // by that copy
	found  *notes.Layer  // the note about the copy that the proof resumed from; nil if it began anew
	failed bool
}

// save copies the marks, about once a minute and for at most a twentieth of the time, and when the run ends;
// and notes that they are there. A failure is reported once, and does no harm.
func (l *layer) save(ends bool) {
	r, c := l.run, &l.copies
	if r.notes == nil || c.failed || !ends && time.Since(c.last) < time.Minute+20*c.took {
		return
	}
	start := time.Now()
	result, err := json.Marshal(&l.proof)
	if err == nil {
		err = l.saveMarks()
	}
	if c.failed = err != nil; c.failed {
		r.options.Notef("an interrupted proof of layer %d will begin anew: %v", l.seeds, err)
		return
	}
	r.notes.Set(notes.Layer{Seeds: l.seeds, Parts: all, Done: compared, Result: result})
	r.notes.Save()
	c.last, c.took = time.Now(), time.Since(start)
}

// saveMarks copies the marks.
func (l *layer) saveMarks() error {
	work, err := l.run.openWork()
	if err != nil {
		return err
	}
	return l.marks.Save(work, rundir.MarksName, l.run.notes.Owner(l.seeds))
}

// resume takes in the marks of a run that was interrupted, and reports whether there are any.
func (l *layer) resume() bool {
	noted := l.run.notes.Find(l.seeds)
	if noted.Parts != all || noted.Done != compared {
		return false
	}
	var before Proof
	err := json.Unmarshal(noted.Result, &before)
	if err == nil {
		err = l.loadMarks()
	}
	if err != nil {
		l.run.options.Notef("the proof of layer %d begins anew: %v", l.seeds, err)
		return false
	}
	l.copies.found, l.proof.Passes = &noted, before.Passes
	return true
}

// loadMarks reads the copy of the marks.
func (l *layer) loadMarks() error {
	work, err := l.run.openWork()
	if err != nil {
		return err
	}
	return l.marks.Load(work, rundir.MarksName, l.run.notes.Owner(l.seeds))
}

// resumed returns the outcome of the comparison that was not repeated.
func (l *layer) resumed() verify.Layer {
	return verify.Layer{
		Seeds: l.seeds, Positions: l.size, Checked: l.size, Before: &l.copies.found.At, Problems: []verify.Problem{},
	}
}

// forgetMarks removes the copy of marks of a proof that is through.
func (r *run) forgetMarks() {
	if r.notes == nil {
		return
	}
	if err := r.book.RemoveNote(rundir.MarksName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.options.Notef("the marks of this proof cannot be removed: %v", err)
	}
}
