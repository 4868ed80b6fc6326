package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
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
	if room, known, err := Room(dir, free); err != nil || !known || room != 107 {
		t.Errorf("%d bytes, %v, error %v", room, known, err)
	}
}

// TestRoomUnknown: nothing to ask, the system does not know, or asking fails.
func TestRoomUnknown(t *testing.T) {
	for _, c := range []struct{ fails, want error }{{errors.ErrUnsupported, nil}, {os.ErrPermission, os.ErrPermission}} {
		_, known, err := Room(t.TempDir(), func(string) (uint64, error) { return 9, c.fails })
		if known || !errors.Is(err, c.want) {
			t.Errorf("%v: known %v, error %v", c.fails, known, err)
		}
	}
	if _, known, err := Room(t.TempDir(), nil); known || err != nil {
		t.Errorf("nobody asked: known %v, error %v", known, err)
	}
}

// TestRoomError: the error says what is missing.
func TestRoomError(t *testing.T) {
	e := &RoomError{What: "the search", Path: "dir", Need: 3 << 20, Free: 1000}
	if got := e.Error(); got != "the search needs up to 3.0 MiB on the disk of dir; 1000 B free" {
		t.Error(got)
	}
	e.Estimated, e.Enough = true, "enough up to layer 3"
	if got := e.Error(); got != "the search needs about 3.0 MiB on the disk of dir; 1000 B free (enough up to layer 3)" {
		t.Error(got)
	}
}

func TestFreeBytes(t *testing.T) {
	here, err := FreeBytes(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil || here == 0 {
		t.Errorf("%d bytes, %v", here, err)
	}
	if below, err := FreeBytes(filepath.Join(t.TempDir(), "not", "yet")); err != nil || below == 0 {
		t.Errorf("%d bytes, %v", below, err)
	}
}
