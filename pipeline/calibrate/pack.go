package calibrate

import (
	"context"
	"errors"
	"hash/crc32"
	"time"

	"grenier/kernels/planes"
	"grenier/pipeline/plan"
	"grenier/pipeline/tables"
)

// packedScores is the number of scores that are packed at a time: they do not fit into
// caches near the core.
const packedScores = 1 << 22

// packing measures packing and unpacking of scores that were solved, with checksums as in
// the work file, on one core.
func (o *Options) packing(ctx context.Context, c *plan.Calibration, dir string) error {
	scores, err := o.someScores(dir)
	if err != nil {
		return err
	}
	k, castagnoli := planes.For(o.Family), crc32.MakeTable(crc32.Castagnoli)
	packed := make([]byte, planes.Bound(len(scores)))
	again := make([]int8, len(scores))
	scale := 1 / float64(len(scores))
	for range 5 {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := time.Now()
		n := k.Pack(packed, scores)
		crc32.Checksum(packed[:n], castagnoli)
		middle := time.Now()
		crc32.Checksum(packed[:n], castagnoli)
		k.Unpack(again, packed[:n])
		end := time.Now()
		c.Pack = least(c.Pack, scale*float64(middle.Sub(start)))
		c.Unpack = least(c.Unpack, scale*float64(end.Sub(middle)))
	}
	return nil
}

// least returns the lesser of what was found before, 0 if nothing, and something new.
func least(before, now float64) float64 {
	if before == 0 {
		return now
	}
	return min(before, now)
}

// someScores returns scores of the largest layer in dir, over and over if they are few.
func (o *Options) someScores(dir string) (scores []int8, err error) {
	t, err := tables.Open(dir, tables.Options{Family: o.Family})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	last := t.Layers()[t.MaxSeeds()]
	scores = make([]int8, packedScores)
	n := min(uint64(len(scores)), last.Positions)
	if err := t.Read(last.Seeds, (last.Positions-n)/2, scores[:n]); err != nil {
		return nil, err
	}
	for filled := int(n); filled < len(scores); filled *= 2 {
		copy(scores[filled:], scores[:filled])
	}
	return scores, nil
}
