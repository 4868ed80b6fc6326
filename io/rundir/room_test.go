package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestRoom: files in work/ may be replaced.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	free := func(string) (uint64, error) { return 7, nil }
	if room, known, err := Room(dir, free); err != nil || !known || room != 7 {
		t.Errorf("%d bytes, %v, error %v", room, known, err)
	}
	must.OK(t, os.MkdirAll(filepath.Join(dir, WorkName, "again"), 0o755)) // whose size does not count
	must.Write(t, filepath.Join(dir, WorkName, "tiles"), make([]byte, 100))
	room, known, err := Room(dir, free)
	should.Hold(t, err == nil && known && room == 107, "%d bytes, %v, error %v", room, known, err)
}

// TestRoomUnknown: nothing to ask, the system does not know, or asking fails.
func TestRoomUnknown(t *testing.T) {
	for _, c := range []struct{ fails, want error }{{errors.ErrUnsupported, nil}, {os.ErrPermission, os.ErrPermission}} {
		_, known, err := Room(t.TempDir(), func(string) (uint64, error) { return 9, c.fails })
		should.Not(t, known || !errors.Is(err, c.want), "%v: known %v, error %v", c.fails, known, err)
	}
	_, known, err := Room(t.TempDir(), nil)
	should.Not(t, known || err != nil, "nobody asked: known %v, error %v", known, err)
}

// TestRoomError: the error says what is missing.
func TestRoomError(t *testing.T) {
	e := &RoomError{What: "the search", Path: "dir", Need: 3 << 20, Free: 1000}
	should.Equal(t, e.Error(), "the search needs up to 3.0 MiB on the disk of dir; 1000 B free")
	e.Estimated, e.Enough = true, "enough up to layer 3"
	should.Equal(t, e.Error(), "the search needs about 3.0 MiB on the disk of dir; 1000 B free (enough up to layer 3)")
}

func TestFreeBytes(t *testing.T) {
	here, err := FreeBytes(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	should.Not(t, err != nil || here == 0, "%d bytes, %v", here, err)
	below, err := FreeBytes(filepath.Join(t.TempDir(), "not", "yet"))
	should.Not(t, err != nil || below == 0, "%d bytes, %v", below, err)
}
