package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name       string // with slashes
	data       []byte
	executable bool
}

// mode returns the permissions of the file, whatever they are in the work tree.
func (e *entry) mode() fs.FileMode {
	if e.executable {
		return 0o755
	}
	return 0o644
}

// suffix returns the suffix of the archive for t.
func (t target) suffix() string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// pack returns the archive for t with the files in a directory dir. The same files and time
// give the same bytes.
func (t target) pack(dir string, files []entry, at time.Time) ([]byte, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	var b bytes.Buffer
	write := writeTar
	if t.os == "windows" {
		write = writeZip
	}
	err := write(&b, dir+"/", files, at)
	return b.Bytes(), err
}

func writeTar(w io.Writer, prefix string, files []entry, at time.Time) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, e := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: prefix + e.name, Size: int64(len(e.data)), Mode: int64(e.mode()), ModTime: at,
			Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		if _, err := archive.Write(e.data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func writeZip(w io.Writer, prefix string, files []entry, at time.Time) error {
	archive := zip.NewWriter(w)
	for _, e := range files {
		h := &zip.FileHeader{Name: prefix + e.name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(e.mode())
		f, err := archive.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return archive.Close()
}
