package manifest

import (
	"bytes"
	"fmt"

	"grenier/io/corrupt"
	"grenier/io/jsonfile"
	"grenier/io/vfs"
)

// MaxBytes is the largest size of a manifest file; it has room for MaxLayers
// layers.
const MaxBytes = 16 << 20

const format = "grenier-manifest"

// document is the JSON form, which is sealed.
type document struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Identity
	Layers []Layer `json:"layers"`
}

// Encode returns the contents of a manifest file; equal manifests give equal
// bytes. It fails with ErrInvalid.
func (m *Manifest) Encode() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	doc := document{Format: format, Version: m.version(), Identity: m.Identity, Layers: m.Layers}
	if doc.Layers == nil {
		doc.Layers = []Layer{}
	}
	data, err := jsonfile.EncodeSealed(&doc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return data, nil
}

// Save makes the manifest the file of that name in a directory, replacing an older
// one: a crash leaves the old file or the new one. It fails with ErrInvalid, leaving
// the file as it is, or like vfs.Write.
func (m *Manifest) Save(d vfs.Dir, name string) error {
	data, err := m.Encode()
	if err != nil {
		return fmt.Errorf("saving %s: %w", d.Path(name), err)
	}
	if len(data) > MaxBytes {
		return fmt.Errorf("saving %s: %w: %d bytes", d.Path(name), ErrInvalid, len(data))
	}
	return vfs.Write(d, name, data)
}

// Load reads the file at path. It fails with an error that matches corrupt.ErrCorrupt
// when there is something other than a manifest, or with an error of the operating
// system.
func Load(path string) (*Manifest, error) {
	data, err := vfs.ReadFile(path, MaxBytes)
	if err != nil {
		return nil, corrupt.Opened(path, err)
	}
	return Parse(path, data)
}

// Parse decodes the contents of the file called path: its format, its version,
// its checksum, then the rest. All errors match corrupt.ErrCorrupt.
func Parse(path string, data []byte) (*Manifest, error) {
	fail := func(format string, args ...any) (*Manifest, error) {
		return nil, corrupt.New(path, "", format, args...)
	}
	if len(data) > MaxBytes {
		return fail("more than %d bytes", MaxBytes)
	}
	version, err := jsonfile.SealedVersion(data, format)
	if err == nil && (version < 1 || version > Version) {
		err = fmt.Errorf("%w %d: this program reads versions 1 to %d", corrupt.ErrVersion, version, Version)
	}
	if err != nil {
		return fail("%w", err)
	}
	body, err := jsonfile.Unseal(data)
	if err != nil {
		return fail("%w", err)
	}
	var doc document
	if err := jsonfile.Decode(body, &doc); err != nil {
		return fail("%w", err)
	}
	m := &Manifest{Identity: doc.Identity, Layers: doc.Layers}
	again, err := m.Encode()
	if err != nil {
		return fail("%w", err)
	}
	if !bytes.Equal(again, data) {
		return fail("not in the form in which this program writes it")
	}
	return m, nil
}
