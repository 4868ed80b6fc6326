// Package access counts the boards of awari that play can lead to from a start, by bit sets, in
// memory or on disk: column (a) of document 001 (docs/sources.md explains it) for any
// pits, any start and any rules.
//
// # Method
//
// A layer is done before the next lower one begins, as no move adds seeds. The boards of n
// seeds of which the mover has a are a block, a matrix of bits: a row for each half of the
// opponent, a column for each half of the mover, both in colex order. A block has two sets: the
// boards that were reached, and of these the ones to do, whose moves are not played yet.
//
// To play a block is to play all moves of its boards to do. They are turned first, so that a
// row has all halves of the opponent for one half of the mover. A pit of that half leaves
// another half, A', and gives the opponent g seeds, always to the same pits: so the row becomes,
// by a deposit of bits (package bitset), the row A' of the block in which the next mover has g
// seeds more than the opponent had. Where the last seed captures, a table by the halves of the
// opponent says how many seeds, c, and which half is left: a bit of the row A' in a block
// of n-c seeds. Boards that are new there are to do. Sets only grow, so any order of plays ends
// in the same sets; the block with the most boards to do is next.
//
// # Memory and disk
//
// A play needs the turned boards, the two sets that boards go to without a capture, and one set
// of each layer that captures lead to, for one g after the other. All other sets may be in the
// work file of a run directory (package resume): those that were not used for the longest time
// go there. A checkpoint holds all sets between two plays; an interrupted search resumes from
// the last one. docs/format/access-search.md describes it.
package access

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/memory"
	"grenier/kernels/bitset"
	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/pipeline/job"
)

// Options say how boards are counted. There is a step after each play, whose Detail is a Progress;
// Note is not used.
type Options struct {
	job.Job
	// Dir is the run directory for sets that are not in memory and for checkpoints; without one
	// all sets are in memory.
	Dir string
	// Interval is the least time between two checkpoints.
	Interval time.Duration
}

// Progress says how far a search is.
type Progress struct {
	Seeds   int     `json:"seeds"`   // of the layer in progress
	Plays   int     `json:"plays"`   // of blocks, since this run began
	Reached uint64  `json:"reached"` // boards of the layer so far
	ToDo    uint64  `json:"to_do"`   // of them, not played yet
	Begun   float64 `json:"begun"`   // done when this run began
	Done    float64 `json:"done"`    // boards of the layers done, and an estimated part of this one's
	Total   float64 `json:"total"`   // boards of all layers
}

// search is a search in progress.
type search struct {
	Options
	game  awari.Game
	start awari.Board
	q     int
	half  *colex.Ranking // of halves
	store store
	// blocks of each layer, by the seeds of the mover.
	blocks [][]*block
	// n is the layer in progress, -1 if all are done.
	n      int
	counts []uint64 // of the layers that are done
	// emptied says that a move has left no seed on the board.
	emptied atomic.Bool

	deposit bitset.DepositFunc
	tables  tables
	workers []*worker
	plays   int
	begun   float64       // done before this run
	saved   time.Time     // the last checkpoint
	saving  time.Duration // took so long
	// leastWaste is the constant; tests lower it.
	leastWaste uint64
}

// Count returns how many boards of each layer, from 0 seeds up, play can lead to from start by
// one move or more. It fails with a *memory.Error if a play needs more than o.Memory or, without
// a directory, all sets do; like resume.Open; as the file system does; with errors that match
// corrupt.ErrCorrupt if the directory is damaged; and with the error of ctx.
func Count(ctx context.Context, game awari.Game, start awari.Board, o Options) (counts []uint64, err error) {
	s, err := newSearch(game, start, o)
	if err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if err := s.openDir(); err != nil {
			return nil, err
		}
		defer func() {
			if closing := s.store.dir.Close(); err == nil {
				err = closing
			}
		}()
	}
	if err := crew.Run(func() error { return s.run(ctx) }); err != nil {
		return nil, err
	}
	return s.counts, nil
}

func newSearch(game awari.Game, start awari.Board, o Options) (*search, error) {
	o.Workers = max(o.Workers, 1)
	s := &search{Options: o, game: game, start: start, q: game.Half(), n: start.Seeds(), saved: time.Now(), leastWaste: leastWaste}
	var err error
	if s.half, err = colex.New(s.q, s.n); err != nil {
		return nil, err
	}
	s.counts = make([]uint64, s.n+1)
	s.deposit = bitset.For(o.Family)
	for range o.Workers {
		s.workers = append(s.workers, &worker{search: s})
	}
	fixed := s.tableBytes()
	need := fixed + s.playBytes()
	if o.Dir == "" {
		need = fixed + s.setBytes()
	}
	if err := memory.Check(fmt.Sprintf("the search from %d seeds", s.n), need, o.Memory); err != nil {
		return nil, err
	}
	if o.Memory > 0 {
		s.store.room = memory.Room(o.Memory) - fixed
	}
	for n := range s.n + 1 {
		s.blocks = append(s.blocks, make([]*block, n+1))
		for own := range s.blocks[n] {
			s.blocks[n][own] = s.newBlock(n, own)
		}
	}
	return s, s.begin()
}

// begin makes the start the one board to do.
func (s *search) begin() error {
	a := s.start[:s.q]
	b := s.blocks[s.n][sum(a)]
	if err := s.store.pin(&b.todo); err != nil {
		return err
	}
	column := int(s.half.Rank(a))
	row := int(s.half.Rank(s.start[s.q:s.game.Pits()]))
	b.todo.words[row*b.stride+column/64] |= 1 << (column % 64)
	b.todo.add(1)
	s.store.unpin(&b.todo)
	return nil
}

func sum(half []uint8) (seeds int) {
	for _, x := range half {
		seeds += int(x)
	}
	return seeds
}

// run does all layers.
func (s *search) run(ctx context.Context) error {
	if s.n >= 0 {
		s.begun = s.progress().Done
	}
	for ; s.n >= 0; s.n-- {
		for b := s.next(); b != nil; b = s.next() {
			if err := s.play(ctx, b); err != nil {
				if ctx.Err() != nil {
					err = errors.Join(err, s.leave(b))
				}
				return err
			}
			s.plays++
			s.tell()
			due := time.Since(s.saved) >= max(s.Interval, saveShare*s.saving)
			if due || s.store.waste >= max(s.store.live, s.leastWaste) {
				if err := s.save(); err != nil {
					return err
				}
			}
		}
		s.finish()
	}
	return s.save()
}

// leave writes a checkpoint when the play of a block was interrupted: it is played again, from all
// its boards.
func (s *search) leave(b *block) error {
	s.store.forget(&b.todo)
	b.all = true
	if s.n == s.start.Seeds() && b.own == sum(s.start[:s.q]) {
		b.all = b.reached.count > 0
		if err := s.begin(); err != nil {
			return err
		}
	}
	return s.save()
}

// next returns the block of the layer with the most boards to do, nil if there are none.
func (s *search) next() (most *block) {
	for _, b := range s.blocks[s.n] {
		if b.pending() > 0 && (most == nil || b.pending() > most.pending()) {
			most = b
		}
	}
	return most
}

// finish counts the boards of the layer in progress, whose sets are not needed any more, and
// prepares the next one.
func (s *search) finish() {
	for _, b := range s.blocks[s.n] {
		s.counts[s.n] += b.reached.count
		s.store.forget(&b.reached)
		s.store.forget(&b.todo)
	}
	if s.n == 0 && s.emptied.Load() {
		s.counts[0] = 1
	}
	if s.n > 0 {
		for _, b := range s.blocks[s.n-1] {
			b.all = true
		}
	}
}

// tell reports how far the search is.
func (s *search) tell() {
	if s.Progress != nil {
		p := s.progress()
		step := job.OfLayer(p.Seeds, p.Begun, p.Done, p.Total)
		step.Detail = p
		s.Progress(step)
	}
}

// progress returns how far it is.
func (s *search) progress() Progress {
	p := Progress{Seeds: s.n, Plays: s.plays, Begun: s.begun}
	for _, b := range s.blocks[s.n] {
		p.Reached += b.reached.count
		p.ToDo += b.pending()
	}
	for n := range s.blocks {
		size := float64(s.boards(n))
		p.Total += size
		if n > s.n {
			p.Done += size
		}
	}
	p.Done += float64(p.Reached - min(p.ToDo, p.Reached))
	return p
}

// boards returns the number of boards with n seeds.
func (s *search) boards(n int) (boards uint64) {
	for own := range n + 1 {
		boards += s.half.Size(own) * s.half.Size(n-own)
	}
	return boards
}
