package access

import (
	"grenier/io/memory"
	"grenier/io/workfile"
	"grenier/pipeline/internal/resume"
)

// set is a set of boards of a block: in memory, on disk, both, or empty.
type set struct {
	size    int      // words
	stride  int      // words of a row
	unused  uint64   // bits of the last word of a row that are no column
	words   []uint64 // nil if it is not in memory
	count   uint64   // boards
	pieces  []workfile.Extent
	changed bool   // pieces differ from the block in memory
	pins    int    // it has to stay in memory
	used    uint64 // when, by the clock of the store
}

// add counts boards that were added.
func (x *set) add(boards uint64) {
	if boards > 0 {
		x.count += boards
		x.changed = true
	}
}

// store keeps sets.
type store struct {
	dir   *resume.Dir // nil: in memory alone
	room  uint64      // bytes of memory, 0 for any number
	held  uint64      // bytes
	clock uint64
	here  map[*set]bool // those in memory
	pack  packer
	// live is the bytes of all pieces on disk; waste of those that were dropped since the last
	// checkpoint, whose space is not free yet.
	live, waste uint64
}

// pin brings a set into memory until it is unpinned.
func (s *store) pin(x *set) error {
	s.clock++
	x.used = s.clock
	x.pins++
	if x.words != nil {
		return nil
	}
	if err := s.reserve(x.size); err != nil {
		return err
	}
	x.words = make([]uint64, x.size)
	if s.here == nil {
		s.here = map[*set]bool{}
	}
	s.here[x] = true
	if x.count == 0 {
		return nil
	}
	return s.load(x)
}

// unpin lets a set leave memory. Even an empty one stays there until its room is needed: to
// get memory anew takes longer than to look at it.
func (s *store) unpin(x *set) { x.pins-- }

// clear says that the words of a set, which are in memory, are all 0 now.
func (s *store) clear(x *set) {
	s.drop(x)
	x.count, x.changed = 0, false
}

// leave removes a set from memory.
func (s *store) leave(x *set) {
	if x.words != nil {
		x.words = nil
		delete(s.here, x)
		s.release(x.size)
	}
}

// forget empties a set.
func (s *store) forget(x *set) {
	s.leave(x)
	s.clear(x)
}

// drop removes a set from disk.
func (s *store) drop(x *set) {
	for _, e := range x.pieces {
		s.dir.Drop(e)
		s.live -= uint64(e.Length)
		s.waste += uint64(e.Length)
	}
	x.pieces = nil
}

// reserve makes room for words, by moving sets to disk, and release gives it back.
func (s *store) reserve(words int) error {
	s.held += 8 * uint64(words)
	for s.room > 0 && s.held > s.room {
		oldest := s.oldest()
		if oldest == nil || s.dir == nil {
			return &memory.Error{What: "the sets of a play", Need: memory.Need(s.held), Allowed: memory.Need(s.room)}
		}
		if err := s.write(oldest); err != nil {
			return err
		}
		s.leave(oldest)
	}
	return nil
}

func (s *store) release(words int) { s.held -= 8 * uint64(words) }

// oldest returns the set in memory that was not used for the longest time and is not pinned.
func (s *store) oldest() (oldest *set) {
	for x := range s.here {
		if x.pins == 0 && (oldest == nil || x.used < oldest.used) {
			oldest = x
		}
	}
	return oldest
}
