package notes

import (
	"fmt"
	"slices"

	"grenier/io/jsonfile"
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

// collect reads the notes of all parts: of as many as there should be, or as there are notes of.
func (n *Notes) collect() error {
	of := n.options.Part.Of
	if of == 0 {
		counts, err := n.dir.PartCounts(n.options.Name)
		counts = slices.DeleteFunc(counts, func(of int) bool { return of < 1 || of > job.MaxParts })
		switch {
		case err != nil:
			return err
		case len(counts) == 0:
			return fmt.Errorf("%w: no part was done here (--part i/n)", job.ErrMissing)
		case len(counts) > 1:
			return fmt.Errorf("%w, %s: say which, as in all/%d", ErrParts, job.List(counts), counts[0])
		}
		of = counts[0]
	}
	for i := range of {
		part := *n
		part.options.Part = job.Part{Index: i + 1, Of: of}
		part.layers, part.begins, part.parts = map[int]Layer{}, "is to be done again", nil
		part.load()
		n.parts = append(n.parts, &part)
	}
	return nil
}

// Of returns how many parts there are if all are asked for.
func (n *Notes) Of() int {
	if n == nil {
		return 0
	}
	return len(n.parts)
}

// Parts returns what each part has noted about a layer, if all are asked for; nil for those that are missing: not done yet, or
// done with other files.
func (n *Notes) Parts(seeds int) []*Layer {
	all := make([]*Layer, n.Of())
	for i := range all {
		if l := n.parts[i].Find(seeds); l.through() {
			all[i] = &l
		}
	}
	return all
}
