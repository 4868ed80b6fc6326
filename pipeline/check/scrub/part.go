package scrub

import (
	"fmt"

	"grenier/io/layerfile"
	"grenier/io/rundir"
	"grenier/pipeline/check/internal/notes"
	"grenier/pipeline/job"
)

// A part of a scrub (job.Part) reads the blocks that are its share, of scores and of distances, and notes whether it has found faults. Who
// adds up reads files of which a part has found some again, as a whole, and looks itself at all but the blocks of the others.

// open opens the notes of the scrub.
func (s *scrubber) open(book *rundir.Notebook) (err error) {
	o := notes.Options{ // the check of a layer reads its file only
		Name: rundir.ScrubName, Header: header, Restart: s.options.Restart, Tell: s.options.Note, Part: s.options.Part,
	}
	if o.Part != (job.Part{}) { // the whole reads distances each time
		s.named, o.Also = map[int]string{}, s.nameDistances
	}
	if o.Part.One() {
		s.result.Part = o.Part.String()
	}
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

// blocksOf returns which blocks of a file are to be read: those of the part, or all of one in which a part has found faults.
func (s *scrubber) blocksOf(f *layerfile.File, l *Layer) (from, to int) {
	if l.again {
		return 0, f.NumBlocks()
	}
	first, end := s.options.Part.Share(uint64(f.NumBlocks()))
	return int(first), int(end)
}

// bytesOf returns about how many bytes of a layer are to be read.
func (s *scrubber) bytesOf(t task) int64 { return t.Stamp.Bytes / int64(max(1, s.options.Part.Of)) }

// collect takes in what the parts have noted about a layer.
func (s *scrubber) collect(l *Layer) {
	for i, noted := range s.notes.Parts(l.Seeds) {
		if noted == nil {
			l.Missing = append(l.Missing, i+1)
		} else if noted.Faults {
			l.again = true
		}
	}
	if l.again {
		l.Missing = nil
	}
}

// note notes what a part has found in a layer.
func (s *scrubber) note(l *Layer) {
	if s.options.Part.One() {
		s.notes.Set(notes.Layer{Seeds: l.Seeds, Parts: 1, Done: 1, Faults: l.first != nil})
	}
	if len(l.Missing) > 0 && l.State == Intact {
		l.State = Incomplete
	}
}
