package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path+TempSuffix, []byte("left by a crash, and longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second", ""} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, path); got != text {
			t.Errorf("%q instead of %q", got, text)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	if err := WriteFile(filepath.Join(dir, "none", "a"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	occupied := filepath.Join(dir, "occupied")
	if err := os.MkdirAll(filepath.Join(occupied, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(occupied, []byte("text")); err == nil {
		t.Error("a directory was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestNoFile checks that what is no file is not replaced: a link to a device stands
// for the device, which a test cannot make.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	device, temp := filepath.Join(dir, "device"), filepath.Join(dir, "a.tmp")
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(temp, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func(path string) error{
		"WriteFile": func(path string) error { return WriteFile(path, nil) },
		"Publish":   func(path string) error { return Publish(temp, path) },
		"CheckFile": CheckFile,
	} {
		for _, path := range []string{dir, device} {
			if err := try(path); err == nil || err.Error() != path+" exists and is not a file" {
				t.Errorf("%s at %s: %v", name, path, err)
			}
		}
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	old, absent := filepath.Join(dir, "old"), filepath.Join(dir, "absent")
	if err := os.WriteFile(old, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, absent} {
		if err := CheckFile(path); err != nil {
			t.Error(err)
		}
	}
	if err := CheckFile(filepath.Join(dir, "none", "a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := CheckFile(filepath.Join(old, "a")); err == nil {
		t.Error("a file is no directory")
	}
	if got := contents(t, old); got != "text" {
		t.Errorf("%q is left", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	temp, final := filepath.Join(dir, "a.tmp"), filepath.Join(dir, "a")
	if err := Publish(temp, final); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to publish: %v", err)
	}
	for _, text := range []string{"old", "new"} {
		if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Publish(temp, final); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, final); got != text {
			t.Errorf("%q instead of %q", got, text)
		}
	}
	if _, err := os.Stat(temp); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the temporary name remains")
	}
}

func TestSyncDir(t *testing.T) {
	if err := SyncDir(t.TempDir()); err != nil {
		t.Error(err)
	}
}
