package tables

import (
	"context"
	"fmt"
	"math"

	"github.com/dustin/go-humanize/english"

	"grenier/io/corrupt"
	"grenier/layers/awari"
	"grenier/pipeline/internal/blocks"
)

// Probe is what is known about a board.
type Probe struct {
	Board Board
	// Seeds is the number of seeds on the board.
	Seeds int
	// Value is the score of the board: the seeds the mover takes from now on
	// minus those of the opponent.
	Value int
	// Moves says where playing each pit of the mover leads. Entries from Q on
	// are zero.
	Moves [awari.MaxPits / 2]Move
}

// Move is what playing a pit leads to.
type Move struct {
	Pit int `json:"pit"`
	// Legal reports whether the move may be played. When it may not, the fields
	// that follow are zero.
	Legal bool `json:"legal"`
	// Captured is the number of seeds the mover takes.
	Captured int `json:"captured"`
	// Value is the score of the board if the mover plays this move: Captured
	// minus the score of Child.
	Value int `json:"value"`
	// Child is the board after the move, seen by the next player.
	Child Board `json:"-"`
}

// Score returns the score of a board. It fails with ErrBoard when the
// board has seeds in pits that the game lacks, with ErrUnsolved, with an error
// that matches ErrCorrupt, with os.ErrClosed, or with the error of ctx if that ends before the
// score is read; one in the cache is returned in any case.
func (t *Tables) Score(ctx context.Context, b Board) (int8, error) {
	n, err := t.seeds(b)
	if err != nil {
		return 0, err
	}
	return t.score(ctx, b, n)
}

// ScoreAt returns the score of the board of layer n that has the given rank in
// colex order. It fails like Score, or with ErrRange when there is no
// such board.
func (t *Tables) ScoreAt(ctx context.Context, n int, rank uint64) (int8, error) {
	if err := t.Need(n); err != nil {
		return 0, err
	}
	if size := t.space.Size(n); rank >= size {
		return 0, fmt.Errorf("rank %d of %d boards with %d seeds: %w", rank, size, n, ErrRange)
	}
	return t.scoreAt(ctx, n, rank)
}

// Probe returns the score of a board and the values of its moves. The score is
// stored and also follows from the moves; if the two differ, Probe fails with an
// error that matches ErrCorrupt. Otherwise it fails like Score. On a web server it asks for all blocks at the
// same time.
func (t *Tables) Probe(ctx context.Context, b Board) (Probe, error) {
	n, err := t.seeds(b)
	if err != nil {
		return Probe{}, err
	}
	if t.distant {
		probes, err := t.Probes(ctx, []Board{b})
		if err != nil {
			return Probe{}, err
		}
		return probes[0], nil
	}
	stored, err := t.score(ctx, b, n)
	if err != nil {
		return Probe{}, err
	}
	p := Probe{Board: b, Seeds: n}
	if err := t.complete(&p, stored, func(b Board, n int) (int8, error) { return t.score(ctx, b, n) }); err != nil {
		return Probe{}, err
	}
	return p, nil
}

// seeds returns the number of seeds of a board after checking that it is one of
// those solved.
func (t *Tables) seeds(b Board) (int, error) {
	for _, x := range b[t.space.Pits():] {
		if x != 0 {
			return 0, fmt.Errorf("%w: %v has seeds beyond pit %d", ErrBoard, b, t.space.Pits()-1)
		}
	}
	n := b.Seeds()
	if !t.Has(n) {
		return 0, t.unsolved(n, fmt.Sprintf("the board has %d %s", n, english.PluralWord(n, "seed", "")))
	}
	return n, nil
}

// score returns the stored score of a board with n seeds, which must be solved.
func (t *Tables) score(ctx context.Context, b Board, n int) (int8, error) {
	_, rank := t.space.Rank(b)
	return t.scoreAt(ctx, n, rank)
}

// scoreAt returns the stored score of a board that is known to exist.
func (t *Tables) scoreAt(ctx context.Context, n int, rank uint64) (score int8, err error) {
	if t.closed.Load() {
		return 0, t.errClosed()
	}
	f, err := t.open(ctx, n)
	if err != nil {
		return 0, err
	}
	return t.lookUp(ctx, f, n, rank)
}

// lookUp returns what an open file, whose number in the cache is n, has for a rank.
func (t *Tables) lookUp(ctx context.Context, f *file, n int, rank uint64) (score int8, err error) {
	block, offset := f.place(rank)
	cache := t.cache.Load()
	reader, found := cache.Enter(), false
	if scores := cache.Find(n, block); scores != nil {
		score, found = scores[offset], true
	}
	if reader.Leave(); found {
		return score, nil
	}
	err = t.load(ctx, cache, f, n, block, func(scores *blocks.Block) { score = scores[offset] })
	return score, err
}

// load decodes a block of layer n, passes its scores to use and keeps it in the cache.
func (t *Tables) load(ctx context.Context, cache *blocks.Store, f *file, n int, block uint64, use func(scores *blocks.Block)) error {
	d := t.decoders.Take(f.File)
	defer t.decoders.Put(d)
	scores := cache.Room()
	if _, err := d.Block(ctx, int(block), scores[:0]); err != nil {
		cache.GiveBack(scores)
		return err
	}
	use(scores)
	cache.Keep(n, block, scores)
	return nil
}

// complete sets the moves of p and its value, and compares that with the stored
// one. The function score returns the score of a child with n seeds; it is
// called once for each legal move, in their order.
func (t *Tables) complete(p *Probe, stored int8, score func(b Board, n int) (int8, error)) error {
	best := math.MinInt
	plays := t.space.Plays(p.Board)
	for pit := range t.space.Half() {
		play, move := &plays[pit], &p.Moves[pit]
		move.Pit = pit
		if !play.Legal {
			continue
		}
		child, err := score(play.Child, p.Seeds-play.Captured)
		if err != nil {
			return err
		}
		move.Legal, move.Captured, move.Child = true, play.Captured, play.Child
		move.Value = play.Captured - int(child)
		best = max(best, move.Value)
	}
	if best == math.MinInt {
		best = t.space.Terminal(p.Board)
	}
	p.Value = best
	if p.Value != int(stored) {
		return t.disagrees(p, stored)
	}
	return nil
}

// disagrees returns the error for a board whose stored score does not follow
// from its moves; the file of its layer is open.
func (t *Tables) disagrees(p *Probe, stored int8) error {
	f := t.layers[p.Seeds].file.Load()
	_, rank := t.space.Rank(p.Board)
	return corrupt.New(f.Path(), f.part(rank), "the score of board %s is %d, but its moves give %d",
		t.space.Text(p.Board), stored, p.Value)
}
