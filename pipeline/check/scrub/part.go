package scrub

import (
	"fmt"

	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/job"
)

// share is what a part of a scrub has found in the blocks of a layer that are its share. What is wrong with the rest of the
// files, each part finds, and so does who adds them up.
type share struct {
	Blocks    faults `json:"blocks"`
	Distances faults `json:"distances"`
}

// faults are those of some blocks: the first ones, and how many there are.
type faults struct {
	First notes.Faults `json:"first,omitempty"`
	Count int          `json:"count"`
}

func (f *faults) add(err error) {
	if f.Count++; len(f.First) < MaxProblems {
		f.First.Add(err)
	}
}

// merge adds those of another part.
func (f *faults) merge(g *faults) {
	f.First = append(f.First, g.First[:min(len(g.First), MaxProblems-len(f.First))]...)
	f.Count += g.Count
}

// add reports faults that parts have found.
func (l *Layer) add(f *faults, report func(error)) {
	for _, err := range f.First {
		report(err)
	}
	l.Count += f.Count - len(f.First)
}

// open opens the notes of the scrub, or those of all its parts.
func (s *scrubber) open(book *rundir.Notebook) (err error) {
	p := s.options.Part
	o := notes.Options{ // the check of a layer reads its file only
		Name: rundir.ScrubName, Header: header, Restart: s.options.Restart, Tell: s.options.Note, Part: p,
	}
	if p != (job.Part{}) { // the whole reads distances each time
		s.named, o.Also = map[int]string{}, s.nameDistances
	}
	if p.All {
		s.sum, err = notes.Collect(book, s.manifest, o)
		return err
	}
	s.result.Part = p.String()
	s.notes, err = notes.Open(book, s.manifest, o)
	return err
}

// nameDistances names the file of the distances of a layer, if there is one.
func (s *scrubber) nameDistances(seeds int) string {
	if s.manifest == nil || seeds >= len(s.manifest.Layers) || s.named[seeds] != "" {
		return s.named[seeds]
	}
	s.named[seeds] = "none"
	if f, _, err := layerfile.Inspect(rundir.DistanceFile(s.dir.Path(), &s.manifest.Layers[seeds])); err == nil {
		s.named[seeds] = fmt.Sprint(f.Info().Size(), f.Info().ModTime().UTC())
		f.Close()
	}
	return s.named[seeds]
}

// blocksOf returns which blocks of a file are to be read.
func (s *scrubber) blocksOf(f *layerfile.File) (from, to int) {
	first, end := s.options.Part.Share(uint64(f.NumBlocks()))
	return int(first), int(end)
}

// bytesOf returns about how many bytes of a layer are to be read.
func (s *scrubber) bytesOf(t task) int64 { return t.Stamp.Bytes / int64(max(1, s.options.Part.Of)) }

// collect takes in what the parts have found in a layer.
func (s *scrubber) collect(l *Layer) {
	if s.sum == nil {
		return
	}
	var all []share
	all, l.Missing = notes.Results[share](s.sum, l.Seeds)
	for i := range all {
		l.found.Blocks.merge(&all[i].Blocks)
		l.found.Distances.merge(&all[i].Distances)
	}
}

// note notes what a part has found in a layer.
func (s *scrubber) note(l *Layer) {
	if len(l.Missing) > 0 && l.State == Intact {
		l.State = Incomplete
	}
	s.notes.Result(l.Seeds, &l.found, l.first != nil)
}
