// Package machinetest tests calibration files.
package machinetest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/io/corrupt"
	"grenier/io/jsonfile"
)

// Damage replaces text of a file; reading it must fail with an error that matches Is.
type Damage struct {
	Old, New string
	Is       error
}

// TestFile fails unless parse finds in a file the calibration that was saved, and refuses each damage.
func TestFile[C comparable](t *testing.T, c *C, parse func(path string, data []byte) (*C, error), damages map[string]Damage) {
	const path = "c.json"
	data := encode(t, c)
	if got, err := parse(path, data); err != nil || *got != *c {
		t.Fatalf("%+v, want %+v (%v)", got, c, err)
	}
	for name, d := range damages {
		text := strings.Replace(string(data), d.Old, d.New, 1)
		if text == string(data) {
			t.Fatalf("%s: not damaged", name)
		}
		_, err := parse(path, []byte(text))
		if !errors.Is(err, d.Is) || !errors.Is(err, corrupt.ErrCorrupt) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: error %v, want %v", name, err, d.Is)
		}
	}
}

func encode(t testing.TB, c any) []byte {
	t.Helper()
	data, err := jsonfile.Encode(c)
	must.OK(t, err)
	return data
}

// Fuzz parses any bytes, and first the file of c, damaged and not. An accepted file must not change when
// it is encoded and parsed again, and goes to use; all else must fail with corrupt.ErrCorrupt.
func Fuzz[C any](f *testing.F, c *C, parse func(path string, data []byte) (*C, error), use func(*testing.T, *C)) {
	whole := encode(f, c)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.Replace(whole, []byte("1.9"), []byte("1e400"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse("c.json", data)
		if err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again := encode(t, c)
		got, err := parse("c.json", again)
		must.OK(t, err)
		if third := encode(t, got); !bytes.Equal(third, again) {
			t.Fatalf("%s, then %s", again, third)
		}
		use(t, c)
	})
}
