// Package sealed reads and writes the common frame of the binary files of the program: they begin
// with a magic number, then say in which version they are, what they hold and for whom, and seal
// that with a CRC-32C. A reader checks magic, length, version and checksum, in this order: so a
// foreign file, or one of a newer program, is not taken for a damaged one.
//
//	Layout  where the headers of one sort of files have these fields
//	Head    describes contents: kind, version, and identity, which says whose
//	Seal    makes a document of contents in memory (a checkpoint, say); Unseal opens it
//
// Layer files, pattern databases, spill streams and documents differ in the other fields of their
// headers. Documents and spill streams have a Head. Numbers are little endian. The pages in
// docs/format give the bytes, docs/format/work-file.md the bytes of documents.
package sealed

import (
	"encoding/binary"

	"grenier/io/corrupt"
	"grenier/kernels/crc32c"
)

var little = binary.LittleEndian

// sumSize is the length of the checksum that ends sealed bytes.
const sumSize = 4

// Layout is the common part of all headers of one sort of files. They begin with the magic
// number and end with their checksum.
type Layout struct {
	Name    string // of such a file, in errors: "a layer file"
	Magic   string
	Version int // offset of the version, 4 bytes
	Size    int // bytes of the header, its checksum included; the least if they vary
	// Oldest and Newest are the versions that the program reads.
	Oldest, Newest int
}

// Start returns a header of a version, but for other fields and the checksum, which End appends.
func (l *Layout) Start(version int) []byte {
	b := make([]byte, l.Size-sumSize, l.Size)
	copy(b, l.Magic)
	little.PutUint32(b[l.Version:], uint32(version))
	return b
}

// End appends the checksum of b.
func End(b []byte) []byte { return little.AppendUint32(b, crc32c.Of(b)) }

// Begin checks magic, length and version of b, the beginning of the file at path, and returns the
// version. It fails with an error that matches corrupt.ErrForeign if b does not begin with the
// magic number, corrupt.ErrVersion if the program does not read the version, and
// corrupt.ErrCorrupt, as in those cases, if b is shorter than a header. Part names the header in
// errors.
func (l *Layout) Begin(path, part string, b []byte) (version int, err error) {
	n := min(len(b), len(l.Magic))
	if string(b[:n]) != l.Magic[:n] {
		return 0, corrupt.New(path, part, "%w: it does not begin like %s", corrupt.ErrForeign, l.Name)
	}
	if len(b) < l.Size {
		return 0, corrupt.New(path, part, "truncated: %d bytes are less than a header", len(b))
	}
	v := int64(little.Uint32(b[l.Version:]))
	if v < int64(l.Oldest) || v > int64(l.Newest) {
		return 0, corrupt.New(path, part, "%w %d: this program reads versions %d to %d", corrupt.ErrVersion, v, l.Oldest, l.Newest)
	}
	return int(v), nil
}

// Open is Begin and then Check for a header of l.Size bytes.
func (l *Layout) Open(path, part string, b []byte) (version int, err error) {
	if version, err = l.Begin(path, part, b); err != nil {
		return 0, err
	}
	return version, Check(path, part, b[:l.Size])
}

// Check fails with an error that matches corrupt.ErrCorrupt unless b ends with the checksum of the
// bytes before.
func Check(path, part string, b []byte) error {
	end := len(b) - sumSize
	if sum, want := crc32c.Of(b[:end]), little.Uint32(b[end:]); sum != want {
		return corrupt.New(path, part, "checksum %08x instead of %08x", sum, want)
	}
	return nil
}
