package verify

import "bytes"

// window is the marks of the ranks from 8 x at on, eight in each byte.
type window struct {
	at   int64
	bits []byte
}

// set makes it a window for the ranks from..to-1, without marks.
func (w *window) set(from, to uint64) {
	w.at = int64(from / 8)
	n := int(int64(to+7)/8 - w.at)
	if cap(w.bits) < n {
		w.bits = make([]byte, n)
	}
	w.bits = w.bits[:n]
	clear(w.bits)
}

// mark marks a rank.
func (w *window) mark(rank uint64) { w.bits[int64(rank/8)-w.at] |= 1 << (rank % 8) }

// has reports whether a rank is marked.
func (w *window) has(rank uint64) bool { return w.bits[int64(rank/8)-w.at]>>(rank%8)&1 != 0 }

// empty reports whether no rank is marked.
func (w *window) empty() bool { return bytes.Count(w.bits, []byte{0}) == len(w.bits) }

// mask makes the scores of ranks that are not marked 0.
func (w *window) mask(scores []int8, rank uint64) {
	for len(scores) > 0 {
		b, first := w.bits[int64(rank/8)-w.at], rank%8
		n := min(8-int(first), len(scores))
		if b != 0xff {
			b >>= first
			for i := range scores[:n] {
				scores[i] &= -int8(b & 1)
				b >>= 1
			}
		}
		scores, rank = scores[n:], rank+uint64(n)
	}
}

// enter prepares the windows for the rows of the layer that begin in the ranks from..end-1, if
// marks are asked for.
func (v *visitor) enter(from, end uint64) error {
	if v.mark == nil {
		return nil
	}
	longest := v.run.sowings.half.Size(v.seeds)
	end = max(from, min(end+longest, v.run.space.Size(v.seeds)))
	v.fresh.set(from, end)
	if v.grounded == nil {
		return nil
	}
	v.known.set(from, end)
	return v.grounded.Read(v.known.bits, v.known.at)
}

// leave hands over the marks.
func (v *visitor) leave() error {
	if v.mark == nil || v.fresh.empty() {
		return nil
	}
	return v.mark(v.fresh.bits, v.fresh.at)
}
