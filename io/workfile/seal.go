package workfile

import (
	"encoding/binary"
	"fmt"
	"math"

	"grenier/io/corrupt"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
)

// MaxKind is the largest number of bytes in the kind of a sealed document.
const MaxKind = 16

const (
	sealMagic  = "\x89GW\r\n\x1a\n\x00"
	headSize   = 40 // bytes before the payload
	sealExcess = headSize + 4
)

// Offsets of the fields of a sealed document.
const (
	sKind    = 8
	sVersion = 24
	sZero    = 28
	sLength  = 32
)

// Seal returns a document that holds payload in a frame, by which Unseal checks
// kind, version and completeness. It panics unless kind has 1 to MaxKind bytes
// of a-z, 0-9 and "-", and version is at least 1.
func Seal(kind string, version int, payload []byte) []byte {
	if !validKind(kind) || version < 1 || int64(version) > math.MaxUint32 {
		panic(fmt.Sprintf("workfile: a document of kind %q, version %d, cannot be sealed", kind, version))
	}
	b := make([]byte, headSize, len(payload)+sealExcess)
	copy(b, sealMagic)
	copy(b[sKind:], kind)
	binary.LittleEndian.PutUint32(b[sVersion:], uint32(version))
	binary.LittleEndian.PutUint64(b[sLength:], uint64(len(payload)))
	b = append(b, payload...)
	return binary.LittleEndian.AppendUint32(b, crc32c.Of(b))
}

func validKind(kind string) bool {
	for _, c := range []byte(kind) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(kind) >= 1 && len(kind) <= MaxKind
}

// maxSealed bounds what ReadSealed takes into memory, more than any checkpoint has.
const maxSealed = 1 << 30

// ReadSealed returns the contents of a file, for Unseal: at most one byte more than
// the length in its head, which Unseal then refuses. It fails with fs.ErrNotExist.
func ReadSealed(d vfs.Dir, name string) ([]byte, error) {
	head, err := vfs.Read(d, name, headSize-1)
	if err != nil || len(head) < headSize || string(head[:len(sealMagic)]) != sealMagic {
		return head, err
	}
	length := binary.LittleEndian.Uint64(head[sLength:])
	return vfs.Read(d, name, int64(min(length, maxSealed))+sealExcess)
}

// Unseal returns the version and the payload of the sealed document data, which
// is that of the file at path. Newest is the newest version that the caller
// reads. It fails with an error that matches corrupt.ErrForeign if data is no
// document of this kind, corrupt.ErrVersion if its version is newer, and
// corrupt.ErrCorrupt, as in those cases, if it is damaged. The payload is a part
// of data.
func Unseal(path, kind string, newest int, data []byte) (version int, payload []byte, err error) {
	fail := func(format string, args ...any) (int, []byte, error) {
		return 0, nil, corrupt.New(path, "", format, args...)
	}
	var field [MaxKind]byte
	copy(field[:], kind)
	begin := sealMagic + string(field[:])
	n := min(len(data), len(begin))
	if string(data[:n]) != begin[:n] {
		return fail("%w: it does not begin like a document of kind %q", corrupt.ErrForeign, kind)
	}
	if len(data) < sealExcess {
		return fail("truncated: %d bytes are less than a frame", len(data))
	}
	v := binary.LittleEndian.Uint32(data[sVersion:])
	if int64(v) > int64(newest) {
		return fail("%w %d: this program reads versions up to %d", corrupt.ErrVersion, v, newest)
	}
	length, body := binary.LittleEndian.Uint64(data[sLength:]), len(data)-4
	if length != uint64(len(data)-sealExcess) {
		return fail("%d bytes of contents instead of %d", len(data)-sealExcess, length)
	}
	sum, want := crc32c.Of(data[:body]), binary.LittleEndian.Uint32(data[body:])
	if sum != want {
		return fail("checksum %08x instead of %08x", sum, want)
	}
	if v == 0 || binary.LittleEndian.Uint32(data[sZero:]) != 0 {
		return fail("version 0, or unused bytes that are not 0")
	}
	return int(v), data[headSize:body:body], nil
}
