// Package listed makes many files in a way that resumes: a list says which of them are finished, of which
// layer each was made, and its size and checksum.
//
//	l, err := listed.Open(dir, "export-npy.json", listed.Options{...})
//	l.Dir = dir
//	want := listed.File{File: "layer-07.npy", Seeds: 7, Source: listed.Scores(&m.Layers[7])}
//	kept, err := l.Keeps(ctx, &want, progress)      finished, and as it was written
//	err = l.Write(&want, func(w io.Writer) error {...})
//	err = l.Add(want)                               finished
//
// A file counts as finished if its entry names the layer that there is now and if the bytes on the disk have the
// length and the SHA-256 of the entry; all others are written again. The list is sealed (package
// jsonfile) and replaced after each file. One that was changed by hand or by a fault, or that an
// older program wrote, is not believed: all files are written again, and the user is told why.
// docs/format/site.md and docs/format/export.md describe the form.
package listed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"grenier/io/jsonfile"
	"grenier/io/manifest"
	"grenier/io/tally"
	"grenier/io/vfs"
)

// File is a file in a list.
type File struct {
	File   string `json:"file"` // its name
	Seeds  int    `json:"seeds"`
	Source string `json:"source"` // the layer that it was made of, see Source
	Bytes  uint64 `json:"bytes"`
	SHA256 string `json:"sha256"` // of all bytes, in hexadecimal digits
}

// Scores names a layer by its scores: for files that hold nothing else of it.
func Scores(l *manifest.Layer) string { return l.Hash.String() }

// Source names what a layer file holds, and the file itself.
func Source(contents tally.Hash, file manifest.Checksum) string {
	return contents.String() + "-" + file.String()
}

// document is the form of a list on disk.
type document struct {
	jsonfile.Header
	manifest.Identity
	Files []File `json:"files"` // in the order in which they were first written
}

// Options describe the files of a list.
type Options struct {
	Header   jsonfile.Header
	Identity manifest.Identity // of the layers
	Other    error             // that Open fails with if the list is of others
	Tell     func(string)      // if not nil, gets messages for the user
}

// List is a list of files.
type List struct {
	Dir     vfs.Dir // where the files are; to be set before any is looked at
	in      vfs.Dir // where the list is
	name    string
	options Options
	doc     document
}

// Open reads the list of that name in a directory, which stays open as long as the list is used, or begins it. It
// fails with Options.Other if it is of another game; with an error that matches corrupt.ErrCorrupt if it is no such
// list or a newer program wrote it; or like package vfs.
func Open(in vfs.Dir, name string, o Options) (*List, error) {
	l := &List{in: in, name: name, options: o}
	l.doc = document{Header: o.Header, Identity: o.Identity, Files: []File{}}
	data, err := vfs.Read(in, name, jsonfile.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return l, l.save()
	}
	if err == nil {
		err = l.load(data)
	}
	return l, err
}

// load takes in the list on disk. One that is not believed stays until a file is finished.
func (l *List) load(data []byte) error {
	var there document
	path := l.in.Path(l.name)
	err := jsonfile.ParseSealed(path, data, l.options.Header, &there)
	if err != nil {
		version, unknown := jsonfile.SealedVersion(data, l.options.Header.Format)
		if unknown != nil || version > l.options.Header.Version {
			return err
		}
	}
	var of manifest.Identity // also of a list that is not believed: nothing of another game is replaced
	if json.Unmarshal(data, &of) == nil && of != l.options.Identity {
		return fmt.Errorf("%s: %w: it is of %v, the run is of %v", path, l.options.Other, of, l.options.Identity)
	}
	if err != nil {
		l.tell("all files are written again: %v", err)
		return nil
	}
	l.doc.Files = there.Files
	return nil
}

// Lists reports whether a file is listed as made of the layer that f names.
func (l *List) Lists(f File) bool {
	at := l.find(f.File)
	return at >= 0 && sameSource(l.doc.Files[at], f)
}

// find returns where a file is in the list, or -1.
func (l *List) find(name string) int {
	return slices.IndexFunc(l.doc.Files, func(g File) bool { return g.File == name })
}

func sameSource(f, g File) bool { return f.Seeds == g.Seeds && f.Source == g.Source }

// Keeps reports whether the file that f names is finished, and then completes f. It reads the file,
// and tells progress how many of its bytes. It fails with an error of the operating system or of ctx.
func (l *List) Keeps(ctx context.Context, f *File, progress func(read, bytes uint64)) (bool, error) {
	at := l.find(f.File)
	if at < 0 {
		return false, nil
	}
	known := l.doc.Files[at]
	if !sameSource(known, *f) {
		l.tell("%s is written again: layer %d is another one than the one that it was made of", f.File, f.Seeds)
		return false, nil
	}
	sum, err := l.sum(ctx, known, progress)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case sum != known.SHA256:
		l.tell("%s is written again: it was changed", f.File)
		return false, nil
	}
	*f = known
	return true, nil
}

// sum returns the SHA-256 of a file, "" if it has another length than is known.
func (l *List) sum(ctx context.Context, known File, progress func(read, bytes uint64)) (string, error) {
	file, err := vfs.OpenFile(l.Dir.Path(known.File))
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || uint64(info.Size()) != known.Bytes {
		return "", err
	}
	hash := sha256.New()
	err = Pass(ctx, hash, file, func(read uint64) { progress(read, known.Bytes) })
	return text(hash.Sum(nil)), err
}

// tell tells the user something.
func (l *List) tell(format string, args ...any) {
	if l.options.Tell != nil {
		l.options.Tell(fmt.Sprintf(format, args...))
	}
}

// Write makes the file that f names, with the bytes that fill writes, in the place of one of that name, and completes
// f. When it returns nil, the file is on disk. It fails like fill or package vfs, and leaves an older file then.
func (l *List) Write(f *File, fill func(w io.Writer) error) error {
	file, err := vfs.BeginIn(l.Dir, f.File)
	if err != nil {
		return err
	}
	defer file.Abort()
	hash := sha256.New()
	if err := fill(io.MultiWriter(file, hash)); err != nil {
		return err
	}
	size, err := file.Size()
	if err != nil {
		return err
	}
	f.Bytes, f.SHA256 = uint64(size), text(hash.Sum(nil))
	return file.Publish()
}

func text(sum []byte) string { return hex.EncodeToString(sum) }

// Add lists a file as finished, in the place of one of that name. It fails with errors of package vfs.
func (l *List) Add(f File) error {
	at := l.find(f.File)
	if at < 0 {
		at = len(l.doc.Files)
		l.doc.Files = append(l.doc.Files, f)
	}
	l.doc.Files[at] = f
	return l.save()
}

func (l *List) save() error {
	data, err := jsonfile.EncodeSealed(l.doc)
	if err != nil {
		return err
	}
	return vfs.Write(l.in, l.name, data)
}

// piece is how many bytes Pass passes on at a time.
const piece = 1 << 20

// Pass passes bytes on until the end, and tells progress how many. It fails like from and to, or
// with the error of ctx.
func Pass(ctx context.Context, to io.Writer, from io.Reader, progress func(bytes uint64)) error {
	buf := make([]byte, piece)
	for done := uint64(0); ; {
		n, err := from.Read(buf)
		if _, failed := to.Write(buf[:n]); failed != nil {
			return failed
		}
		done += uint64(n)
		progress(done)
		if err == io.EOF {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
}
