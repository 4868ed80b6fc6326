package sealed

import (
	"fmt"

	"grenier/io/corrupt"
	"grenier/io/vfs"
)

// The layout of documents: the magic number and the kind, the version, four bytes that are not
// used, the length of the contents, the contents, the checksum of all.
const (
	magic    = "\x89GW\r\n\x1a\n\x00"
	dVersion = len(magic) + MaxKind
	dUnused  = dVersion + 4
	dLength  = dUnused + 4
	headSize = dLength + 8 // bytes before the contents
	excess   = headSize + sumSize
)

// document returns the layout of documents of a kind, which counts as a part of their magic number.
func document(kind string, newest int) Layout {
	begin := make([]byte, dVersion)
	PutKind(begin[copy(begin, magic):], kind)
	return Layout{Name: fmt.Sprintf("a document of kind %q", kind), Magic: string(begin), Version: dVersion, Size: excess, Oldest: 1, Newest: newest}
}

// Seal returns a document that holds contents, by which Unseal checks kind, version and
// completeness. It panics unless a Head can have the kind and the version.
func Seal(kind string, version int, contents []byte) []byte {
	h := Head{Kind: kind, Version: version}
	if err := h.Validate(); err != nil {
		panic(err)
	}
	l := document(kind, version)
	b := append(make([]byte, 0, len(contents)+excess), l.Start(version)...)
	little.PutUint64(b[dLength:], uint64(len(contents)))
	return End(append(b, contents...))
}

// maxSealed bounds the bytes that Read takes into memory, more than any checkpoint has.
const maxSealed = 1 << 30

// Read returns the bytes of the file of a document, for Unseal: at most one byte more than the
// length in its header, which Unseal then refuses. It fails with fs.ErrNotExist.
func Read(d vfs.Dir, name string) ([]byte, error) {
	head, err := vfs.Read(d, name, int64(headSize)-1)
	if err != nil || len(head) < headSize || string(head[:len(magic)]) != magic {
		return head, err
	}
	length := min(little.Uint64(head[dLength:]), maxSealed)
	return vfs.Read(d, name, int64(length)+int64(excess))
}

// Unseal returns the version and the contents of a document, data, which is in the file at path.
// Newest is the newest version that the caller reads. It fails as Layout.Begin does, and with an
// error that matches corrupt.ErrCorrupt if data is damaged. The contents are a part of data.
func Unseal(path, kind string, newest int, data []byte) (version int, contents []byte, err error) {
	l := document(kind, newest)
	if version, err = l.Begin(path, "", data); err != nil {
		return 0, nil, err
	}
	if length := little.Uint64(data[dLength:]); length != uint64(len(data)-excess) {
		return 0, nil, corrupt.New(path, "", "%d bytes of contents instead of %d", len(data)-excess, length)
	}
	if err := Check(path, "", data); err != nil {
		return 0, nil, err
	}
	if little.Uint32(data[dUnused:]) != 0 {
		return 0, nil, corrupt.New(path, "", "unused bytes that are not 0")
	}
	end := len(data) - sumSize
	return version, data[headSize:end:end], nil
}
