package layerfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"grenier/io/corrupt"
	"grenier/io/vfs"
	"grenier/kernels/crc32c"
	"grenier/kernels/ranks"
)

// File is an open layer file. It is safe for concurrent use; each goroutine
// needs a Decoder of its own.
type File struct {
	path   string
	source source
	info   os.FileInfo // of the file as it was opened, nil if it is far away
	header Header
	footer Footer

	most       int    // the largest amount of a score that is believed
	wholeIndex int64  // a longer index is not read as a whole
	pages      *pages // of such an index; nil if all of it was checked

	// decoding returns the model made ready; it is made on first use.
	decoding func() *ranks.Decoding
}

// Open opens the file at path and checks everything but the blocks. It fails
// with an error that matches corrupt.ErrCorrupt when the contents are not those
// of a complete layer file, or with an error of the operating system.
func Open(path string) (*File, error) { return openWith(path, openMapping) }

// OpenSparing is Open for files that together are larger than memory: it leaves
// little of what is read in memory, neither in that of the process nor, on Linux, in
// the page cache. A block that is read again comes from the disk again. It fails as
// Open does.
func OpenSparing(path string) (*File, error) { return openWith(path, openSparing) }

func openWith(path string, from opener) (*File, error) {
	f, problems, err := open(path, from)
	if err != nil {
		return nil, err
	}
	return f.usable(problems)
}

// usable returns f, or the first problem after closing f.
func (f *File) usable(problems []error) (*File, error) {
	if len(problems) > 0 {
		return nil, errors.Join(problems[0], f.source.close())
	}
	return f, nil
}

// Peek is OpenSparing without the index, which is read and checked when blocks are read:
// for a look at the ends of many files. It fails as Open does.
func Peek(path string) (*File, error) {
	f, problems, err := openBy(path, openSparing, 0)
	if err != nil {
		return nil, err
	}
	return f.usable(problems)
}

// open opens the file and lists what is wrong with header, footer and index.
func open(path string, from opener) (*File, []error, error) { return openBy(path, from, math.MaxInt64) }

// openBy is open for a file whose index is read in parts if it has more than wholeIndex
// bytes.
func openBy(path string, from opener, wholeIndex int64) (*File, []error, error) {
	file, err := vfs.OpenFile(path)
	if err != nil {
		return nil, nil, corrupt.Opened(path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	s, err := from(file, info.Size())
	if err != nil {
		return nil, nil, err
	}
	f := newFile(path, s)
	f.info, f.wholeIndex = info, wholeIndex
	return f, f.load(context.Background(), s.length()), nil
}

func newFile(path string, s source) *File {
	f := &File{path: path, source: s, most: -math.MinInt8, wholeIndex: math.MaxInt64}
	f.decoding = sync.OnceValue(func() *ranks.Decoding { return ranks.NewDecoding(f.header.Model) })
	return f
}

// load reads header, layers below, model, footer and index. The footer can be read without the
// others, the index only with all of them.
func (f *File) load(ctx context.Context, length int64) []error {
	head := make([]byte, min(length, headerSize))
	if err := f.source.read(ctx, head, 0); err != nil {
		return []error{f.bad("header", err)}
	}
	var headerErr, footerErr error
	f.header, headerErr = parseHeader(f.path, head)
	if errors.Is(headerErr, corrupt.ErrForeign) || errors.Is(headerErr, corrupt.ErrVersion) {
		return []error{headerErr} // nothing is known about the rest
	}
	if headerErr == nil {
		headerErr = f.loadTail(ctx, head)
	}
	if length < headerSize+footerSize {
		footerErr = corrupt.New(f.path, "footer", "truncated: a file of %d bytes has none", length)
	} else {
		footerErr = f.loadFooter(ctx, length, headerErr == nil)
	}
	if headerErr == nil && footerErr == nil {
		return compact(f.loadIndex(ctx))
	}
	return compact(headerErr, footerErr)
}

// indexLength returns the length of the index in bytes.
func (f *File) indexLength() int64 { return int64(f.NumBlocks()) * indexEntrySize }

// loadIndex checks the index, or makes ready to read parts of it.
func (f *File) loadIndex(ctx context.Context) error {
	if f.indexLength() > f.wholeIndex {
		f.pages = newPages(f)
		return nil
	}
	return f.checkIndex(ctx)
}

// loadTail reads what the header with the given bytes announces: the layers below and the model.
func (f *File) loadTail(ctx context.Context, head []byte) error {
	le := binary.LittleEndian
	length, want := le.Uint32(head[hModelLen:]), le.Uint32(head[hModelCRC:])
	below := belowSize * int64(le.Uint16(head[hBelow:]))
	if below+int64(length) > f.source.length()-headerSize {
		return corrupt.New(f.path, "model", "truncated: it should have %d bytes", length)
	}
	if length > maxModel {
		return corrupt.New(f.path, "model", "%d bytes long: expected at most %d", length, maxModel)
	}
	tail := make([]byte, below+int64(length))
	if err := f.source.read(ctx, tail, headerSize); err != nil {
		return f.bad("model", err)
	}
	if sum := crc32c.Of(tail); sum != want {
		return corrupt.New(f.path, "model", "checksum %08x instead of %08x", sum, want)
	}
	f.header.Below, f.header.Model = Below(tail[:below]), ranks.Model(tail[below:])
	if err := f.header.Validate(); err != nil {
		return corrupt.New(f.path, "model", "%w", err)
	}
	return nil
}

// loadFooter reads the footer and, if there is a header, compares them.
func (f *File) loadFooter(ctx context.Context, length int64, header bool) error {
	tail := make([]byte, footerSize)
	err := f.announceEnd(ctx, header)
	if err == nil {
		err = f.source.read(ctx, tail, length-footerSize)
	}
	if err != nil {
		return f.bad("footer", err)
	}
	f.footer, err = parseFooter(f.path, tail, length)
	if err == nil && header {
		err = checkFooter(f.path, tail, &f.footer, &f.header)
	}
	return err
}

// announceEnd announces to the source that the footer is going to be read, and the
// index, if its length is known and all of it is needed.
func (f *File) announceEnd(ctx context.Context, header bool) error {
	if header && f.indexLength() <= f.wholeIndex {
		return f.source.announceEnd(ctx, footerSize+f.indexLength())
	}
	return f.source.announceEnd(ctx, footerSize)
}

// checkIndex reads the index: its blocks must follow each other without gaps
// from the header to the index.
func (f *File) checkIndex(ctx context.Context) error {
	next, end := uint64(f.header.start()), uint64(f.footer.indexOffset)
	blocks := f.header.Blocks()
	crc, bad, err := readIndex(ctx, f.source, f.footer.indexOffset, blocks, func(i int, e entry) error {
		begin := next
		next = e.offset + uint64(e.length)
		return f.checkEntry(i, e, begin)
	})
	switch {
	case err != nil:
		return f.bad("index", err)
	case bad != nil:
		return f.bad("index", bad)
	case crc != f.footer.indexCRC:
		return corrupt.New(f.path, "index", "checksum %08x instead of %08x", crc, f.footer.indexCRC)
	case next != end:
		return corrupt.New(f.path, "index", "the last block ends at %d instead of %d", next, end)
	}
	return nil
}

// checkEntry reports whether e can be the entry of block i, which begins at the
// given offset.
func (f *File) checkEntry(i int, e entry, begin uint64) error {
	if e.offset != begin {
		return fmt.Errorf("block %d begins at %d instead of %d", i, e.offset, begin)
	}
	if err := e.check(f.header.BlockLen(i), uint64(f.header.start()), uint64(f.footer.indexOffset)); err != nil {
		return fmt.Errorf("block %d: %w", i, err)
	}
	return nil
}

// bad turns an error from the source, or about contents, into a corruption
// error; a closed file is none, nor one that could not be asked.
func (f *File) bad(part string, err error) error {
	if u, ok := errors.AsType[unread](err); ok {
		return fmt.Errorf("%s: %s: %w", f.path, part, u.error)
	}
	if errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("%s: %s: %w", f.path, part, err)
	}
	return &corrupt.Error{File: f.path, Part: part, Cause: err}
}

// compact returns the errors that are not nil.
func compact(errs ...error) []error {
	var out []error
	for _, err := range errs {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// Path returns the path given to Open.
func (f *File) Path() string { return f.path }

// Info returns what the operating system said of the file when it was opened, nil after
// OpenReader.
func (f *File) Info() os.FileInfo { return f.info }

// Header returns what the file holds.
func (f *File) Header() Header { return f.header }

// Bound says that no score is larger than most or smaller than -most, as the rules of the
// game have it: a block with another score fails to decode, whatever its checksums say. It
// is to be called before the first decoder is made.
func (f *File) Bound(most int) { f.most = most }

// bounded reports whether the scores of a block are in bounds whatever the block holds: a
// model gives no scores beyond its range.
func (f *File) bounded(raw bool) bool {
	if f.most >= -math.MinInt8 {
		return true
	}
	if raw {
		return false
	}
	low, high := f.header.Model.Range()
	return int(low) >= -f.most && int(high) <= f.most
}

// Footer returns the sums over the file.
func (f *File) Footer() Footer { return f.footer }

// NumBlocks returns the number of blocks.
func (f *File) NumBlocks() int { return f.header.Blocks() }

// Expect fails with an error that matches corrupt.ErrMismatch, and names both
// values, unless game, rules, pits, seeds and number of positions of the file
// are those of want. The other fields of want are ignored.
func (f *File) Expect(want Header) error {
	if err := f.header.mismatch(want); err != nil {
		return &corrupt.Error{File: f.path, Part: "header", Cause: err}
	}
	return nil
}

// Close closes the file. Reads in progress finish; afterwards decoders, and a
// second Close, fail with os.ErrClosed.
func (f *File) Close() error { return f.source.close() }
