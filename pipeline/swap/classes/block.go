package classes

import (
	"encoding/binary"
	"errors"

	"grenier/io/workfile"
)

// blockBytes is the largest size of a block, and so the largest number of its
// keys.
const blockBytes = 4096

// block says where some keys are: ascending numbers of classes, each but the
// first as the difference from the one before.
type block struct {
	first uint64
	keys  uint32
	at    workfile.Extent
}

// list is a sorted set of keys: the blocks that they are in, in order.
type list []block

func (l list) keys() (sum uint64) {
	for i := range l {
		sum += uint64(l[i].keys)
	}
	return sum
}

func (l list) extents(dst []workfile.Extent) []workfile.Extent {
	dst = dst[:0]
	for i := range l {
		dst = append(dst, l[i].at)
	}
	return dst
}

// blocksAtOnce is the number of blocks that are read or written at once.
const blocksAtOnce = 64

// packer makes a list of the keys that it is given.
type packer struct {
	store   store
	list    list
	data    []byte // blocks that are not stored yet
	lengths []int  // of these but the last
	begin   int    // of the last block in data
	last    uint64
}

// start begins a new list.
func (p *packer) start() {
	*p = packer{store: p.store, data: p.data[:0], lengths: p.lengths[:0]}
}

// add appends a key, larger than those before.
func (p *packer) add(key uint64) error {
	size := len(p.data) - p.begin
	if size > 0 && size <= blockBytes-binary.MaxVarintLen64 {
		p.data = binary.AppendUvarint(p.data, key-p.last)
	} else {
		if err := p.cut(); err != nil {
			return err
		}
		p.list = append(p.list, block{first: key})
		p.data = binary.AppendUvarint(p.data, key)
	}
	p.last = key
	p.list[len(p.list)-1].keys++
	return nil
}

// cut ends a block, if there is one.
func (p *packer) cut() error {
	if len(p.data) == p.begin {
		return nil
	}
	p.lengths = append(p.lengths, len(p.data)-p.begin)
	p.begin = len(p.data)
	if len(p.lengths) < blocksAtOnce {
		return nil
	}
	return p.flush()
}

// flush stores all blocks that are complete.
func (p *packer) flush() error {
	extents, err := p.store.put(p.data[:p.begin], p.lengths)
	if err != nil {
		return err
	}
	stored := p.list[len(p.list)-len(p.lengths):]
	for i := range stored {
		stored[i].at = extents[i]
	}
	p.data, p.lengths, p.begin = p.data[:0], p.lengths[:0], 0
	return nil
}

// finish returns the list.
func (p *packer) finish() (list, error) {
	if err := p.cut(); err != nil {
		return nil, err
	}
	if err := p.flush(); err != nil {
		return nil, err
	}
	return p.list, nil
}

var (
	errKeys  = errors.New("not as many keys as the index says")
	errOrder = errors.New("keys that do not ascend")
	errFirst = errors.New("another first key than the index says")
	errRange = errors.New("a key out of range")
)

// unpack appends the keys of a block, all below limit, to dst.
func (b *block) unpack(dst []uint64, data []byte, limit uint64) ([]uint64, error) {
	key, n := binary.Uvarint(data)
	if n <= 0 || key != b.first {
		return dst, errFirst
	}
	if key >= limit {
		return dst, errRange
	}
	dst = append(dst, key)
	data = data[n:]
	for range b.keys - 1 {
		step, n := binary.Uvarint(data)
		switch {
		case n <= 0:
			return dst, errKeys
		case step == 0:
			return dst, errOrder
		case step >= limit-key:
			return dst, errRange
		}
		key += step
		dst = append(dst, key)
		data = data[n:]
	}
	if len(data) > 0 {
		return dst, errKeys
	}
	return dst, nil
}
