package tables

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"grenier/io/crew"
	"grenier/pipeline/internal/blocks"
)

// key names a block: the number of the file in the cache, and its number there.
type key uint64

func newKey(store int, block uint64) key { return key(uint64(store)<<48 | block) }
func (k key) store() int                 { return int(k >> 48) }
func (k key) block() uint64              { return uint64(k & (1<<48 - 1)) }

// question asks for one score.
type question struct {
	key    key
	place  int   // of the answer
	offset int32 // in the block
}

// Scores sets dst[i] to the score of boards[i], for all boards; dst must be as
// long as boards. Boards may be of any layers, in any order and repeated: each
// block that they need is decoded once at most, by as many goroutines as there
// are CPUs, 16 if the files are on a web server. It takes 24 bytes a board for the time of the call.
//
// Scores fails like Score for any of the boards, or with the error of ctx, which
// is checked before each block. dst may have been overwritten then. Boards that
// are not solved are found before anything is read.
func (t *Tables) Scores(ctx context.Context, boards []Board, dst []int8) error {
	if len(boards) != len(dst) {
		return fmt.Errorf("%d boards, but room for %d scores", len(boards), len(dst))
	}
	if t.distant {
		if err := t.openAll(ctx, boards); err != nil {
			return err
		}
	}
	asked, err := t.questions(ctx, boards)
	if err != nil {
		return err
	}
	return t.answer(ctx, asked, dst)
}

// Distances is Scores for the plies that Distance returns: dst[i] is -1 where they are not known.
func (t *Tables) Distances(ctx context.Context, boards []Board, dst []int16) error {
	if len(boards) != len(dst) {
		return fmt.Errorf("%d boards, but room for %d distances", len(boards), len(dst))
	}
	var asked []question
	for i, b := range boards {
		n, err := t.seeds(b)
		if err != nil {
			return fmt.Errorf("boards[%d]: %w", i, err)
		}
		f, err := t.openDistances(ctx, n)
		if err != nil {
			return err
		}
		if dst[i] = -1; f != nil {
			asked = append(asked, t.questionOf(f, t.distanceStore(n), i, b))
		}
	}
	stored := make([]int8, len(boards))
	if err := t.answer(ctx, asked, stored); err != nil {
		return err
	}
	for _, q := range asked {
		dst[q.place] = int16(uint8(stored[q.place]))
	}
	return nil
}

// Probes returns what Probe says about each board, in their order. It looks up
// all of them, and all that their moves lead to, in one batch. It fails like
// Probe and Scores, and says which board is to blame if a score disagrees with
// its moves.
func (t *Tables) Probes(ctx context.Context, boards []Board) ([]Probe, error) {
	all, err := t.withChildren(boards)
	if err != nil {
		return nil, err
	}
	scores := make([]int8, len(all))
	if err := t.Scores(ctx, all, scores); err != nil {
		return nil, err
	}
	probes := make([]Probe, len(boards))
	children := scores[len(boards):]
	next := func(Board, int) (int8, error) {
		score := children[0]
		children = children[1:]
		return score, nil
	}
	for i, b := range boards {
		p := &probes[i]
		*p = Probe{Board: b, Seeds: b.Seeds()}
		if err := t.complete(p, scores[i], next); err != nil {
			return nil, err
		}
	}
	return probes, nil
}

// withChildren returns the boards, and behind them those that the moves of each
// lead to, in the order in which complete asks for their scores.
func (t *Tables) withChildren(boards []Board) ([]Board, error) {
	all := slices.Clone(boards)
	for i, b := range boards {
		if _, err := t.seeds(b); err != nil {
			return nil, fmt.Errorf("boards[%d]: %w", i, err)
		}
		for _, play := range t.space.Plays(b) {
			if play.Legal {
				all = append(all, play.Child)
			}
		}
	}
	return all, nil
}

// questions returns where the scores of the boards are.
func (t *Tables) questions(ctx context.Context, boards []Board) ([]question, error) {
	asked := make([]question, len(boards))
	for i, b := range boards {
		n, err := t.seeds(b)
		if err != nil {
			return nil, fmt.Errorf("boards[%d]: %w", i, err)
		}
		f, err := t.open(ctx, n)
		if err != nil {
			return nil, err
		}
		asked[i] = t.questionOf(f, n, i, b)
	}
	return asked, nil
}

// questionOf asks for what a file, whose number in the cache is store, has for a board.
func (t *Tables) questionOf(f *file, store, place int, b Board) question {
	_, rank := t.space.Rank(b)
	block, offset := f.place(rank)
	return question{newKey(store, block), place, int32(offset)}
}

// byBlock cuts sorted questions into those about one block each.
func byBlock(asked []question) [][]question {
	var parts [][]question
	for len(asked) > 0 {
		n := 1
		for n < len(asked) && asked[n].key == asked[0].key {
			n++
		}
		parts, asked = append(parts, asked[:n]), asked[n:]
	}
	return parts
}

// openAll opens the layers of the boards at the same time, after checking that all
// boards are solved.
func (t *Tables) openAll(ctx context.Context, boards []Board) error {
	wanted := make(map[int]bool)
	for i, b := range boards {
		n, err := t.seeds(b)
		if err != nil {
			return fmt.Errorf("boards[%d]: %w", i, err)
		}
		wanted[n] = true
	}
	group, ctx := crew.WithContext(ctx)
	for n := range wanted {
		group.Go(func() error {
			_, err := t.open(ctx, n)
			return err
		})
	}
	return group.Wait()
}

// answer answers all questions, whose files are open, block by block.
func (t *Tables) answer(ctx context.Context, asked []question, dst []int8) error {
	// Equal blocks become neighbours, and files are read from front to back.
	slices.SortFunc(asked, func(a, b question) int { return cmp.Compare(a.key, b.key) })
	parts := byBlock(asked)
	return crew.Each(ctx, t.workers(), len(parts), func(_, i int) error { return t.answerBlock(ctx, parts[i], dst) })
}

// distantWorkers is how many blocks are requested at the same time: more of
// them hide more round trips.
const distantWorkers = 16

// workers returns how many goroutines look up blocks.
func (t *Tables) workers() int {
	if t.distant {
		return distantWorkers
	}
	return runtime.GOMAXPROCS(0)
}

// answerBlock answers questions about one block.
func (t *Tables) answerBlock(ctx context.Context, asked []question, dst []int8) error {
	if t.closed.Load() {
		return t.errClosed()
	}
	n, block := asked[0].key.store(), asked[0].key.block()
	f, cache := t.fileOf(n), t.cache.Load()
	reader, found := cache.Enter(), false
	if scores := cache.Find(n, block); scores != nil {
		collect(scores, asked, dst)
		found = true
	}
	if reader.Leave(); found {
		return nil
	}
	return t.load(ctx, cache, f, n, block, func(scores *blocks.Block) { collect(scores, asked, dst) })
}

// collect answers questions about a block with the given scores. Every place
// belongs to one question, so goroutines do not meet in dst.
func collect(scores *blocks.Block, asked []question, dst []int8) {
	for _, q := range asked {
		dst[q.place] = scores[q.offset]
	}
}
