package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"grenier/io/corrupt"
)

// ErrHead reports a Head that no file can have.
var ErrHead = errors.New("impossible header")

// Limits of the fields of a Head.
const (
	MaxKind     = 16   // bytes of Kind
	MaxIdentity = 4096 // bytes of Identity
)

// Head describes the contents of a file, and says whose they are.
type Head struct {
	Kind     string // of the contents: 1 to MaxKind of a-z, 0-9 and "-"
	Version  int    // of the contents, 1 and up
	Identity []byte // must agree for them to be of use
}

// Validate fails with ErrHead if a field is out of its range.
func (h *Head) Validate() error {
	if len(h.Kind) < 1 || len(h.Kind) > MaxKind || strings.Trim(h.Kind, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%w: kind %q: must be 1 to %d of a-z, 0-9 and -", ErrHead, h.Kind, MaxKind)
	}
	if h.Version < 1 || int64(h.Version) > math.MaxUint32 || len(h.Identity) > MaxIdentity {
		return fmt.Errorf("%w: version %d: must be 1 or more; identity of %d bytes: must be at most %d",
			ErrHead, h.Version, len(h.Identity), MaxIdentity)
	}
	return nil
}

// Expect fails unless h, of the file at path, is the header wanted, for which Version is the newest
// that the caller reads: with an error that matches corrupt.ErrMismatch if kind or identity
// differ, corrupt.ErrVersion if it is newer.
func (h *Head) Expect(path string, want Head) error {
	switch {
	case h.Kind != want.Kind:
		return corrupt.New(path, "header", "%w: it holds %q instead of %q", corrupt.ErrMismatch, h.Kind, want.Kind)
	case h.Version > want.Version:
		return corrupt.New(path, "header", "%w %d: this program reads versions up to %d", corrupt.ErrVersion, h.Version, want.Version)
	case !bytes.Equal(h.Identity, want.Identity):
		return corrupt.New(path, "header", "%w: it is of %q instead of %q", corrupt.ErrMismatch, h.Identity, want.Identity)
	}
	return nil
}

// PutKind writes a kind to the first MaxKind bytes of b, and KindOf returns it.
func PutKind(b []byte, kind string) { clear(b[copy(b[:MaxKind], kind):MaxKind]) }

// KindOf returns the kind in the first MaxKind bytes of b.
func KindOf(b []byte) string { return strings.TrimRight(string(b[:MaxKind]), "\x00") }
