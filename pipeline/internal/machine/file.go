package machine

import (
	"grenier/io/corrupt"
	"grenier/io/jsonfile"
)

// Parse decodes data, the contents of the calibration file called path, into doc, which points to
// a document with the given header. Check then judges its figures. It fails as jsonfile.Parse
// does, and with an error that matches corrupt.ErrCorrupt if check fails.
func Parse(path string, data []byte, header jsonfile.Header, doc any, check func() error) error {
	if err := jsonfile.Parse(path, data, header, doc); err != nil {
		return err
	}
	if err := check(); err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	return nil
}
