package verify

import (
	"context"
	"errors"
	"slices"

	"grenier/io/corrupt"
	"grenier/pipeline/check/internal/notes"
)

// compare compares the scores of layer n with the values of their moves. Data that cannot be
// used is part of the outcome, other errors are not.
func (r *run) compare(ctx context.Context, n int, layer *Layer) error {
	var f found
	compare := r.all
	if r.options.Sample > 0 {
		compare = r.sample
	}
	err := compare(ctx, n, &f)
	if e, ok := errors.AsType[*corrupt.Error](err); ok && r.distances != nil && e.File == r.distances.Path() { // which another part has checked
		layer.damaged(err)
		r.distances, f = nil, found{}
		err = compare(ctx, n, &f)
	}
	layer.compared(&f)
	layer.Plies = r.distances != nil && layer.Checked == layer.Positions
	if errors.Is(err, corrupt.ErrCorrupt) {
		layer.damaged(err)
		return nil
	}
	return err
}

// all compares all positions of layer n, or of the part of it, panel by panel. A part has its own columns, whatever the memory.
func (r *run) all(ctx context.Context, n int, f *found) error {
	index, parts := r.place()
	each, noted := (r.panels(n)+parts-1)/parts, r.notes.Find(n)
	if noted.Parts != each || noted.Faults {
		noted.Done = 0
	}
	for i := range each {
		p := r.part(n, index*each+i, parts*each)
		p.mark = r.options.Backed
		if i < noted.Done {
			f.checked += uint64(len(p.best))
			r.meter.skip(uint64(len(p.best)))
			continue
		}
		if r.distances != nil {
			r.after = slices.Grow(r.after[:0], len(p.best))[:len(p.best)]
			clear(r.after)
			p.after = r.after
		}
		p.meter = r.panelMeter(n, f.checked, uint64(len(p.best)))
		found, err := p.compare(ctx)
		f.add(&found)
		if err != nil {
			return err
		}
		if f.mismatches == 0 && i+1 < each {
			r.notes.Set(notes.Layer{Seeds: n, Parts: each, Done: i + 1})
		}
	}
	return nil
}

// place returns which part of how many it is, from 0 on.
func (r *run) place() (index, parts int) {
	if p := r.options.Part; p.One() {
		return p.Index - 1, p.Of
	}
	return 0, 1
}

// due returns how many positions of layer n are to be compared.
func (r *run) due(n int) uint64 {
	if r.options.Sample > 0 {
		from, to := r.options.Part.Share(r.wanted(n))
		return to - from
	}
	if r.options.Part.All {
		return r.space.Size(n)
	}
	index, parts := r.place()
	return r.sowings.positions(n, index, parts)
}

// panels returns into how many panels layer n is divided, and takes the memory for one.
func (r *run) panels(n int) int {
	room := uint64(max(0, r.options.MemoryBytes))
	if r.distances != nil {
		room /= 2
	}
	if r.best == nil { // as much as the largest layer can use
		r.best = make([]int8, min(r.due(slices.Max(r.options.Layers)), room))
	}
	return r.sowings.panels(n, r.space.Size(n), room)
}

// part begins panel i of count of layer n.
func (r *run) part(n, i, count int) *part {
	p := &part{run: r, seeds: n, panel: r.sowings.newPanel(n, i, count, r.best)}
	r.best = p.best
	return p
}

// panelMeter returns the meter of a panel of layer n with a number of positions, behind panels with before.
func (r *run) panelMeter(n int, before, positions uint64) *panelMeter {
	own := uint64(chunks(r.space.Size(n)))
	m := &panelMeter{meter: &r.meter, seeds: n, before: before, positions: positions, total: 2 * own}
	if r.options.Backed != nil {
		m.total += own
	}
	for _, k := range r.below(n) {
		m.total += uint64(chunks(r.space.Size(k)))
	}
	return m
}
