// Package marks keeps a bit for each position of a layer, in memory or on disk: which ones a proof has
// grounded. Marks are added, and never taken away.
package marks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"
	"sync/atomic"

	"grenier/io/corrupt"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

// pieceSize is how many bytes are copied at a time.
const pieceSize = 256 << 10

// Bytes returns the memory of marks that are on disk, in bytes.
const Bytes = 2 * pieceSize

// Set is the marks of a layer. Its methods are safe for concurrent use, but for Save, Load and Close.
type Set struct {
	size   int64           // bytes
	words  []atomic.Uint64 // nil if they are on disk
	file   *vfs.Pending    // that has no name that anybody knows; nil if they are in memory
	mu     sync.Mutex      // held to change the file
	buffer []byte          // of the one who has mu
}

// New makes the marks of a number of positions, of which none is marked, in memory.
func New(positions uint64) *Set {
	return &Set{size: int64((positions + 7) / 8), words: make([]atomic.Uint64, (positions+63)/64)}
}

// Create is New in a file of a directory, which is gone after Close. The directory stays open as long as
// the marks are. It fails like package vfs.
func Create(dir vfs.Dir, name string, positions uint64) (s *Set, err error) {
	s = &Set{size: int64((positions + 7) / 8)}
	if s.file, err = vfs.BeginIn(dir, name); err != nil {
		return nil, err
	}
	if err := s.file.Truncate(s.size); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Read sets dst to the marks of the ranks from 8 x at on, eight in each byte, the lowest first.
func (s *Set) Read(dst []byte, at int64) error {
	if s.words == nil {
		_, err := s.file.ReadAt(dst, at)
		return wrap(err)
	}
	if at+int64(len(dst)) > s.size {
		return wrap(io.ErrUnexpectedEOF)
	}
	for i := 0; i < len(dst); {
		b := at + int64(i)
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], s.words[b/8].Load())
		i += copy(dst[i:], word[b%8:])
	}
	return nil
}

// Add adds the marks of the ranks from 8 x at on.
func (s *Set) Add(src []byte, at int64) error {
	if s.words != nil {
		s.add(src, at)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.old(len(src), at)
	if err != nil {
		return err
	}
	for i, b := range src {
		all[i] |= b
	}
	_, err = s.file.WriteAt(all, at)
	return wrap(err)
}

// add is Add in memory.
func (s *Set) add(src []byte, at int64) {
	for len(src) > 0 {
		var word [8]byte
		n := copy(word[at%8:], src)
		s.words[at/8].Or(binary.LittleEndian.Uint64(word[:]))
		src, at = src[n:], at+int64(n)
	}
}

// old returns bytes of the file from at on.
func (s *Set) old(n int, at int64) ([]byte, error) {
	if len(s.buffer) < n {
		s.buffer = make([]byte, n)
	}
	_, err := s.file.ReadAt(s.buffer[:n], at)
	return s.buffer[:n], wrap(err)
}

// Count returns how many positions are marked.
func (s *Set) Count() (marked uint64, err error) {
	err = s.pieces(func(piece []byte, at int64) error {
		if err := s.Read(piece, at); err != nil {
			return err
		}
		for _, b := range piece {
			marked += uint64(bits.OnesCount8(b))
		}
		return nil
	})
	return marked, err
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

// trailer is the end of a saved copy: its owner, and the CRC-32C of the bits, both little-endian.
const trailer = 4 + 4

// Save writes a copy of the marks to a file of a directory, where Load finds it even after a
// power cut. The number of the owner names their subject. It fails like package vfs.
func (s *Set) Save(dir vfs.Dir, name string, owner uint32) (err error) {
	p, err := vfs.BeginIn(dir, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Abort()) }()
	sum := crc32c.New()
	err = s.pieces(func(piece []byte, at int64) error {
		if err := s.Read(piece, at); err != nil {
			return err
		}
		sum.Write(piece)
		_, err := p.WriteAt(piece, at)
		return err
	})
	if err != nil {
		return wrap(err)
	}
	end := binary.LittleEndian.AppendUint32(nil, owner)
	end = binary.LittleEndian.AppendUint32(end, sum.Sum32())
	if _, err := p.WriteAt(end, s.size); err != nil {
		return wrap(err)
	}
	return p.Publish()
}

// Load takes over the marks of a copy; no position may be marked. The copy stays. Besides errors of
// package vfs, fs.ErrNotExist among them, there are those that match corrupt.ErrCorrupt if it is damaged or of another owner.
// After an error nothing is marked.
func (s *Set) Load(dir vfs.Dir, name string, owner uint32) (err error) {
	f, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end := make([]byte, trailer+1)
	if n, err := f.ReadAt(end, s.size); n != trailer || err != io.EOF {
		return corrupt.New(dir.Path(name), "size", "not that of marks of %d bytes", s.size)
	}
	if got := binary.LittleEndian.Uint32(end); got != owner {
		return corrupt.New(dir.Path(name), "owner", "%08x, not %08x", got, owner)
	}
	sum := crc32c.New()
	err = s.pieces(func(piece []byte, at int64) error {
		if _, err := f.ReadAt(piece, at); err != nil {
			return err
		}
		sum.Write(piece)
		return s.Add(piece, at)
	})
	if err == nil && sum.Sum32() != binary.LittleEndian.Uint32(end[4:]) {
		err = corrupt.New(dir.Path(name), "marks", "checksum %08x, not %08x", sum.Sum32(), binary.LittleEndian.Uint32(end[4:]))
	}
	if err != nil {
		err = errors.Join(err, s.clear())
	}
	return err
}

// clear leaves nothing marked.
func (s *Set) clear() error {
	if s.words != nil {
		clear(s.words)
		return nil
	}
	return errors.Join(s.file.Truncate(0), s.file.Truncate(s.size))
}

// Close removes the file, if there is one, but not a copy that was saved.
func (s *Set) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Abort()
}

func wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("marks of a proof: %w", err)
	}
	return err
}
