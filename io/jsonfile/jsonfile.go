// Package jsonfile keeps small documents as JSON files that people may read and edit.
// Each begins with its format and version, so that a foreign file, or one of a newer
// program, is not taken for a damaged one. Documents that only programs write are sealed (seal.go):
// any changed byte is noticed.
package jsonfile

import (
	"bytes"
	"encoding/json"

	"grenier/io/corrupt"
	"grenier/io/vfs"
)

// MaxBytes is the largest size of a file that Parse takes.
const MaxBytes = 64 << 10

// Header is what a document begins with. Documents embed it.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// Encode returns the contents of the file of a document. It fails if a number in it is
// infinite or NaN.
func Encode(doc any) ([]byte, error) {
	data, err := json.MarshalIndent(doc, "", "  ")
	return append(data, '\n'), err
}

// Read returns what is in the file at path, for Parse: of a file that is larger than
// MaxBytes only the beginning. It fails like vfs.ReadFile.
func Read(path string) ([]byte, error) { return vfs.ReadFile(path, MaxBytes) }

// Parse decodes data, the contents of the file called path, into doc, which points to a
// document with the header want. It fails with an error that matches corrupt.ErrCorrupt,
// and corrupt.ErrForeign if the format is another, or corrupt.ErrVersion if the version is.
func Parse(path string, data []byte, want Header, doc any) error {
	if len(data) > MaxBytes {
		return corrupt.New(path, "", "more than %d bytes", MaxBytes)
	}
	return parse(path, data, want, doc)
}

// parse is Parse for data of any length.
func parse(path string, data []byte, want Header, doc any) error {
	if err := want.Match(path, data); err != nil {
		return err
	}
	if err := Decode(data, doc); err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	return nil
}

// Decode decodes JSON into doc, which must have a field for each of those in it.
func Decode(data []byte, doc any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(doc)
}

// Match fails as Parse does unless data begins a document with the header want, whatever else
// is in it.
func (want Header) Match(path string, data []byte) error {
	var head Header
	if err := json.Unmarshal(data, &head); err != nil {
		return corrupt.New(path, "", "not the JSON of %s: %w", want.Format, err)
	}
	if head.Format != want.Format {
		return corrupt.New(path, "", "%w: its format is %q, not %q", corrupt.ErrForeign, head.Format, want.Format)
	}
	if head.Version != want.Version {
		return corrupt.New(path, "", "%w %d: this program reads version %d", corrupt.ErrVersion, head.Version, want.Version)
	}
	return nil
}
