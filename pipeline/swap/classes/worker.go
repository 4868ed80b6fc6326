package classes

import (
	"context"
	"sync/atomic"

	"grenier/io/workfile"
	"grenier/pipeline/swap/bfs"
)

// worker is a goroutine's share of a search.
type worker struct {
	*search
	keys, scratch []uint64 // of budget.keys each
	recent        []uint64 // by hash, keys that were found lately
	packer        packer
	counted       uint64 // states of the classes expanded at this depth
	told          uint64 // of these, what search.seen has

	// What is read.
	data    []byte
	extents []workfile.Extent
	ranks   []uint64
}

// recentBits is the logarithm of the number of keys that a worker remembers: half
// a MiB, which caches hold.
const recentBits = 16

func newWorker(s *search) *worker {
	return &worker{
		search: s, keys: make([]uint64, 0, s.budget.keys), scratch: make([]uint64, s.budget.keys),
		recent: make([]uint64, 1<<recentBits), packer: packer{store: s.store},
	}
}

// expand takes blocks of the newest depth and makes runs of their neighbours, until
// none are left or there are too many runs.
func (w *worker) expand(ctx context.Context, taken *atomic.Int64) error {
	for !w.crowded.Load() {
		next := int(taken.Add(1)) - 1
		if next >= len(w.newest) {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.read(w.newest[next:next+1], w.expandBlock); err != nil {
			return err
		}
		w.progress()
	}
	return w.flush()
}

// read calls visit with the keys of each block.
func (w *worker) read(l list, visit func(ranks []uint64) error) error {
	for len(l) > 0 {
		some := l[:min(blocksAtOnce, len(l))]
		l = l[len(some):]
		w.extents = some.extents(w.extents)
		var err error
		if w.data, err = w.store.get(w.extents, w.data); err != nil {
			return err
		}
		data := w.data
		for i := range some {
			n := some[i].at.Length
			if w.ranks, err = some[i].unpack(w.ranks[:0], data[:n], w.total); err != nil {
				return w.store.damaged(&some[i], err)
			}
			data = data[n:]
			if err := visit(w.ranks); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *worker) expandBlock(ranks []uint64) error {
	for _, r := range ranks {
		if len(w.keys)+w.around.fanout() > cap(w.keys) {
			if err := w.flush(); err != nil {
				return err
			}
		}
		from := len(w.keys)
		keys, states := w.around.expand(w.keys, w.around.unrank(r))
		w.counted += states
		w.keys = keys[:from+w.fresh(keys[from:])]
	}
	return nil
}

// fresh replaces keys by the ranks of those that were not found lately and returns
// their number. No state is 0: only that of a single cell is, which has no
// neighbours.
func (w *worker) fresh(keys []uint64) (n int) {
	for _, k := range keys {
		slot := &w.recent[k*0x9e3779b97f4a7c15>>(64-recentBits)]
		keys[n] = k
		if *slot != k {
			n++
		}
		*slot = k
	}
	for i, k := range keys[:n] {
		keys[i] = w.around.rank(k)
	}
	return n
}

// flush makes a run of the keys.
func (w *worker) flush() error {
	if len(w.keys) == 0 {
		return nil
	}
	set := sorted(w.keys, w.scratch[:len(w.keys)])
	w.packer.start()
	for _, k := range set {
		if err := w.packer.add(k); err != nil {
			return err
		}
	}
	w.keys = w.keys[:0]
	run, err := w.packer.finish()
	if err == nil {
		w.add(run)
	}
	return err
}

// merge returns the keys that the runs have in a range, less those of the depth
// before.
func (w *worker) merge(r span) (list, error) {
	keys := w.keys[:0]
	for _, run := range w.runs {
		err := w.read(run.overlap(r), func(ranks []uint64) error {
			for _, k := range ranks {
				if k >= r.first && k < r.end {
					keys = append(keys, k)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return w.subtract(sorted(keys, w.scratch[:len(keys)]), w.before.overlap(r))
}

// subtract returns the keys that are not in a list.
func (w *worker) subtract(keys []uint64, l list) (list, error) {
	w.packer.start()
	err := w.read(l, func(ranks []uint64) error {
		for _, r := range ranks {
			for len(keys) > 0 && keys[0] <= r {
				if keys[0] < r {
					if err := w.packer.add(keys[0]); err != nil {
						return err
					}
				}
				keys = keys[1:]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if err := w.packer.add(k); err != nil {
			return nil, err
		}
	}
	return w.packer.finish()
}

// progress tells how far the search is.
func (w *worker) progress() {
	seen := w.seen.Add(w.counted - w.told)
	w.told = w.counted
	if w.report != nil {
		share := float64(seen) / float64(w.total)
		w.report(bfs.Progress{Depth: len(w.states), Seen: seen, Total: w.total, Share: share, Begun: w.begun})
	}
}
