package jsonfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"grenier/io/corrupt"
	"grenier/kernels/crc32c"
)

// A sealed document ends with the field crc32c, the checksum of everything before it, and there
// is one way of writing it. So each changed byte is noticed.
const (
	begin   = "{\n  \"format\": %q,\n"
	trailer = "  \"crc32c\": \"%08x\"" + end
	end     = "\n}\n"
)

// EncodeSealed is Encode for a sealed document.
func EncodeSealed(doc any) ([]byte, error) {
	data, err := Encode(doc)
	if err != nil {
		return nil, err
	}
	body := append(bytes.TrimSuffix(data, []byte(end)), ",\n"...)
	return fmt.Appendf(body, trailer, crc32c.Of(body)), nil
}

// Unseal returns the encoded document that was sealed. It fails if a byte was changed.
func Unseal(data []byte) ([]byte, error) {
	body := data[:max(0, len(data)-len(fmt.Sprintf(trailer, 0)))]
	sum := crc32c.Of(body)
	if !bytes.HasSuffix(data, fmt.Appendf(nil, trailer, sum)) {
		return nil, fmt.Errorf("it was changed: the checksum is not %08x, or the end is missing", sum)
	}
	return append(slices.Clip(bytes.TrimSuffix(body, []byte(",\n"))), end...), nil
}

// ParseSealed is Parse for a sealed document of any length, in which no byte was changed. What does not begin like one
// matches corrupt.ErrForeign.
func ParseSealed(path string, data []byte, want Header, doc any) error {
	version, err := SealedVersion(data, want.Format)
	if err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	if version != want.Version {
		return corrupt.New(path, "", "%w %d: this program reads version %d", corrupt.ErrVersion, version, want.Version)
	}
	body, err := Unseal(data)
	if err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	return parse(path, body, want, doc)
}

// SealedVersion returns the version of a document of a format, and reads nothing else: all else may differ in
// another version. It fails with corrupt.ErrForeign if the format is another.
func SealedVersion(data []byte, format string) (version int, err error) {
	head := fmt.Appendf(nil, begin, format)
	n := min(len(data), len(head))
	if !bytes.Equal(data[:n], head[:n]) {
		return 0, fmt.Errorf("%w: it does not begin like a file of %s", corrupt.ErrForeign, format)
	}
	if _, err := fmt.Sscanf(string(data[n:min(len(data), n+40)]), `  "version": %d`, &version); err != nil {
		return 0, errors.New("it ends, or is damaged, before the format version")
	}
	return version, nil
}
