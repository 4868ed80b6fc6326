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

// add marks ranks from start on, one for each bit of x.
func (w *window) add(start uint64, x uint64) {
	at, shift := int64(start/8)-w.at, start%8
	for rest := x << shift; rest != 0; rest >>= 8 {
		w.bits[at] |= byte(rest)
		at++
	}
	if high := byte(x >> (63 - shift) >> 1); high != 0 {
		w.bits[int64(start/8)-w.at+8] |= high
	}
}

// empty reports whether no rank is marked.
func (w *window) empty() bool { return bytes.Count(w.bits, []byte{0}) == len(w.bits) }

// enter prepares the window for the rows of the layer that begin in the ranks from..end-1, if
// marks are asked for.
func (v *visitor) enter(from, end uint64) {
	if v.mark == nil {
		return
	}
	longest := v.run.sowings.half.Size(v.seeds)
	end = max(from, min(end+longest, v.run.space.Size(v.seeds)))
	v.fresh.set(from, end)
}

// leave hands over the marks.
func (v *visitor) leave() error {
	if v.mark == nil || v.fresh.empty() {
		return nil
	}
	return v.mark(v.fresh.bits, v.fresh.at)
}
