package layerfile

import "context"

// Copy sets b to block i as it is stored, for the Writer of another file with the same model. The block refers to dst, which is
// filled with its scores. It fails like Block.
func (d *Decoder) Copy(ctx context.Context, b *Block, i int, dst []int8) error {
	scores, err := d.Block(ctx, i, dst)
	if err != nil {
		return err
	}
	e, err := d.entry(ctx, i)
	if err != nil {
		return d.f.bad("index", err)
	}
	stored := append(b.buf[:0], d.stored[:e.length]...)
	*b = Block{buf: stored, stored: stored, scores: scores, flags: e.flags, storedCRC: e.storedCRC, scoresCRC: e.scoresCRC}
	b.histogram.Add(scores)
	return nil
}
