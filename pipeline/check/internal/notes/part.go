package notes

import (
	"fmt"
	"slices"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/fault"
	"grenier/pipeline/job"
)

// ErrParts reports a directory with parts of several divisions of a check, if nobody says which to add up.
var ErrParts = fault.New(fault.Usage, "several divisions into parts")

// partVersion is that of the notes of parts.
const partVersion = 1

// file returns the name of the file of the notes.
func (n *Notes) file() string {
	if p := n.options.Part; p.One() {
		return rundir.PartName(n.options.Name, p.Index, p.Of)
	}
	return n.options.Name
}

// header returns what the notes begin with: those of a part never pass for those of a check.
func (n *Notes) header() jsonfile.Header {
	if n.options.Part.One() {
		return jsonfile.Header{Format: n.options.Header.Format + "-part", Version: partVersion}
	}
	return n.options.Header
}

// begin makes sure that the result of a part will have a place.
func (n *Notes) begin() error {
	if !n.options.Part.One() {
		return nil
	}
	if err := n.dir.IsLocked(); err != nil {
		return fmt.Errorf("the result of a part is kept in %s: %w", n.dir.NotePath(n.file()), err)
	}
	work, err := n.dir.MakeWork()
	if err == nil {
		err = work.Close()
	}
	if err == nil {
		err = n.save()
	}
	return err
}

// Sum is the notes of all parts of a check, by part. A nil *Sum has none.
type Sum struct{ notes []*Notes }

// Parts returns how many parts there are.
func (s *Sum) Parts() int {
	if s == nil {
		return 0
	}
	return len(s.notes)
}

// Collect reads the notes of all parts of a check: of o.Part.Of, or of as many as there are notes of. It fails with
// ErrParts, with a *job.MissingError if there are none, and like Open.
func Collect(dir *rundir.Notebook, m *manifest.Manifest, o Options) (*Sum, error) {
	if o.Part.Of == 0 {
		counts, err := dir.PartCounts(o.Name)
		if err != nil {
			return nil, err
		}
		counts = slices.DeleteFunc(counts, func(of int) bool { return of < 1 || of > job.MaxParts })
		switch len(counts) {
		case 0:
			return nil, &job.MissingError{}
		case 1:
			o.Part.Of = counts[0]
		default:
			last := counts[len(counts)-1]
			return nil, fmt.Errorf("%w, %s: say which, as in all/%d", ErrParts, job.List(counts), last)
		}
	}
	n, err := find(dir, m, o)
	if err != nil {
		return nil, err
	}
	s := &Sum{}
	for i := range o.Part.Of {
		part := *n
		part.options.Part = job.Part{Index: i + 1, Of: o.Part.Of}
		part.layers, part.begins = map[int]Layer{}, "is to be done again"
		part.load()
		s.notes = append(s.notes, &part)
	}
	return s, nil
}

// Layer returns what each part has noted about a layer; nil for parts that are missing: not done yet, or with other files.
func (s *Sum) Layer(seeds int) []*Layer {
	if s == nil {
		return nil
	}
	all := make([]*Layer, len(s.notes))
	for i, n := range s.notes {
		if l := n.Find(seeds); l.through() {
			all[i] = &l
		}
	}
	return all
}
