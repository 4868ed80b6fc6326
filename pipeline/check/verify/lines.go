package verify

import (
	"context"

	"grenier/io/layerfile"
)

// line is the positions of a row that are in the panel.
type line struct {
	rank      uint64 // of the first one
	scores    []int8
	at, width uint64 // in best: of the first one, from one to the next
}

// walkLines visits the lines of the layer, as walk does with rows.
func (p *part) walkLines(ctx context.Context, visit func(v *visitor, l line) error) ([]*visitor, error) {
	return p.walk(ctx, p.seeds, func(v *visitor, rs *rows) error { return v.gather(rs, visit) })
}

// gather takes in a row that is in the panel, and lets the visitor see those that it has when they are many.
func (v *visitor) gather(rs *rows, visit func(v *visitor, l line) error) error {
	if c := &v.columns[rs.mover]; c.from == c.to {
		return nil
	}
	if len(v.gathered) > 0 && rs.start+rs.width()-v.gathered[0].start > layerfile.MaxBlockSize {
		if err := v.see(); err != nil {
			return err
		}
	}
	v.visit, v.gathered, v.until = visit, append(v.gathered, rs.row), rs.start+rs.width()
	return nil
}

// see visits the lines of the rows that were gathered. Those with as many seeds of the mover have the same columns, and
// follow each other, since their values are in the same places of memory; but not if distances are read, which would be read in any order.
func (v *visitor) see() error {
	if len(v.gathered) == 0 {
		return nil
	}
	start := v.gathered[0].start
	scores, err := v.read(start, v.until-start)
	if err != nil {
		return err
	}
	for a := range v.columns {
		for i := range v.gathered {
			r := &v.gathered[i]
			if v.after == nil && r.mover != a || v.after != nil && a > 0 {
				continue
			}
			if err := v.visit(v, v.line(r, scores[r.start-start:])); err != nil {
				return err
			}
		}
	}
	v.gathered = v.gathered[:0]
	return nil
}

// line returns the line of a row with some scores.
func (v *visitor) line(r *row, scores []int8) line {
	c := &v.columns[r.mover]
	return line{
		rank: r.start + c.from, scores: scores[c.from:c.to],
		at: c.start + v.run.sowings.rank(r.opponent), width: c.width,
	}
}
