package layerfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/pagecache"
	"grenier/kernels/crc32c"
)

// Inspect opens the file at path like OpenSparing, but lists everything that is wrong
// with header, model, footer and index. If anything is, only Path, Header, Scrub and
// Close of the File may be used, and the header is empty if it cannot be read. An error
// is one of the operating system, or says that there is no file at path.
func Inspect(path string) (*File, []error, error) { return open(path, openSparing) }

// Known reports whether a header has been read.
func (h *Header) Known() bool { return h.Game != "" }

// Strange reports whether a file with these problems, from Inspect, does not even begin
// like a layer file that this program can read.
func Strange(problems []error) bool {
	return slices.ContainsFunc(problems, func(p error) bool {
		return errors.Is(p, corrupt.ErrForeign) || errors.Is(p, corrupt.ErrVersion)
	})
}

// Scrubbed says how far Scrub is.
type Scrubbed struct {
	Block int   // the first block that is not read yet
	Bytes int64 // read so far, from the first block wanted on
}

// The pieces in which Scrub reads: of the blocks as much as is fast to read at
// once, of the index enough to move to the end of the file seldom.
const (
	scrubBytes   = 4 << 20
	scrubEntries = 4096
)

// Scrub reads the stored bytes of the blocks from..to-1, once and in order, and
// passes to report, in order, every block that differs from its checksum. Nothing is
// decoded: it is as fast as the disk. The pages of the file are dropped from the page
// cache first, where the operating system can do that, so that the bytes come from the
// disk.
//
// Several workers read at the same time, each with 4 MiB of memory. Neither report nor
// progress is called by two of them at once. It fails with the error of ctx, with
// os.ErrClosed, or with an error that matches corrupt.ErrCorrupt if the index has changed
// since Inspect. The file must be from Inspect, without problems.
func (f *File) Scrub(ctx context.Context, from, to, workers int, progress func(Scrubbed), report func(error)) error {
	cache := f.pageCache()
	cache.Drop()
	workers = max(workers, 1)
	s := &scrub{f: f, cache: cache, block: from, to: to, buffers: make([][]byte, workers)}
	return crew.Ordered[*piece]{
		Read: func(_ int, p *piece) error { return s.cut(ctx, p) },
		Work: func(worker, _ int, p *piece) error { return s.check(ctx, p, s.buffer(worker)) },
		Write: func(_ int, p *piece) error {
			for _, problem := range p.problems {
				report(problem)
			}
			s.bytes += p.length()
			progress(Scrubbed{Block: p.end(), Bytes: s.bytes})
			return nil
		},
	}.Run(ctx, workers, f.NumBlocks(), pieces(workers+2))
}

// pageCache returns the bound of the page cache of f, of no file if there is none.
func (f *File) pageCache() *pagecache.Bound {
	if s, ok := f.source.(*sparing); ok {
		return &s.cache
	}
	return new(pagecache.Bound)
}

// scrub is a Scrub in progress.
type scrub struct {
	f       *File
	cache   *pagecache.Bound
	block   int      // the next one to cut off
	to      int      // the first one that is not wanted
	entries []entry  // from that one on, as far as they were read
	buffers [][]byte // of the workers
	bytes   int64    // of the pieces that were reported
}

// piece is a run of blocks, one behind the other in the file.
type piece struct {
	first    int // block
	entries  []entry
	problems []error // of its blocks
}

func pieces(n int) []*piece {
	all := make([]*piece, n)
	for i := range all {
		all[i] = new(piece)
	}
	return all
}

// end returns the block behind the piece.
func (p *piece) end() int { return p.first + len(p.entries) }

func (p *piece) offset() int64 { return int64(p.entries[0].offset) }

func (p *piece) length() int64 {
	last := p.entries[len(p.entries)-1]
	return int64(last.offset) + int64(last.length) - p.offset()
}

// buffer returns the memory of a worker.
func (s *scrub) buffer(worker int) []byte {
	if s.buffers[worker] == nil {
		s.buffers[worker] = make([]byte, min(scrubBytes, s.f.footer.indexOffset))
	}
	return s.buffers[worker]
}

// cut cuts the next piece, of scrubBytes at most, off the file.
func (s *scrub) cut(ctx context.Context, p *piece) (err error) {
	if s.block >= s.to {
		return crew.ErrNoMore
	}
	if len(s.entries) == 0 {
		if s.entries, err = s.index(ctx, s.block); err != nil {
			return err
		}
	}
	n, bytes := 0, 0
	for n < min(len(s.entries), s.to-s.block) && bytes+int(s.entries[n].length) <= scrubBytes {
		bytes += int(s.entries[n].length)
		n++
	}
	p.first, p.entries = s.block, s.entries[:n]
	s.block, s.entries = s.block+n, s.entries[n:]
	s.cache.Ahead(p.offset(), p.length(), int64(len(s.buffers)+2)*scrubBytes)
	return nil
}

// index reads entries of the index, from the given one on. They were checked when the
// file was opened; if they changed since, an error says so.
func (s *scrub) index(ctx context.Context, first int) ([]entry, error) {
	f := s.f
	n := min(scrubEntries, f.NumBlocks()-first)
	entries := make([]entry, 0, n)
	_, bad, err := readIndex(ctx, f.source, f.footer.indexOffset+int64(first)*indexEntrySize, n, func(i int, e entry) error {
		begin := e.offset
		if i > 0 {
			begin = entries[i-1].offset + uint64(entries[i-1].length)
		}
		entries = append(entries, e)
		return f.checkEntry(first+i, e, begin)
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, f.bad("index", err)
	}
	return entries, nil
}

// check reads a piece and notes what is wrong with its blocks. If it cannot be read as
// a whole, its blocks are read one by one.
func (s *scrub) check(ctx context.Context, p *piece, buf []byte) error {
	p.problems = nil
	whole := s.f.source.read(ctx, buf[:p.length()], p.offset())
	for i, e := range p.entries {
		stored, err := buf[int64(e.offset)-p.offset():][:e.length], whole
		if whole != nil {
			err = s.f.source.read(ctx, stored, int64(e.offset))
		}
		if errors.Is(err, os.ErrClosed) {
			return err
		}
		if sum := crc32c.Of(stored); err == nil && sum != e.storedCRC {
			err = fmt.Errorf("checksum of the stored bytes %08x instead of %08x", sum, e.storedCRC)
		}
		if err != nil {
			p.problems = append(p.problems, s.f.bad(fmt.Sprintf("block %d", p.first+i), err))
		}
	}
	return nil
}
