package prove

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"grenier/io/rundir"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/internal/marks"
	"grenier/pipeline/internal/parts"
)

// The proof of a layer that has marks on disk resumes from a copy of them. Whatever is marked is
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
		err = l.marks.Save(r.notes.Owner(l.seeds))
	}
	if c.failed = err != nil; c.failed {
		r.options.Notef("an interrupted proof of layer %d will begin anew: %v", l.seeds, err)
		return
	}
	r.notes.Set(notes.Layer{Seeds: l.seeds, Parts: all, Done: compared, Result: result})
	r.notes.Save()
	c.last, c.took = time.Now(), time.Since(start)
}

// resume takes in the marks of a run that was interrupted, and reports whether there are any.
func (l *layer) resume() bool {
	noted := l.run.notes.Find(l.seeds)
	if l.marks == nil || noted.Parts != all || noted.Done != compared {
		return false
	}
	var before Proof
	err := json.Unmarshal(noted.Result, &before)
	var m *marks.Set
	if err == nil {
		m, err = marks.Load(l.run.work, rundir.MarksName, l.size, l.run.notes.Owner(l.seeds))
	}
	if err != nil {
		l.run.options.Notef("the proof of layer %d begins anew: %v", l.seeds, err)
		return false
	}
	m, l.marks = l.marks, m
	if err := m.Close(); err != nil {
		l.run.options.Notef("%v", err)
	}
	l.copies.found, l.proof.Passes = &noted, before.Passes
	return true
}

// resumed returns the outcome of the comparison that was not repeated.
func (l *layer) resumed() verify.Layer {
	return verify.Layer{
		Seeds: l.seeds, Positions: l.size, Checked: l.size, Before: &l.copies.found.At, Problems: []verify.Problem{},
	}
}

// begun counts the positions that are marked before the first pass of this run.
func (l *layer) begun(ctx context.Context) (verify.Grounded, error) {
	if l.copies.found == nil {
		return verify.Grounded{Positive: l.backed.Load()}, nil
	}
	var positive, negative atomic.Uint64
	err := parts.Each(ctx, l.run.options.Workers, l.size, func(_ int, from, to uint64) error {
		scores, bits := make([]int8, to-from), make([]byte, (to-from+7)/8)
		if err := errors.Join(l.run.tables.Read(ctx, l.seeds, from, scores), l.marks.Read(bits, int64(from/8))); err != nil {
			return err
		}
		for i, score := range scores {
			switch marked := bits[i/8]>>(i%8)&1 != 0; {
			case marked && score > 0:
				positive.Add(1)
			case marked && score < 0:
				negative.Add(1)
			}
		}
		return nil
	})
	return verify.Grounded{Positive: positive.Load(), Negative: negative.Load()}, err
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
