package sealed_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/sealed"
)

var layout = sealed.Layout{Name: "a clock", Magic: "\x89GC\n", Version: 6, Size: 16, Oldest: 2, Newest: 3}

// header returns a header with a field of two bytes before the version and another behind.
func header(version int) []byte {
	b := layout.Start(version)
	b[4], b[10] = 1, 2
	return sealed.End(b)
}

func TestLayoutGolden(t *testing.T) {
	want := "\x89GC\n\x01\x00\x03\x00\x00\x00\x02\x00"
	b := header(3)
	should.Hold(t, len(b) == layout.Size && string(b[:12]) == want, "%q, want %q", b, want)
}

// TestLayoutOpen: magic number, length, version and checksum are checked in this order.
func TestLayoutOpen(t *testing.T) {
	whole := header(3)
	changed := func(at int, to byte) []byte {
		b := bytes.Clone(whole)
		b[at] = to
		return b
	}
	causes := []error{corrupt.ErrForeign, corrupt.ErrVersion}
	for _, c := range []struct {
		what  string
		data  []byte
		cause error
		text  string
	}{
		{"another magic number, cut off", []byte("\x89GD"), corrupt.ErrForeign, "does not begin like a clock"},
		{"another magic number", changed(2, 'D'), corrupt.ErrForeign, "does not begin like a clock"},
		{"nothing", nil, nil, "0 bytes are less than a header"},
		{"cut off", whole[:15], nil, "15 bytes are less than a header"},
		{"a newer version", changed(6, 4), corrupt.ErrVersion, "4: this program reads versions 2 to 3"},
		{"a much newer version", changed(9, 0xff), corrupt.ErrVersion, "4278190083: this program"},
		{"an older version", changed(6, 1), corrupt.ErrVersion, "1: this program reads versions 2 to 3"},
		{"a damaged version", changed(6, 2), nil, "checksum"},
		{"a damaged field", changed(11, 1), nil, "checksum"},
		{"a damaged checksum", changed(15, whole[15]^1), nil, "checksum"},
	} {
		_, err := layout.Open("c", "header", c.data)
		typed, ok := errors.AsType[*corrupt.Error](err)
		must.Hold(t, ok && typed.File == "c" && typed.Part == "header" && strings.Contains(err.Error(), c.text), "%s: %v", c.what, err)
		for _, cause := range causes {
			should.Hold(t, errors.Is(err, cause) == (cause == c.cause), "%s: %v", c.what, err)
		}
	}
	for _, version := range []int{2, 3} {
		v, err := layout.Open("c", "header", append(header(version), 0, 1))
		should.Hold(t, v == version && err == nil, "version %d: %d, %v", version, v, err)
	}
}

func TestHead(t *testing.T) {
	for _, h := range []sealed.Head{
		{}, {Kind: "a"}, {Kind: "A", Version: 1}, {Kind: "a_b", Version: 1}, {Kind: "a", Version: -1},
		{Kind: strings.Repeat("a", sealed.MaxKind+1), Version: 1}, {Kind: "a", Version: 1 << 32},
		{Kind: "a", Version: 1, Identity: make([]byte, sealed.MaxIdentity+1)},
	} {
		should.Be(t, h.Validate(), sealed.ErrHead, "%+v", h)
	}
	h := sealed.Head{Kind: strings.Repeat("z", sealed.MaxKind), Version: 1<<32 - 1, Identity: make([]byte, sealed.MaxIdentity)}
	must.OK(t, errors.Join(h.Validate(), h.Expect("c", h)))
	b := bytes.Repeat([]byte{0xee}, sealed.MaxKind+1)
	sealed.PutKind(b, "tiles")
	should.Hold(t, sealed.KindOf(b) == "tiles" && b[sealed.MaxKind] == 0xee, "% x", b)
	sealed.PutKind(b, h.Kind)
	should.Hold(t, sealed.KindOf(b) == h.Kind && b[sealed.MaxKind] == 0xee, "% x", b)
}
