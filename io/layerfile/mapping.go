package layerfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"github.com/edsrzf/mmap-go"

	"grenier/io/corrupt"
)

// mapping is a file mapped into memory. Its bytes only leave it as copies.
type mapping struct {
	mu   sync.RWMutex // close waits until nobody reads
	data mmap.MMap    // nil once closed, and for an empty file
	open bool
}

// errTooLong reports a file that does not fit the address space.
var errTooLong = errors.New("too long to be mapped into memory on this machine")

// openMapping maps the file f and closes it.
func openMapping(f *os.File, length int64) (source, error) {
	defer f.Close()
	m := &mapping{open: true}
	if length == 0 {
		return m, nil // an empty map is an error to the operating system
	}
	err := errTooLong
	if length <= math.MaxInt {
		m.data, err = mmap.MapRegion(f, int(length), mmap.RDONLY, 0, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", f.Name(), err)
	}
	return m, nil
}

func (m *mapping) read(_ context.Context, dst []byte, offset int64) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if !m.open {
		return os.ErrClosed
	}
	if offset < 0 || offset > int64(len(m.data)) || int64(len(dst)) > int64(len(m.data))-offset {
		return io.ErrUnexpectedEOF
	}
	return corrupt.Guard(func() { copy(dst, m.data[offset:]) })
}

func (m *mapping) announceEnd(context.Context, int64) error { return nil }

func (m *mapping) ahead(int64, int64) {}

// length returns the length of the file when it was mapped.
func (m *mapping) length() int64 { return int64(len(m.data)) }

func (m *mapping) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open {
		return os.ErrClosed
	}
	m.open = false
	if m.data == nil {
		return nil
	}
	return m.data.Unmap()
}
