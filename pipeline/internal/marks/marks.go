// Package marks keeps a bit for each position of a layer on disk: which ones a proof has
// grounded. Marks are read and added in pieces, in the order of the ranks, and never taken
// away.
package marks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"grenier/io/corrupt"
	"grenier/io/pagecache"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

// pieceSize is how many bytes are copied at a time.
const pieceSize = 256 << 10

// smallSize is the size of files that may stay in the page cache.
const smallSize = 1 << 20

// Bytes returns the memory of marks of the given positions, in bytes.
func Bytes(positions uint64) uint64 { return 2*pieceSize + min(2*smallSize, positions/4) }

// Set is the marks of a layer: those there are, and those that there were at the last Keep. Its
// methods are safe for concurrent use, but for Keep, Save and Close.
type Set struct {
	dir       vfs.Dir
	name      string // of a saved copy
	now, kept bits
	size      int64 // bytes of each
	mu        sync.Mutex
	buffer    []byte // of the one who has mu
}

// bits is a file of bits that has no name that anybody knows.
type bits struct {
	*vfs.Pending
	cache pagecache.Bound
}

// Create makes the marks of a number of positions, of which none is marked, in two files of a
// directory, which are gone after Close; their copy will have the name given. The directory stays
// open as long as the marks are. It fails like package vfs.
func Create(dir vfs.Dir, name string, positions uint64) (s *Set, err error) {
	s = &Set{dir: dir, name: name, size: int64((positions + 7) / 8)}
	for _, b := range []*bits{&s.now, &s.kept} {
		if err := b.create(dir, name, s.size); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func (b *bits) create(dir vfs.Dir, name string, size int64) (err error) {
	if b.Pending, err = vfs.BeginIn(dir, name); err != nil {
		return err
	}
	if size > smallSize {
		b.cache.Open(vfs.System(b.File))
	}
	return b.Truncate(size)
}

// close removes the file.
func (b *bits) close() error {
	if b.Pending == nil {
		return nil
	}
	return errors.Join(b.cache.Close(), b.Abort())
}

// write writes bits at byte at.
func (b *bits) write(src []byte, at int64) error {
	if _, err := b.WriteAt(src, at); err != nil {
		return fmt.Errorf("marks of a proof: %w", err)
	}
	b.cache.Wrote(at, int64(len(src)))
	return nil
}

// read reads bits from byte at on.
func (b *bits) read(dst []byte, at int64) error {
	if _, err := b.ReadAt(dst, at); err != nil {
		return fmt.Errorf("marks of a proof: %w", err)
	}
	return nil
}

// Read sets dst to the marks of the ranks from 8 x at on, eight in each byte, the lowest first.
func (s *Set) Read(dst []byte, at int64) error { return s.now.read(dst, at) }

// ReadKept is Read for the marks that there were at the last Keep.
func (s *Set) ReadKept(dst []byte, at int64) error { return s.kept.read(dst, at) }

// Add adds the marks of the ranks from 8 x at on.
func (s *Set) Add(src []byte, at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.buffer) < len(src) {
		s.buffer = make([]byte, len(src))
	}
	all := s.buffer[:len(src)]
	if err := s.now.read(all, at); err != nil {
		return err
	}
	for i, b := range src {
		all[i] |= b
	}
	return s.now.write(all, at)
}

// Keep takes over all marks for ReadKept.
func (s *Set) Keep() error {
	return s.pieces(func(piece []byte, at int64) error {
		if err := s.now.read(piece, at); err != nil {
			return err
		}
		return s.kept.write(piece, at)
	})
}

// trailer is the end of a saved copy: its owner, and the CRC-32C of the bits, both little-endian.
const trailer = 4 + 4

// Save writes a copy of the marks under the name given to Create, where Load finds it even after a
// power cut. The number of the owner names their subject. It fails like package vfs.
func (s *Set) Save(owner uint32) (err error) {
	p, err := vfs.BeginIn(s.dir, s.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Abort()) }()
	sum := crc32c.New()
	err = s.pieces(func(piece []byte, at int64) error {
		if err := s.now.read(piece, at); err != nil {
			return err
		}
		sum.Write(piece)
		_, err := p.WriteAt(piece, at)
		return err
	})
	if err != nil {
		return fmt.Errorf("marks of a proof: %w", err)
	}
	end := binary.LittleEndian.AppendUint32(nil, owner)
	end = binary.LittleEndian.AppendUint32(end, sum.Sum32())
	if _, err := p.WriteAt(end, s.size); err != nil {
		return fmt.Errorf("marks of a proof: %w", err)
	}
	return p.Publish()
}

// Load is Create with the marks of the copy of that name, which stays. Besides the errors of Create
// there are fs.ErrNotExist and, if the copy is damaged or of another owner, errors that
// match corrupt.ErrCorrupt.
func Load(dir vfs.Dir, name string, positions uint64, owner uint32) (s *Set, err error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s, err = Create(dir, name, positions)
	if err != nil {
		return nil, err
	}
	if err := s.load(f, owner); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// load copies the marks of a saved copy.
func (s *Set) load(f io.ReaderAt, owner uint32) error {
	end := make([]byte, trailer+1)
	if n, err := f.ReadAt(end, s.size); n != trailer || err != io.EOF {
		return corrupt.New(s.dir.Path(s.name), "size", "not that of marks of %d bytes", s.size)
	}
	if got := binary.LittleEndian.Uint32(end); got != owner {
		return corrupt.New(s.dir.Path(s.name), "owner", "%08x, not %08x", got, owner)
	}
	sum := crc32c.New()
	err := s.pieces(func(piece []byte, at int64) error {
		if _, err := f.ReadAt(piece, at); err != nil {
			return err
		}
		sum.Write(piece)
		return s.now.write(piece, at)
	})
	if err == nil && sum.Sum32() != binary.LittleEndian.Uint32(end[4:]) {
		err = corrupt.New(s.dir.Path(s.name), "marks", "checksum %08x, not %08x", sum.Sum32(), binary.LittleEndian.Uint32(end[4:]))
	}
	return err
}

// pieces calls take with a buffer for each piece of the marks and where it is, in order.
func (s *Set) pieces(take func(piece []byte, at int64) error) error {
	buffer := make([]byte, min(pieceSize, s.size))
	for at := int64(0); at < s.size; at += pieceSize {
		if err := take(buffer[:min(pieceSize, s.size-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the files, but not a copy that was saved.
func (s *Set) Close() error { return errors.Join(s.now.close(), s.kept.close()) }
