package runs

import (
	"errors"
	"fmt"

	"grenier/io/memory"
	"grenier/io/workfile"
	"grenier/pipeline/internal/resume"
	"grenier/pipeline/job"
)

// LeastMemory returns the least memory of the job of a search with n workers.
func LeastMemory(n int) uint64 { return memory.Base + 16<<20 + uint64(n)*(2<<20) }

// Room returns the bytes of data that a job leaves for its search. It fails with a *memory.Error if the job has
// less than LeastMemory.
func Room(j *job.Job) (int64, error) {
	if need := LeastMemory(j.Workers); j.Memory < need {
		return 0, &memory.Error{What: fmt.Sprintf("a search with --threads %d", j.Workers), Need: need, Allowed: j.Memory}
	}
	return int64(j.Memory) - memory.Base, nil
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

// CheckAll fails unless blocks from elsewhere can have records of stride words, in a work
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

// Abreast returns the most runs that are merged at a time in the given bytes.
func Abreast(room int64) int { return int(min(256, max(2, (room-WriterBytes)/cursorBytes))) }
