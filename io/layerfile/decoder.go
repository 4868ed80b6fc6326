package layerfile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"grenier/io/tally"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
	"grenier/kernels/ranks"
	"grenier/kernels/rice"
)

// ErrRange reports a block, or a range of ranks, that a file does not have.
var ErrRange = errors.New("out of range")

// errNoModel reports a compressed block in a file that cannot have any.
var errNoModel = errors.New("compressed, but the file has no model")

// Decoder decodes blocks of a file. It belongs to one goroutine at a time.
type Decoder struct {
	f            *File
	ranks        ranks.Kernel
	rice         rice.Kernel
	decompressor lz4Codec
	entryBytes   [indexEntrySize]byte // copy of an index entry
	stored       []byte               // copy of the stored bytes
	code         []byte               // after decompression
	part, spare  []byte               // ranks of a part of a block, and what that takes
	cache        []int8               // scores of block cached
	cached       int                  // -1: none
}

// NewDecoder returns a decoder for blocks of f that uses the kernels of a family.
func (f *File) NewDecoder(family cpu.Family) *Decoder {
	d := &Decoder{ranks: ranks.For(family), rice: rice.For(family)}
	d.turn(f)
	return d
}

// turn makes d a decoder for blocks of f.
func (d *Decoder) turn(f *File) {
	size := f.header.BlockLen(0)
	d.f, d.cached = f, -1
	d.stored, d.code = slices.Grow(d.stored[:0], size)[:size], slices.Grow(d.code[:0], size)[:size]
}

// Block returns the scores of block i, in dst if its capacity suffices, in new
// memory if not. It fails with an error that matches corrupt.ErrCorrupt and
// names the block, with ErrRange, with os.ErrClosed, or with the error of ctx; dst may
// have been overwritten then.
func (d *Decoder) Block(ctx context.Context, i int, dst []int8) ([]int8, error) {
	if i < 0 || i >= d.f.NumBlocks() {
		return nil, fmt.Errorf("%s: block %d of %d: %w", d.f.path, i, d.f.NumBlocks(), ErrRange)
	}
	n := d.f.header.BlockLen(i)
	dst = slices.Grow(dst[:0], n)[:n]
	if err := d.decode(ctx, i, dst); err != nil {
		return nil, d.f.bad(fmt.Sprintf("block %d", i), err)
	}
	return dst, nil
}

// decode fills dst with block i.
func (d *Decoder) decode(ctx context.Context, i int, dst []int8) error {
	e, stored, err := d.load(ctx, i)
	if err != nil {
		return err
	}
	raw := tally.Bytes(dst)
	if e.raw() {
		copy(raw, stored)
	} else if err := d.expand(raw, stored); err != nil {
		return err
	}
	if sum := crc32c.Of(raw); sum != e.scoresCRC {
		return fmt.Errorf("checksum of the scores %08x instead of %08x", sum, e.scoresCRC)
	}
	if !d.f.bounded(e.raw()) {
		return within(dst, d.f.most)
	}
	return nil
}

// load returns what the index says about block i, and its stored bytes, which are valid until the next call.
func (d *Decoder) load(ctx context.Context, i int) (entry, []byte, error) {
	if err := ctx.Err(); err != nil {
		return entry{}, nil, unread{err}
	}
	e, err := d.entry(ctx, i)
	if err != nil {
		return e, nil, err
	}
	stored := d.stored[:e.length]
	if err := d.f.source.read(ctx, stored, int64(e.offset)); err != nil {
		return e, nil, err
	}
	if sum := crc32c.Of(stored); sum != e.storedCRC {
		return e, nil, fmt.Errorf("checksum of the stored bytes %08x instead of %08x", sum, e.storedCRC)
	}
	return e, stored, nil
}

// Score returns one score, that of the given rank. It decodes the part of the block that it needs, a twelfth on average, and keeps
// nothing: that takes a quarter of the time of the whole block. The stored bytes are checked, but not the checksum of the scores, which depends
// on all of them. It fails like Block.
func (d *Decoder) Score(ctx context.Context, rank uint64) (int8, error) {
	h := &d.f.header
	if rank >= h.Positions {
		return 0, fmt.Errorf("%s: rank %d of %d positions: %w", d.f.path, rank, h.Positions, ErrRange)
	}
	i, at := int(rank/uint64(h.BlockSize)), int(rank%uint64(h.BlockSize))
	score, err := d.one(ctx, i, at)
	if err != nil {
		return 0, d.f.bad(fmt.Sprintf("block %d", i), err)
	}
	return score, nil
}

// one returns a score of block i.
func (d *Decoder) one(ctx context.Context, i, at int) (int8, error) {
	e, stored, err := d.load(ctx, i)
	if err != nil {
		return 0, err
	}
	var score int8
	if e.raw() {
		score = int8(stored[at])
	} else if score, err = d.expandOne(stored, at, d.f.header.BlockLen(i)); err != nil {
		return 0, err
	}
	return score, outside(at, d.f.header.BlockLen(i), score, d.f.most)
}

// within fails if a score is larger than most or smaller than -most.
func within(scores []int8, most int) error {
	for i, x := range scores {
		if err := outside(i, len(scores), x, most); err != nil {
			return err
		}
	}
	return nil
}

// outside fails if the score i of n is larger than most or smaller than -most.
func outside(i, n int, score int8, most int) error {
	if int(score) > most || int(score) < -most {
		return fmt.Errorf("score %d of %d is %d: must be -%d to %d", i, n, score, most, most)
	}
	return nil
}

// entry returns what the index says about block i, checked again: the file may
// have been overwritten since Open.
func (d *Decoder) entry(ctx context.Context, i int) (entry, error) {
	f := d.f
	if err := f.readEntry(ctx, d.entryBytes[:], i); err != nil {
		return entry{}, err
	}
	e := parseEntry(d.entryBytes[:])
	return e, e.check(f.header.BlockLen(i), uint64(f.header.start()), uint64(f.footer.indexOffset))
}

// expand undoes codec and transform.
func (d *Decoder) expand(dst, stored []byte) error {
	code, err := d.decompress(stored, len(dst))
	if err != nil {
		return err
	}
	if err := d.rice.Join(dst, code); err != nil {
		return err
	}
	d.ranks.Scores(d.f.decoding(), dst)
	return nil
}

// expandOne undoes codec and transform for one of n scores: that takes the ranks of its lane up to there.
func (d *Decoder) expandOne(stored []byte, at, n int) (int8, error) {
	code, err := d.decompress(stored, n)
	if err != nil {
		return 0, err
	}
	from := ranks.LaneOf(at, n)
	size := at + 1 - from
	d.part, d.spare = slices.Grow(d.part[:0], size)[:size], slices.Grow(d.spare[:0], rice.PartScratch(size))
	if err := d.rice.JoinPart(d.part, code, from, n, d.spare[:rice.PartScratch(size)]); err != nil {
		return 0, err
	}
	return d.f.decoding().Last(d.part), nil
}

// decompress undoes the codec of the bytes of n scores.
func (d *Decoder) decompress(stored []byte, n int) ([]byte, error) {
	if d.f.header.Model == "" {
		return nil, errNoModel
	}
	code, err := d.decompressor.decompress(d.code[:n], stored)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", d.f.header.Codec, err)
	}
	return code, nil
}

// Read fills dst with the scores of len(dst) positions from the given rank on.
// Whole blocks are decoded in place; reading a file in order, in pieces of any
// size, decodes each block once. It fails like Block.
func (d *Decoder) Read(ctx context.Context, dst []int8, rank uint64) error {
	h := &d.f.header
	if rank > h.Positions || uint64(len(dst)) > h.Positions-rank {
		return fmt.Errorf("%s: %d positions from rank %d on, of %d: %w", d.f.path, len(dst), rank, h.Positions, ErrRange)
	}
	size := uint64(h.BlockSize)
	for len(dst) > 0 {
		i, skip := int(rank/size), int(rank%size)
		n := min(h.BlockLen(i)-skip, len(dst))
		if err := d.readPart(ctx, dst[:n], i, skip); err != nil {
			return err
		}
		dst, rank = dst[n:], rank+uint64(n)
	}
	return nil
}

// readPart fills dst with scores of block i, leaving out the first skip.
func (d *Decoder) readPart(ctx context.Context, dst []int8, i, skip int) error {
	if i != d.cached && len(dst) == d.f.header.BlockLen(i) {
		_, err := d.Block(ctx, i, dst)
		return err
	}
	if i != d.cached {
		d.cached = -1
		scores, err := d.Block(ctx, i, d.cache)
		if err != nil {
			return err
		}
		d.cache, d.cached = scores, i
	}
	copy(dst, d.cache[skip:])
	return nil
}

// ModelBytes returns the most bytes of memory that the model of a file of the layer of n
// seeds takes when it is made ready to decode.
func ModelBytes(n int) uint64 { return ranks.DecodingBytes(2*n + 1) }
