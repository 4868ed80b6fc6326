package solitaire

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/dustin/go-humanize/english"

	"grenier/io/vfs"
	"grenier/kernels/fault"
	"grenier/layers/solitaire"
	"grenier/pipeline/internal/runs"
	"grenier/pipeline/job"
)

// ErrOption reports an option that is not possible.
var ErrOption = fault.New(fault.Usage, "not possible")

// ErrMemory says that the layers do not fit into the memory given; with a directory they need not.
var ErrMemory = fault.New(fault.Usage, "the layers do not fit into the memory given")

// Problem is a game.
type Problem struct {
	Board *solitaire.Board
	Start solitaire.Position // one peg at least
	// Ends are the holes where the last peg may be; 0 is all of them.
	Ends solitaire.Position
}

// ends returns the holes where the last peg may be.
func (p *Problem) ends() solitaire.Position {
	if p.Ends == 0 {
		return p.Board.Full()
	}
	return p.Ends
}

// Options says how to search.
type Options struct {
	// Job has no Family and no Note. Memory must be at least runs.LeastMemory.
	job.Job
	// Dir, if not empty, is a run directory (package rundir) in which the layers are kept, and from
	// which a search resumes after an interruption. It need not exist; if it does it must be
	// empty or of the same game.
	Dir string

	work vfs.Dir // in tests: the directory of the work file; nil for the usual one
}

// search is a search in progress.
type search struct {
	Problem
	Options
	room  int64 // bytes for everything that the search keeps
	group *solitaire.Group
	store *runs.Store
	first int // pegs at the start
	// layers has the positions that were reached, by jumps from the start; dropped ones have no
	// blocks. Done says that there are no more.
	layers []*runs.Run
	done   bool
	// winning has the records of winning positions, from one peg on.
	winning []*runs.Run
	stale   []*runs.Run // winning layers of other ends, in the checkpoint that was read
	keep    bool        // all layers, not only the last

	buffers []buffer  // of the workers
	begun   time.Time // of the layer in progress
}

// newSearch returns a search with its store open. It fails like Count.
func newSearch(p Problem, o Options, keep bool) (s *search, err error) {
	o.Workers = max(1, o.Workers)
	room, err := runs.Room(&o.Job)
	if err != nil {
		return nil, err
	}
	if p.Start == 0 || p.Start&^p.Board.Full() != 0 {
		return nil, fmt.Errorf("a start with %d pegs: %w; 1 to %d are", bits.OnesCount64(p.Start), ErrOption, p.Board.Holes())
	}
	if p.Ends&^p.Board.Full() != 0 {
		return nil, fmt.Errorf("an end outside the board: %w", ErrOption)
	}
	s = &search{Problem: p, Options: o, room: room, store: &runs.Store{}, keep: keep || o.Dir != "", first: bits.OnesCount64(p.Start)}
	s.group = p.Board.Group(p.Ends)
	s.store.Most = s.keptBytes()
	if o.Dir != "" {
		if err := s.openDir(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// close closes the directory.
func (s *search) close() error {
	if s.store.Dir == nil {
		return nil
	}
	return s.store.Dir.Close()
}

// failed explains an error of a search.
func (s *search) failed(err error) error {
	switch {
	case !errors.Is(err, runs.ErrMemory):
		return err
	case s.done:
		return fmt.Errorf("winning positions with %s: %w", english.Plural(len(s.winning)+1, "peg", ""), ErrMemory)
	}
	return fmt.Errorf("positions with %s: %w", english.Plural(s.pegs(len(s.layers)), "peg", ""), ErrMemory)
}

// pegs returns the number of pegs of layer i.
func (s *search) pegs(i int) int { return s.first - i }

// counts returns the number of positions in each layer.
func (s *search) counts() []uint64 {
	counts := make([]uint64, len(s.layers))
	for i, l := range s.layers {
		counts[i] = uint64(l.N)
	}
	return counts
}

// A search divides its memory. Five eighths are for blocks, or a quarter for lists of them if they are
// on disk. Of the remainder, buffers get half and merges a quarter; the rest is for garbage.

// keptBytes is the memory for blocks.
func (s *search) keptBytes() int64 {
	if s.Dir != "" {
		return s.room / 4
	}
	return s.room / 8 * 5
}

// bufferBytes is the memory for the buffers of a worker.
func (s *search) bufferBytes() int64 {
	return (s.room - s.keptBytes()) / 2 / int64(s.Workers)
}

// abreast is the most runs that are merged at a time.
func (s *search) abreast() int { return runs.Abreast((s.room - s.keptBytes()) / 4) }

// at returns the step of a search that has done some of the positions of a layer, with more positions left in
// all, or -1 if nobody knows.
func (s *search) at(doing string, done, total uint64, left float64) job.Step {
	pace := &job.Pace{Layer: job.Unknown, Run: job.Unknown}
	if took := time.Since(s.begun); done > 0 && took > 0 {
		each := float64(took) / float64(done)
		pace.Rate, pace.Layer = float64(time.Second)/each, time.Duration(float64(total-done)*each)
		if left >= 0 {
			pace.Run = time.Duration(left * each)
		}
	}
	return job.Step{Doing: doing, Done: float64(done), Total: float64(max(1, total)), Pace: pace}
}
