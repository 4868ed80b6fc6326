package io_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/jsonfile"
)

// clock is a document.
type clock struct {
	jsonfile.Header
	Ticks float64 `json:"ticks"`
}

var header = jsonfile.Header{Format: "clock", Version: 2}

func TestEncode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock.json")
	must.Write(t, path, must.Get(jsonfile.Encode(clock{header, 1.5}))(t))
	data := must.Get(jsonfile.Read(path))(t)
	should.Equal(t, string(data), "{\n  \"format\": \"clock\",\n  \"version\": 2,\n  \"ticks\": 1.5\n}\n")
	var got clock
	must.OK(t, jsonfile.Parse(path, data, header, &got))
	should.Equal(t, got, clock{header, 1.5})
	should.Not(t, must.Err(jsonfile.Encode(clock{header, math.NaN()})) == nil, "not a number: no error")
	should.Be(t, must.Err(jsonfile.Read(path+"x")), fs.ErrNotExist, "no file")
}

func TestParse(t *testing.T) {
	for text, want := range map[string]error{
		"":                                      corrupt.ErrCorrupt,
		`{"format": "clock", "version": 2, "ti`: corrupt.ErrCorrupt,
		`{"format": "clock", "version": 2}{}`:   corrupt.ErrCorrupt,
		`{"format": "clock", "version": 2}` + strings.Repeat(" ", jsonfile.MaxBytes): corrupt.ErrCorrupt,
		`[1]`:                               corrupt.ErrCorrupt,
		`{"format": "watch", "version": 2}`: corrupt.ErrForeign,
		`{"ticks": 12}`:                     corrupt.ErrForeign,
		`{"format": "clock", "version": 3, "moons": 3}`:   corrupt.ErrVersion,
		`{"format": "clock", "version": 2, "tocks": 1}`:   corrupt.ErrCorrupt,
		`{"format": "clock", "version": 2, "ticks": "1"}`: corrupt.ErrCorrupt,
	} {
		err := jsonfile.Parse("c.json", []byte(text), header, &clock{})
		should.Hold(t, errors.Is(err, want) && errors.Is(err, corrupt.ErrCorrupt) && strings.HasPrefix(err.Error(), "c.json: "),
			"%.60s: error %v, want %v", text, err, want)
	}
}

// TestSeal: a sealed document is read as it was written, and in no other form: not with any byte changed, removed or added.
func TestSeal(t *testing.T) {
	const path = "clock.json"
	data := must.Get(jsonfile.EncodeSealed(clock{header, 1.5}))(t)
	should.Equal(t, string(data), "{\n  \"format\": \"clock\",\n  \"version\": 2,\n  \"ticks\": 1.5,\n  \"crc32c\": \"0caf8c8a\"\n}\n")
	var got clock
	must.OK(t, jsonfile.ParseSealed(path, data, header, &got))
	should.Equal(t, got, clock{header, 1.5})
	refused := func(what string, at int, changed []byte) {
		t.Helper()
		should.Be(t, jsonfile.ParseSealed(path, changed, header, &clock{}), corrupt.ErrCorrupt, "%s at %d: %q", what, at, changed)
	}
	for i := range data {
		refused("cut", i, data[:i])
		refused("added", i, bytes.Join([][]byte{data[:i], data[i:]}, []byte(" ")))
		for x := 1; x < 256; x++ {
			changed := bytes.Clone(data)
			changed[i] ^= byte(x)
			refused("changed", i, changed)
		}
	}
	refused("not sealed", 0, []byte("{\n  \"format\": \"clock\",\n  \"version\": 2,\n  \"ticks\": 1.5\n}\n"))
	// A file of another kind, or of another version, is not taken for a damaged one.
	for text, want := range map[string]error{
		"Dear diary": corrupt.ErrForeign,
		"{\n  \"format\": \"watch\",\n  \"version\": 2\n}\n": corrupt.ErrForeign,
		"{\n  \"format\": \"clock\",\n  \"version\": 1\n}\n": corrupt.ErrVersion,
		"{\n  \"format\": \"clock\",\n  \"version\": 3,\n":   corrupt.ErrVersion,
	} {
		should.Be(t, jsonfile.ParseSealed("c.json", []byte(text), header, &clock{}), want, "%q", text)
	}
}
