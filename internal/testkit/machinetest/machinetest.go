// Package machinetest tests calibration files.
package machinetest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
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
	got, err := parse(path, data)
	must.Hold(t, err == nil && *got == *c, "%+v, want %+v (%v)", got, c, err)
	for name, d := range damages {
		text := strings.Replace(string(data), d.Old, d.New, 1)
		must.Not(t, text == string(data), "%s: not damaged", name)
		_, err := parse(path, []byte(text))
		should.Hold(t, errors.Is(err, d.Is) && errors.Is(err, corrupt.ErrCorrupt) && strings.HasPrefix(err.Error(), path+": "),
			"%s: error %v, want %v", name, err, d.Is)
	}
}

func encode(t testing.TB, c any) []byte {
	t.Helper()
	return must.Get(jsonfile.Encode(c))(t)
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
			must.Be(t, err, corrupt.ErrCorrupt)
			return
		}
		again := encode(t, c)
		got := must.Get(parse("c.json", again))(t)
		third := encode(t, got)
		must.Hold(t, bytes.Equal(third, again), "%s, then %s", again, third)
		use(t, c)
	})
}
