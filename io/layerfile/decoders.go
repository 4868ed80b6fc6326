package layerfile

import (
	"runtime"
	"slices"
	"sync"

	"grenier/kernels/cpu"
)

// Decoders lends decoders to goroutines, for any files. It keeps some that are not in use, whatever the
// garbage collector does: otherwise the memory for decoding would be garbage of twice the size of
// the block. It is safe for concurrent use.
type Decoders struct {
	family cpu.Family
	mu     sync.Mutex
	idle   []*Decoder
}

// NewDecoders returns decoders that use the kernels of a family.
func NewDecoders(family cpu.Family) *Decoders { return &Decoders{family: family} }

// Take returns a decoder for blocks of f, to be put back: if it can, one that has decoded blocks
// of f before.
func (p *Decoders) Take(f *File) *Decoder {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return f.NewDecoder(p.family)
	}
	i := max(0, slices.IndexFunc(p.idle, func(d *Decoder) bool { return d.f == f })) // or the one that was put back first
	d := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	if d.f != f {
		d.turn(f)
	}
	return d
}

// Put takes a decoder back.
func (p *Decoders) Put(d *Decoder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < 2*runtime.GOMAXPROCS(0) {
		p.idle = append(p.idle, d)
	}
}
