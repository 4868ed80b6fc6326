package jsonfile

import (
	"bytes"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
)

// TestSeal: a sealed document is read as it was written, and in no other form: not with any byte
// changed, removed or added.
func TestSeal(t *testing.T) {
	const path = "clock.json"
	data, err := EncodeSealed(clock{header, 1.5})
	must.OK(t, err)
	const want = "{\n  \"format\": \"clock\",\n  \"version\": 2,\n  \"ticks\": 1.5,\n  \"crc32c\": \"0caf8c8a\"\n}\n"
	should.Hold(t, string(data) == want, "%s, want %s", data, want)
	var got clock
	err = ParseSealed(path, data, header, &got)
	should.Hold(t, err == nil && got == (clock{header, 1.5}), "%v, error %v", got, err)
	refused := func(what string, at int, changed []byte) {
		t.Helper()
		should.Be(t, ParseSealed(path, changed, header, &clock{}), corrupt.ErrCorrupt, "%s at %d: %q", what, at, changed)
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
}

// TestSealedVersion: a file of another kind, or of another version, is not taken for a damaged one.
func TestSealedVersion(t *testing.T) {
	for text, want := range map[string]error{
		"Dear diary": corrupt.ErrForeign,
		"{\n  \"format\": \"watch\",\n  \"version\": 2\n}\n": corrupt.ErrForeign,
		"{\n  \"format\": \"clock\",\n  \"version\": 1\n}\n": corrupt.ErrVersion,
		"{\n  \"format\": \"clock\",\n  \"version\": 3,\n":   corrupt.ErrVersion,
	} {
		should.Be(t, ParseSealed("c.json", []byte(text), header, &clock{}), want, "%q", text)
	}
}
