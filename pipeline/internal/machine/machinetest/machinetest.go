// Package machinetest tests calibration files.
package machinetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/io/corrupt"
)

// Damage replaces text of a file; reading it must fail with an error that matches Is.
type Damage struct {
	Old, New string
	Is       error
}

// TestFile fails unless load reads from a file what save wrote, and refuses each damage.
func TestFile[C comparable](t *testing.T, c C, save func(path string) error, load func(path string) (*C, error), damages map[string]Damage) {
	path := filepath.Join(t.TempDir(), "c.json")
	if err := save(path); err != nil {
		t.Fatal(err)
	}
	if got, err := load(path); err != nil || *got != c {
		t.Fatalf("%+v, want %+v (%v)", got, c, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range damages {
		text := strings.Replace(string(data), d.Old, d.New, 1)
		if text == string(data) {
			t.Fatalf("%s: not damaged", name)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := load(path)
		if !errors.Is(err, d.Is) || !errors.Is(err, corrupt.ErrCorrupt) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: error %v, want %v", name, err, d.Is)
		}
	}
}

// Fuzz parses what it finds, after the given seeds. What is accepted must not change when it is
// encoded and parsed again, and goes to use; all else must fail with corrupt.ErrCorrupt.
func Fuzz[C any](f *testing.F, parse func(data []byte) (*C, error), encode func(*C) ([]byte, error), use func(*testing.T, *C), seeds ...[]byte) {
	for _, data := range seeds {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data)
		if err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := encode(c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse(again)
		if err != nil {
			t.Fatal(err)
		}
		if third, err := encode(got); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("%s, then %s (%v)", again, third, err)
		}
		use(t, c)
	})
}
