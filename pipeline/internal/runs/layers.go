package runs

import (
	"errors"
	"fmt"

	"grenier/io/memory"
	"grenier/io/workfile"
	"grenier/pipeline/internal/resume"
)

// LeastMemory returns the least memory in bytes for a search with the given number of workers.
func LeastMemory(threads int) int64 { return 16<<20 + int64(threads)*(2<<20) }

// CheckMemory fails with a *memory.Error if a search is allowed less than LeastMemory.
func CheckMemory(threads int, allowed int64) error {
	least := LeastMemory(threads)
	if allowed >= least {
		return nil
	}
	what := fmt.Sprintf("a search with %d threads", threads)
	return &memory.Error{What: what, Need: uint64(least), Allowed: uint64(max(0, allowed))}
}

// OpenDir keeps blocks in the run directory at path, and takes over its checkpoint if there is
// one: load returns the runs in it. It fails like resume.Open.
func (s *Store) OpenDir(path string, search resume.Search, load func(path string, payload []byte) ([]*Run, error)) (err error) {
	search.Load = func(path string, payload []byte) (live []workfile.Extent, err error) {
		saved, err := load(path, payload)
		if err != nil {
			return nil, err
		}
		s.Last = payload
		for _, r := range saved {
			for i := range r.Blocks {
				s.held.Add(r.Blocks[i].size())
				live = append(live, r.Blocks[i].Extent)
			}
		}
		return live, nil
	}
	s.Dir, err = resume.Open(path, search)
	return err
}

// Of returns the run of blocks that were saved.
func Of(stride int, blocks []Block) *Run {
	r := &Run{Stride: stride}
	for _, b := range blocks {
		r.Add(b)
	}
	return r
}

// CheckAll fails unless blocks from elsewhere can be those of records of so many words, in a work
// file.
func CheckAll(stride int, blocks []Block) error {
	for i := range blocks {
		err := blocks[i].Check(stride)
		if err == nil && blocks[i].IsZero() {
			err = errors.New("it has no place")
		}
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

// Abreast returns the most runs that are merged at a time in so many bytes.
func Abreast(room int64) int { return int(min(256, max(2, (room-WriterBytes)/cursorBytes))) }
