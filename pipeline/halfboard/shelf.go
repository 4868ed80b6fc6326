package halfboard

import (
	"sync"

	"grenier/io/workfile"
)

// A shelf holds the packed offers of tiles in the order of sweeps, in boxes of some
// megabytes that are read as a whole: a sweep wants each of them once, when its turn
// comes.
type shelf struct {
	file  *workfile.File
	boxes []workfile.Extent
	mu    sync.Mutex
	open  []*openBox // those in memory, the newest last
}

// openBox is a box that is in memory, or being read.
type openBox struct {
	box  int
	read func() ([]byte, error) // reads it once
}

// shelved says where on a shelf something is.
type shelved struct{ box, at, length int }

const (
	boxBytes  = 4 << 20
	openBoxes = 4 // in memory at once
)

// fill puts n packed things into boxes and returns where they are.
func (s *shelf) fill(n int, packed func(i int) ([]byte, error)) (places []shelved, err error) {
	var box []byte
	for i := range n {
		p, err := packed(i)
		if err != nil {
			return nil, err
		}
		places = append(places, shelved{len(s.boxes), len(box), len(p)})
		if box = append(box, p...); len(box) < boxBytes && i < n-1 {
			continue
		}
		extent, err := s.file.Put(box)
		if err != nil {
			return nil, err
		}
		s.boxes, box = append(s.boxes, extent), box[:0]
	}
	return places, nil
}

// get returns what is at a place.
func (s *shelf) get(p shelved) ([]byte, error) {
	box, err := s.take(p.box).read()
	if err != nil {
		return nil, err
	}
	return box[p.at : p.at+p.length], nil
}

// take returns a box, which takes the place of the oldest one if it is not open.
func (s *shelf) take(box int) *openBox {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.open {
		if b.box == box {
			return b
		}
	}
	extent := s.boxes[box]
	b := &openBox{box, sync.OnceValues(func() ([]byte, error) { return s.file.Get(extent, nil) })}
	if s.open = append(s.open, b); len(s.open) > openBoxes {
		s.open = s.open[1:]
	}
	return b
}
