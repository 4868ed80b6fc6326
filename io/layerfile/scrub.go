package layerfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

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

// Scrub reads the stored bytes of all blocks from the given one on, once and in order, and
// passes to report, in order, every block that differs from its checksum. Nothing is
// decoded: it is as fast as the disk. The pages of the file are dropped from the page
// cache first, where the operating system can do that, so that the bytes come from the
// disk.
//
// Several workers read at the same time, each with 4 MiB of memory. Neither report nor
// progress is called by two of them at once. It fails with the error of ctx, with
// os.ErrClosed, or with an error that matches corrupt.ErrCorrupt if the index has changed
// since Inspect. The file must be from Inspect, without problems.
func (f *File) Scrub(ctx context.Context, from, workers int, progress func(Scrubbed), report func(error)) error {
	cache := f.pageCache()
	cache.Drop()
	s := &scrub{f: f, cache: cache, progress: progress, report: report, done: make(map[int]result)}
	pieces := make(chan piece)
	group, ctx := crew.WithContext(ctx)
	group.Go(func() error {
		defer close(pieces)
		return s.deal(ctx, from, pieces)
	})
	for range max(workers, 1) {
		group.Go(func() error { return s.work(ctx, pieces) })
	}
	return group.Wait()
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
	f        *File
	cache    *pagecache.Bound
	progress func(Scrubbed)
	report   func(error)

	mu    sync.Mutex
	done  map[int]result // by number of the piece: read, but one before is not
	next  int            // number of the piece that is reported next
	bytes int64          // of those reported
}

// piece is a run of blocks, one behind the other in the file.
type piece struct {
	number  int
	first   int // block
	entries []entry
}

// result is the outcome of a piece.
type result struct {
	end      int // the block behind it
	bytes    int64
	problems []error
}

func (p *piece) offset() int64 { return int64(p.entries[0].offset) }

func (p *piece) length() int64 {
	last := p.entries[len(p.entries)-1]
	return int64(last.offset) + int64(last.length) - p.offset()
}

// deal cuts the file into pieces, beginning with the given block.
func (s *scrub) deal(ctx context.Context, block int, pieces chan<- piece) error {
	for number := 0; block < s.f.NumBlocks(); {
		entries, err := s.entries(block)
		if err != nil {
			return err
		}
		for len(entries) > 0 {
			p := piece{number: number, first: block}
			p.entries, entries = cutPiece(entries)
			s.cache.Ahead(p.offset(), p.length())
			select {
			case pieces <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
			number, block = number+1, block+len(p.entries)
		}
	}
	return nil
}

// cutPiece takes entries of scrubBytes at most.
func cutPiece(entries []entry) (piece, rest []entry) {
	n, bytes := 0, 0
	for n < len(entries) && bytes+int(entries[n].length) <= scrubBytes {
		bytes += int(entries[n].length)
		n++
	}
	return entries[:n], entries[n:]
}

// entries reads entries of the index, from the given one on. They were checked when the
// file was opened; if they changed since, an error says so.
func (s *scrub) entries(first int) ([]entry, error) {
	f := s.f
	entries := make([]entry, 0, scrubEntries)
	n := min(scrubEntries, f.NumBlocks()-first)
	_, bad, err := readIndex(f.source, f.footer.indexOffset+int64(first)*indexEntrySize, n, func(i int, e entry) error {
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

// work reads pieces until there are no more.
func (s *scrub) work(ctx context.Context, pieces <-chan piece) error {
	buf := make([]byte, scrubBytes)
	for p := range pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		problems, err := s.check(&p, buf)
		if err != nil {
			return err
		}
		s.finish(p.number, result{p.first + len(p.entries), p.length(), problems})
	}
	return nil
}

// check reads a piece and returns what is wrong with its blocks. If it cannot be read as
// a whole, its blocks are read one by one.
func (s *scrub) check(p *piece, buf []byte) (problems []error, err error) {
	whole := s.f.source.read(buf[:p.length()], p.offset())
	for i, e := range p.entries {
		stored, err := buf[int64(e.offset)-p.offset():][:e.length], whole
		if whole != nil {
			err = s.f.source.read(stored, int64(e.offset))
		}
		if errors.Is(err, os.ErrClosed) {
			return nil, err
		}
		if sum := crc32c.Of(stored); err == nil && sum != e.storedCRC {
			err = fmt.Errorf("checksum of the stored bytes %08x instead of %08x", sum, e.storedCRC)
		}
		if err != nil {
			problems = append(problems, s.f.bad(fmt.Sprintf("block %d", p.first+i), err))
		}
	}
	return problems, nil
}

// finish records the outcome of a piece, and reports all pieces up to the first that is not
// read yet.
func (s *scrub) finish(number int, r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[number] = r
	for {
		r, ok := s.done[s.next]
		if !ok {
			return
		}
		delete(s.done, s.next)
		s.next++
		s.bytes += r.bytes
		for _, problem := range r.problems {
			s.report(problem)
		}
		s.progress(Scrubbed{Block: r.end, Bytes: s.bytes})
	}
}
