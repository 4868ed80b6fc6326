package verify

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"grenier/io/corrupt"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
)

// Drawn positions find wrong scores that are one in 10,000, wherever they are, with 99 %: it is
// ln 0.01 / ln(1 - 1/10,000).
const Drawn = 46_050

// A layer of fewer than drawShare positions for each of those has fewer, drawLeast at least. A quarter as
// many are drawn besides among those with captures.
const (
	drawShare = 4096
	drawLeast = 1024
	drawTries = 16 // for a position with a capture
)

// Draw is a sample of a layer that is being made. It takes the scores that it needs as they come
// by (See): of lower layers when they are read for the values of captures, of the layer
// when it is encoded. So it costs little more than playing the moves of its positions; a sample of
// a file decodes most of its blocks.
type Draw struct {
	batch
	waiting [][]*asking // by layer
}

// asking holds sorted questions and says which of them, if they are about a lower layer, are answered.
type asking struct {
	questions []question
	answered  []atomic.Bool
}

// NewDraw draws positions of the layer of n seeds: one in each of many equal parts of its ranks, so of all rows, and
// more of those with captures. The choice depends on the seed alone. It fails with the error of ctx.
func NewDraw(ctx context.Context, space *awari.Space, n, workers int, seed uint64) (*Draw, error) {
	size := space.Size(n)
	even := min(size, Drawn, max(drawLeast, size/drawShare))
	all := even
	if even < size {
		all += even / 4
	}
	r := &run{space: space, options: Options{Job: job.Job{Workers: workers}}}
	d := &Draw{batch: batch{positions: newPositions(space, n, all), run: r}, waiting: make([][]*asking, n+1)}
	return d, d.each(ctx, int(all), 1, func(from, to int) error {
		random := rand.New(rand.NewPCG(seed, uint64(from)))
		asked := make([][]question, n+1)
		for i := from; i < to; i++ {
			d.ranks[i] = d.draw(random, uint64(i), even)
			d.best[i].Store(d.ask(asked, i))
		}
		d.wait(asked)
		return nil
	})
}

// draw returns the rank of position i: in part i, or behind the last part one with a capture, if it
// finds one.
func (d *Draw) draw(random *rand.Rand, i, parts uint64) (rank uint64) {
	size := d.space.Size(d.seeds)
	if i < parts {
		return anyOf(random, i, parts, size)
	}
	for range drawTries {
		rank = random.Uint64N(size)
		for _, play := range d.space.Plays(d.space.Unrank(d.seeds, rank)) {
			if play.Captured > 0 {
				return rank
			}
		}
	}
	return rank
}

// wait takes in questions, by layer.
func (d *Draw) wait(asked [][]question) {
	for m, questions := range asked {
		if len(questions) == 0 {
			continue
		}
		slices.Sort(questions)
		a := &asking{questions: slices.Clone(questions)}
		if m < d.seeds {
			a.answered = make([]atomic.Bool, len(questions))
		}
		d.mu.Lock()
		d.waiting[m] = append(d.waiting[m], a)
		d.mu.Unlock()
	}
}

// See takes the scores that are needed from the scores of layer m from rank start on. It is safe
// for concurrent use, but for the scores of the layer itself, of which each may be seen once.
func (d *Draw) See(m int, start uint64, scores []int8) {
	for _, a := range d.waiting[m] {
		at, _ := slices.BinarySearch(a.questions, newQuestion(start, 0))
		for ; at < len(a.questions) && a.questions[at].rank()-start < uint64(len(scores)); at++ {
			d.learn(a.questions[at], m, scores[a.questions[at].rank()-start])
			if a.answered != nil {
				a.answered[at].Store(true)
			}
		}
	}
}

// Settle frees the memory of questions about lower layers that are answered. Nobody may call See meanwhile.
func (d *Draw) Settle() {
	for m := range d.seeds {
		left := d.unanswered(m)
		d.waiting[m] = nil
		if len(left) > 0 {
			d.waiting[m] = []*asking{{questions: left, answered: make([]atomic.Bool, len(left))}}
		}
	}
}

// Lacks reports whether a score of a lower layer did not come by.
func (d *Draw) Lacks() bool {
	for m := range d.seeds {
		if len(d.unanswered(m)) > 0 {
			return true
		}
	}
	return false
}

// unanswered returns the sorted questions about layer m that are not answered.
func (d *Draw) unanswered(m int) (left []question) {
	for _, a := range d.waiting[m] {
		for i, q := range a.questions {
			if !a.answered[i].Load() {
				left = append(left, q)
			}
		}
	}
	slices.Sort(left)
	return left
}

// Look looks up the scores of lower layers that did not come by. It fails like tables.Tables.Read,
// and with the error of ctx.
func (d *Draw) Look(ctx context.Context, t *tables.Tables) error {
	d.run.tables = t
	for m := range d.seeds {
		if err := d.look(ctx, m, d.unanswered(m), 1); err != nil {
			return err
		}
	}
	return nil
}

// Err returns an error that matches corrupt.ErrCorrupt, and says that the file at path has it, for the first wrong
// score. All scores must have come by.
func (d *Draw) Err(path string) error {
	var f found
	d.positions.compare(&f)
	return f.err(path)
}

// err returns the first difference as an error about the file at path.
func (f *found) err(path string) error {
	if len(f.first) == 0 {
		return nil
	}
	return corrupt.New(path, "", "%s: the layer, or one below it, holds wrong scores", f.first[0].String())
}
