package halfboard

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"grenier/io/corrupt"
	"grenier/io/workfile"
	"grenier/io/workfile/crashfs"
)

// readCounter is a disk that counts reads.
type readCounter struct {
	*crashfs.FS
	reads atomic.Int64
}

func (c *readCounter) Create(path string) (workfile.Handle, error) {
	h, err := c.FS.Create(path)
	return countedHandle{h, &c.reads}, err
}

type countedHandle struct {
	workfile.Handle
	reads *atomic.Int64
}

func (h countedHandle) ReadAt(b []byte, offset int64) (int, error) {
	h.reads.Add(1)
	return h.Handle.ReadAt(b, offset)
}

// newShelf returns an empty shelf.
func newShelf(t *testing.T) (*shelf, *readCounter) {
	t.Helper()
	disk := &readCounter{FS: crashfs.New()}
	file, err := workfile.Create(disk, depotPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return &shelf{file: file}, disk
}

// randomThings returns things for several boxes, one of them larger than a box.
func randomThings(rng *rand.Rand) [][]byte {
	things := make([][]byte, 10+rng.IntN(20))
	for i := range things {
		things[i] = make([]byte, rng.IntN(boxBytes*2/3))
	}
	things[rng.IntN(len(things))] = make([]byte, boxBytes+1+rng.IntN(boxBytes))
	things[rng.IntN(len(things))] = nil
	for i, thing := range things {
		for at := 0; at < len(thing); at += 100 {
			thing[at] = byte(i + at/100)
		}
	}
	return things
}

// mustFill puts things on s and returns where they are. It gives the shelf memory that it
// uses again for the next thing.
func (s *shelf) mustFill(t *testing.T, things [][]byte) []shelved {
	t.Helper()
	var packed []byte
	places, err := s.fill(len(things), func(i int) ([]byte, error) {
		packed = append(packed[:0], things[i]...)
		return packed, nil
	})
	if err != nil || len(places) != len(things) {
		t.Fatalf("%d places for %d things: %v", len(places), len(things), err)
	}
	return places
}

func (s *shelf) mustGet(t *testing.T, i int, p shelved, want []byte) {
	t.Helper()
	if got, err := s.get(p); err != nil || !bytes.Equal(got, want) {
		t.Errorf("thing %d at %+v: %d bytes, want %d, or others; %v", i, p, len(got), len(want), err)
	}
}

// opened returns how many boxes are in memory.
func (s *shelf) opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// TestThingsComeBackFromTheShelf: in any order, to several goroutines.
func TestThingsComeBackFromTheShelf(t *testing.T) {
	rng := newRand(t)
	for range runs(4) {
		s, _ := newShelf(t)
		things := randomThings(rng)
		places := s.mustFill(t, things)
		var group sync.WaitGroup
		for range 1 + rng.IntN(4) {
			order := rng.Perm(len(things))
			group.Go(func() {
				for _, i := range order {
					s.mustGet(t, i, places[i], things[i])
					if n := s.opened(); n > openBoxes {
						t.Errorf("%d boxes in memory", n)
					}
				}
			})
		}
		within(t, "get", group.Wait)
	}
}

// TestShelfInOrder: who goes through the shelf reads every box once, round by round; and so
// do goroutines that want the same at the same time.
func TestShelfInOrder(t *testing.T) {
	rng := newRand(t)
	for range runs(4) {
		s, disk := newShelf(t)
		things := randomThings(rng)
		places := s.mustFill(t, things)
		want := int64(len(s.boxes))
		if len(s.boxes) <= openBoxes {
			want = 0 // those of the round before are in memory
			for i, p := range places {
				s.mustGet(t, i, p, things[i])
			}
		}
		for range 2 {
			before := disk.reads.Load()
			for i, p := range places {
				var group sync.WaitGroup
				for range 3 {
					group.Go(func() { s.mustGet(t, i, p, things[i]) })
				}
				group.Wait()
			}
			if read := disk.reads.Load() - before; read > want {
				t.Errorf("%d reads of %d boxes", read, len(s.boxes))
			}
		}
	}
}

// TestShelfTwice: what comes later does not disturb what is there, and no things are no
// box.
func TestShelfTwice(t *testing.T) {
	s, _ := newShelf(t)
	first := s.mustFill(t, [][]byte{{1, 2}, {3}})
	s.mustFill(t, nil)
	second := s.mustFill(t, [][]byte{{4, 5, 6}})
	s.mustGet(t, 0, first[0], []byte{1, 2})
	s.mustGet(t, 1, first[1], []byte{3})
	s.mustGet(t, 0, second[0], []byte{4, 5, 6})
	if len(s.boxes) != 2 {
		t.Errorf("%d boxes, want 2", len(s.boxes))
	}
}

// TestShelfFails: errors pass.
func TestShelfFails(t *testing.T) {
	bad := errors.New("no thing")
	s, disk := newShelf(t)
	if _, err := s.fill(3, func(i int) ([]byte, error) { return nil, bad }); !errors.Is(err, bad) {
		t.Errorf("packing: %v, want %v", err, bad)
	}
	disk.Limit(10)
	if _, err := s.fill(1, func(int) ([]byte, error) { return make([]byte, 11), nil }); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("writing: %v, want %v", err, syscall.ENOSPC)
	}
	places := s.mustFill(t, [][]byte{{1}, {2}, {3}})
	if h, err := disk.Open(depotPath); err != nil {
		t.Fatal(err)
	} else if _, err := h.WriteAt([]byte{9}, s.boxes[0].Offset+1); err != nil {
		t.Fatal(err)
	}
	for i, p := range places {
		if _, err := s.get(p); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("thing %d of a damaged box: %v", i, err)
		}
	}
}
