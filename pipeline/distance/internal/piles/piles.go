// Package piles puts numbers of 32 bits on piles, in memory as far as there is room, the others on disk. Workers add to any of many piles, in any
// order; what was added in one round is taken pile by pile in the next one, while others are added. That sorts what concerns positions all over a
// layer by the piece of the layer that they are in, without comparing anything.
//
//	adder := set.Adder(worker)
//	adder.Add(pile, number)
//	...
//	err := set.Turn() // when all workers have added
//	err = set.Take(pile, buffer, func(numbers []byte) error { ... })
//
// A pile is a chain of sheets: a sheet has numbers and says which one is below it. For each pile, a worker has a sheet to write on, which goes on the
// pile when it is full or the round ends. It stays in memory if there is another one to write on, and goes to a file otherwise. There
// are two files, one for each round; Turn empties the older one.
package piles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"grenier/io/corrupt"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

const (
	// SheetBytes is the size of a sheet, and of the buffer of Take.
	SheetBytes = 16 << 10
	// headBytes of a sheet are the CRC-32C of what follows, the number of the sheet below, from 1 on, or 0, and its length in bytes.
	headBytes = 12
	// heldBytes is the memory of a sheet with its place in a list.
	heldBytes = SheetBytes + 128
)

// Bytes returns the memory of a set of piles for some workers, in bytes, besides sheets that stay in memory.
func Bytes(piles, workers int) uint64 { return uint64(piles) * (uint64(workers)*heldBytes + 2*4) }

// Set is some piles. Workers may add and take at the same time, but nobody while it turns.
type Set struct {
	dir    vfs.Dir
	name   string
	rounds [2]*round // that in which numbers are added, and the one before
	adders []Adder
	mu     sync.Mutex
	spare  [][]byte // sheets that nobody uses
	more   uint64   // that can be made
}

// round is what was added in a round. Its lock is that of the set.
type round struct {
	sheets uint32            // how many there are
	tops   []uint32          // of piles: the number of the sheet, from 1 on; 0 for none
	held   map[uint32][]byte // sheets in memory
	file   *vfs.Pending      // with the others, by number; nil as long as there are none
}

// Adder adds numbers, for one worker.
type Adder struct {
	set    *Set
	sheets [][]byte // of each pile
	ends   []int32  // of what there is in each
	err    error
}

// New makes empty piles that keep sheets of at most room bytes in memory. Others are in two files of a directory, which are to be called name but never get that
// name, and are gone after Close.
func New(dir vfs.Dir, name string, piles, workers int, room uint64) *Set {
	s := &Set{dir: dir, name: name, adders: make([]Adder, workers), more: room / heldBytes}
	for i := range s.rounds {
		s.rounds[i] = &round{tops: make([]uint32, piles), held: map[uint32][]byte{}}
	}
	for i := range s.adders {
		a := &s.adders[i]
		*a = Adder{set: s, sheets: make([][]byte, piles), ends: make([]int32, piles)}
		for pile := range a.ends {
			a.sheets[pile], a.ends[pile] = make([]byte, SheetBytes), headBytes
		}
	}
	return s
}

// Adder returns the adder of a worker.
func (s *Set) Adder(worker int) *Adder { return &s.adders[worker] }

// Add adds a number to a pile. Turn says whether that failed.
func (a *Adder) Add(pile int, number uint32) {
	end := a.ends[pile]
	binary.LittleEndian.PutUint32(a.sheets[pile][end:], number)
	a.ends[pile] = end + 4
	if end+4 == SheetBytes {
		a.put(pile)
	}
}

// put puts a sheet on its pile.
func (a *Adder) put(pile int) {
	sheet := a.sheets[pile][:a.ends[pile]]
	next, number, err := a.set.grow(pile, sheet)
	switch {
	case err != nil:
	case next != nil:
		a.sheets[pile] = next
	default:
		binary.LittleEndian.PutUint32(sheet, crc32c.Of(sheet[4:]))
		_, err = a.set.rounds[0].file.WriteAt(sheet, int64(number-1)*SheetBytes)
	}
	if err != nil {
		a.err = err
	}
	a.ends[pile] = headBytes
}

// grow gives a sheet a number and its place on a pile. It returns a sheet to write on next, or nil if the one put has to go to the file.
func (s *Set) grow(pile int, sheet []byte) (next []byte, number uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rounds[0]
	r.sheets++
	binary.LittleEndian.PutUint32(sheet[4:], r.tops[pile])
	binary.LittleEndian.PutUint32(sheet[8:], uint32(len(sheet)))
	r.tops[pile] = r.sheets
	if last := len(s.spare) - 1; last >= 0 {
		next, s.spare = s.spare[last], s.spare[:last]
	} else if s.more > 0 {
		next = make([]byte, SheetBytes)
		s.more--
	}
	if next != nil {
		r.held[r.sheets] = sheet
	} else if r.file == nil {
		r.file, err = vfs.NewPending(s.dir, s.name)
	}
	return next, r.sheets, err
}

// Err returns why adding failed, nil if it did not: then the numbers cannot be taken. It fails like package vfs.
func (a *Adder) Err() error { return a.err }

// Turn ends a round: what was added in it can be taken. What is left of the round before is dropped. It fails like package vfs.
func (s *Set) Turn() error {
	for i := range s.adders {
		a := &s.adders[i]
		for pile, end := range a.ends {
			if end > headBytes {
				a.put(pile)
			}
		}
		if a.err != nil {
			return a.err
		}
	}
	s.rounds[0], s.rounds[1] = s.rounds[1], s.rounds[0]
	return s.rounds[0].empty()
}

// empty drops all that was added.
func (r *round) empty() error {
	clear(r.tops)
	clear(r.held)
	r.sheets = 0
	if r.file == nil {
		return nil
	}
	return r.file.Truncate(0)
}

// Take calls take with all numbers of a pile, little-endian, in pieces of any order, once. It fails if take does, and like package vfs.
func (s *Set) Take(pile int, buffer []byte, take func(numbers []byte) error) error {
	r := s.rounds[1]
	for number := r.tops[pile]; number != 0; {
		sheet, held, err := s.sheet(r, number, buffer)
		if err != nil {
			return err
		}
		if err := take(sheet[headBytes:]); err != nil {
			return err
		}
		if number = binary.LittleEndian.Uint32(sheet[4:]); held {
			s.mu.Lock()
			s.spare = append(s.spare, sheet[:SheetBytes])
			s.mu.Unlock()
		}
	}
	return nil
}

// sheet returns a sheet, and whether it was held in memory, where it is no longer after that.
func (s *Set) sheet(r *round, number uint32, buffer []byte) (sheet []byte, held bool, err error) {
	s.mu.Lock()
	sheet, held = r.held[number]
	delete(r.held, number)
	s.mu.Unlock()
	if held {
		return sheet, true, nil
	}
	n, err := r.file.ReadAt(buffer[:SheetBytes], int64(number-1)*SheetBytes)
	if err != nil && err != io.EOF { // the last one may be short
		return nil, false, err
	}
	if n > headBytes {
		n = int(min(uint32(n), binary.LittleEndian.Uint32(buffer[8:])))
	}
	if sheet = buffer[:n]; n <= headBytes || binary.LittleEndian.Uint32(sheet) != crc32c.Of(sheet[4:]) {
		return nil, false, corrupt.New(s.dir.Path(s.name), fmt.Sprintf("sheet %d", number), "%d bytes that are not those written", n)
	}
	return sheet, false, nil
}

// Close removes the files.
func (s *Set) Close() (err error) {
	for _, r := range s.rounds {
		if r.file != nil {
			err = errors.Join(err, r.file.Abort())
		}
	}
	return err
}
