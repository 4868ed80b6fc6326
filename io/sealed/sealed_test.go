package sealed_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/sealed"
	"grenier/io/vfs"
)

var layout = sealed.Layout{Name: "a clock", Magic: "\x89GC\n", Version: 6, Size: 16, Oldest: 2, Newest: 3}

// header returns a header with a field of two bytes before the version and another behind.
func header(version int) []byte {
	b := layout.Start(version)
	b[4], b[10] = 1, 2
	return sealed.End(b)
}

// checkCause checks that a part of a file is corrupt for one reason and no other.
func checkCause(t *testing.T, what, part string, err, cause error) {
	t.Helper()
	typed, ok := errors.AsType[*corrupt.Error](err)
	must.Hold(t, ok && typed.File == "c" && (typed.Part == part || part == ""), "%s: %v", what, err)
	for _, c := range []error{corrupt.ErrForeign, corrupt.ErrVersion, corrupt.ErrMismatch} {
		should.Hold(t, errors.Is(err, c) == (c == cause), "%s: %v", what, err)
	}
}

// TestLayoutOpen: magic number, length, version and checksum are checked in this order.
func TestLayoutOpen(t *testing.T) {
	whole := header(3)
	should.Equal(t, string(whole[:12]), "\x89GC\n\x01\x00\x03\x00\x00\x00\x02\x00")
	should.Equal(t, len(whole), layout.Size, "bytes")
	changed := func(at int, to byte) string { return string(whole[:at]) + string([]byte{to}) + string(whole[at+1:]) }
	for data, c := range map[string]struct {
		cause error
		text  string
	}{
		"\x89GD":                 {corrupt.ErrForeign, "does not begin like a clock"},
		changed(2, 'D'):          {corrupt.ErrForeign, "does not begin like a clock"},
		"":                       {nil, "0 bytes are less than a header"},
		string(whole[:15]):       {nil, "15 bytes are less than a header"},
		changed(6, 4):            {corrupt.ErrVersion, "4: this program reads versions 2 to 3"},
		changed(9, 0xff):         {corrupt.ErrVersion, "4278190083: this program"},
		changed(6, 1):            {corrupt.ErrVersion, "1: this program reads versions 2 to 3"},
		changed(6, 2):            {nil, "checksum"},
		changed(11, 1):           {nil, "checksum"},
		changed(15, whole[15]^1): {nil, "checksum"},
	} {
		err := must.Err(layout.Open("c", "header", []byte(data)))
		should.Says(t, err, corrupt.ErrCorrupt, c.text)
		checkCause(t, c.text, "header", err, c.cause)
	}
	for _, version := range []int{2, 3} {
		should.Equal(t, must.Get(layout.Open("c", "header", append(header(version), 0, 1)))(t), version)
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
	for _, kind := range []string{"tiles", h.Kind} {
		sealed.PutKind(b, kind)
		should.Hold(t, sealed.KindOf(b) == kind && b[sealed.MaxKind] == 0xee, "% x", b)
	}
}

func TestSeal(t *testing.T) {
	data := sealed.Seal("tiles", 3, []byte("hello"))
	_, dump, _ := strings.Cut(string(must.Read(t, "../../docs/format/work-file.md")), "```dump\n")
	dump, _, _ = strings.Cut(dump, "```")
	var documented []byte
	for line := range strings.Lines(dump) {
		must.Equal(t, must.Get(strconv.Atoi(strings.TrimSpace(line[:4])))(t), len(documented), "%q is at", line)
		documented = append(documented, must.Get(hex.DecodeString(strings.ReplaceAll(line[6:6+47], " ", "")))(t)...)
	}
	should.List(t, data, documented)
	for _, newest := range []int{3, 4} {
		version, payload, err := sealed.Unseal("c", "tiles", newest, data)
		should.Hold(t, version == 3 && string(payload) == "hello" && err == nil, "%d, %q, %v", version, payload, err)
	}
	_, payload, err := sealed.Unseal("c", "a", 1, sealed.Seal("a", 1, nil))
	should.Hold(t, len(payload) == 0 && err == nil, "%q, %v", payload, err)
	for _, kind := range []string{"", "Tiles", "a b", "a_b", "a\x00", "12345678901234567"} {
		must.Panic(t, func() { sealed.Seal(kind, 1, nil) }, kind)
	}
	must.Panic(t, func() { sealed.Seal("tiles", 0, nil) }, "version 0")

	dir := crashfs.New().Dir("work")
	for _, longer := range []int{0, 1, 1 << 20} { // a file that is much longer than its document is not read whole
		f := must.Get(vfs.Renew(dir, "checkpoint"))(t)
		must.OK(t, errors.Join(must.Err(f.Write(data)), f.Truncate(int64(len(data)+longer))))
		got := must.Get(sealed.Read(dir, "checkpoint"))(t)
		should.Equal(t, len(got), len(data)+min(longer, 1), "%d bytes more: read", longer)
		_, _, err := sealed.Unseal("c", "tiles", 3, got)
		should.Hold(t, (err != nil) == (longer > 0), "%d bytes more: %v", longer, err)
	}
}

func TestUnsealFails(t *testing.T) {
	data := sealed.Seal("tiles", 3, []byte("hello"))
	fails := func(what, kind string, newest int, data []byte, cause error) {
		t.Helper()
		_, _, err := sealed.Unseal("c", kind, newest, data)
		checkCause(t, what, "", err, cause)
	}
	fails("another kind", "tile", 3, data, corrupt.ErrForeign)
	fails("a newer version", "tiles", 2, data, corrupt.ErrVersion)
	fails("another file", "tiles", 3, []byte("{}"), corrupt.ErrForeign)
	for n := range data {
		fails("cut off", "tiles", 3, data[:n], nil)
	}
	fails("longer", "tiles", 3, append(bytes.Clone(data), 0), nil)
	for i := range data {
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[i] ^= 1 << bit
			var cause error
			switch {
			case i < 24:
				cause = corrupt.ErrForeign
			case i < 28 && (i > 24 || changed[24] > 3):
				cause = corrupt.ErrVersion
			}
			fails("one bit", "tiles", 3, changed, cause)
		}
	}
}

// FuzzUnseal checks that what is accepted is what Seal writes.
func FuzzUnseal(f *testing.F) {
	f.Add(sealed.Seal("tiles", 1, nil))
	f.Add(sealed.Seal("tiles", 2, []byte("hello")))
	f.Add(sealed.Seal("tiles", 3, []byte("hello")))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, sealed.Seal("tiles", 2, data)} {
			version, payload, err := sealed.Unseal("c", "tiles", 2, data)
			must.Not(t, err != nil && !errors.Is(err, corrupt.ErrCorrupt), "%v", err)
			must.Not(t, err == nil && !bytes.Equal(sealed.Seal("tiles", version, payload), data), "% x is accepted", data)
		}
	})
}
