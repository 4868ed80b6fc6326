// Package bfs searches the whole state graph of a swap puzzle breadth first:
// it counts the states at each distance from the goal.
//
// # One bit a state
//
// A swap changes the parity of a permutation, so the states of one depth are all
// even or all odd, and the neighbours of depth d are of depths d-1 and d+1 only.
// For each parity the search keeps one set of bits, the states of the newest
// depth of that parity. Depth d+1 is the neighbours of depth d without depth d-1,
// which it replaces: the set of all states seen is not needed.
//
// Words have 60 bits in use, and a byte for each word counts the states seen, so
// that full words are skipped. A state takes 72/480 = 0.15 bytes.
//
// # Sixty states at once
//
// Cells are listed in three parts: upper cells, up to four lower ones and a tail
// of five (layout). By the order of ranks of package perm, a state is a block
// (the tiles in the upper cells), a word of that block (those in the lower cells)
// and a bit of that word (the order of the tail, tails.go). A swap then moves
// whole words or parts of words:
//
//   - between two upper cells: all words of a block to the same places of another;
//   - between an upper and a lower cell, or two lower ones: words to words, their
//     bits unchanged;
//   - inside the tail: bits inside a word, by look-ups, all edges at once;
//   - between a lower cell and the tail: fifths of a word to five words of the same
//     block, after the word is regrouped by the tile in that cell of the tail.
//
// Cells are divided so that no edge joins an upper cell and the tail. So the moves
// inside a block need tables for one block only.
//
// # Pulling
//
// Each block of the new depth is computed from the blocks that its edges lead to, and
// only for words that are not full yet. One worker writes it and none reads it before
// the next depth: no locks are needed. The last depths are cheap since few words are
// left, the first ones since few blocks are reached.
//
// # On disk
//
// The blocks can be in a work file instead of memory (store.go), packed (piece.go).
// All blocks with the same tile in the first cell are a tile of blocks. The newest
// states of one tile are in memory, and its blocks are pulled, some at a time:
// these are read together, and so are the blocks of other tiles that edges of the
// first cell lead to. As many blocks of the first tiles as fit stay in memory.
// There are more goroutines than processors, so that some search while others wait
// for the disk. A checkpoint after each depth says where
// the blocks are: the same search resumes from it.
package bfs

import (
	"cmp"
	"context"
	"errors"
	"math"

	"grenier/layers/swap"
	"grenier/pipeline/job"
)

// Options of a search. Family and Note are not used.
type Options struct {
	job.Job
	// Dir, if not empty, is the run directory in which the states are kept
	// instead of memory. A search that was interrupted there resumes.
	Dir string
	// Free, if not nil, returns the free bytes on the disk of a path. A search that needs more is refused.
	Free func(path string) (uint64, error)
}

// Result has the counts of a search.
type Result struct {
	Rows, Cols int
	// Depths is the number of states at each distance from the goal.
	Depths []uint64
}

// States returns the number of all states.
func (r *Result) States() uint64 {
	sum := uint64(0)
	for _, n := range r.Depths {
		sum += n
	}
	return sum
}

// Diameter returns the largest distance of two states.
func (r *Result) Diameter() int { return len(r.Depths) - 1 }

// Antipodes returns the number of states that are as far as possible from the
// goal.
func (r *Result) Antipodes() uint64 { return r.Depths[r.Diameter()] }

// Mean returns the mean distance from the goal.
func (r *Result) Mean() float64 {
	sum := 0.0
	for d, n := range r.Depths {
		sum += float64(d) * float64(n)
	}
	return sum / float64(r.States())
}

// Search counts the states of a grid at each distance from the goal. It fails
// with a *memory.Error when the job has too little memory, and with the error of ctx; on disk also with a *rundir.RoomError, like rundir.Lock, with errors that match
// corrupt.ErrCorrupt, and with errors of the operating system.
func Search(ctx context.Context, g *swap.Grid, o Options) (r *Result, err error) {
	o.Workers, o.Memory = max(1, o.Workers), cmp.Or(o.Memory, math.MaxUint64)
	l, err := newLayout(g)
	if err != nil {
		return nil, err
	}
	if err := l.checkMemory(g, o); err != nil {
		return nil, err
	}
	if err := l.checkRoom(o); err != nil {
		return nil, err
	}
	s := newSearch(l, g, o)
	if err := s.openStore(g); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.store.close()) }()
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	if err := g.CheckDepths(s.depths, true); err != nil {
		return nil, s.store.damaged(err)
	}
	return &Result{Rows: g.Rows(), Cols: g.Cols(), Depths: s.depths}, nil
}
