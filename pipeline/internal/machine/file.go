package machine

import (
	"grenier/io/corrupt"
	"grenier/io/jsonfile"
)

// Load reads the calibration file at path into doc, which points to a document with the given
// header. Check then judges its figures. It fails with an error of the operating system or as Parse
// does.
func Load(path string, header jsonfile.Header, doc any, check func() error) error {
	data, err := jsonfile.Read(path)
	if err != nil {
		return err
	}
	return Parse(path, data, header, doc, check)
}

// Parse is Load for the contents of the file called path. It fails as jsonfile.Parse does, and with
// an error that matches corrupt.ErrCorrupt if check fails.
func Parse(path string, data []byte, header jsonfile.Header, doc any, check func() error) error {
	if err := jsonfile.Parse(path, data, header, doc); err != nil {
		return err
	}
	if err := check(); err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	return nil
}
