package layerfile

import (
	"context"
	"fmt"
	"sync"

	"grenier/io/crew"
)

// pageEntries are the entries of a page, which is a part of an index.
const pageEntries = 1024

// keptPages are the pages kept of a file: 6 MiB of entries. Tests keep fewer.
var keptPages = 256

// pages keeps parts of an index that is not read as a whole. It is safe for
// concurrent use.
type pages struct {
	f *File

	loading crew.Shared[int, reading]

	mu   sync.Mutex
	kept map[int][]byte // entries
	// begins holds where the first blocks of pages begin in the file, of all pages
	// that were ever read and of those behind them: pages read later must agree.
	begins map[int]uint64
}

func newPages(f *File) *pages {
	last := (f.NumBlocks() + pageEntries - 1) / pageEntries
	return &pages{f: f, kept: make(map[int][]byte), begins: map[int]uint64{
		0: uint64(f.header.start()), last: uint64(f.footer.indexOffset),
	}}
}

// read copies entry i to dst.
func (p *pages) read(ctx context.Context, dst []byte, i int) error {
	k := i / pageEntries
	entries := p.page(k)
	if entries == nil {
		read, err := p.loading.Do(ctx, k, func(ctx context.Context) (reading, error) { return p.load(ctx, k), nil })
		if err != nil {
			return unread{err}
		}
		if read.err != nil {
			return read.err
		}
		entries = read.entries
	}
	copy(dst, entries[i%pageEntries*indexEntrySize:])
	return nil
}

// reading is the outcome of reading a page.
type reading struct {
	entries []byte
	err     error
}

// load returns page k, which somebody else may have read just now.
func (p *pages) load(ctx context.Context, k int) (r reading) {
	if r.entries = p.page(k); r.entries == nil {
		r.entries, r.err = p.fetch(ctx, k)
	}
	return r
}

// page returns the entries of page k if they are kept.
func (p *pages) page(k int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept[k]
}

// keep keeps the entries of page k. The mutex is held.
func (p *pages) keep(k int, entries []byte) {
	if len(p.kept) >= keptPages {
		for any := range p.kept { // no page is better than another
			delete(p.kept, any)
			break
		}
	}
	p.kept[k] = entries
}

// fetch reads page k, keeps it, and checks that its blocks follow each other without gaps,
// and the blocks of the neighbouring pages that are known.
func (p *pages) fetch(ctx context.Context, k int) ([]byte, error) {
	f, first := p.f, k*pageEntries
	n := min(pageEntries, f.NumBlocks()-first)
	entries := make([]byte, n*indexEntrySize)
	if err := f.source.read(ctx, entries, f.footer.indexOffset+int64(first)*indexEntrySize); err != nil {
		return nil, err
	}
	begin := parseEntry(entries).offset
	next := begin
	for i := range n {
		e := parseEntry(entries[i*indexEntrySize:])
		if err := f.checkEntry(first+i, e, next); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		next += uint64(e.length)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for page, offset := range map[int]uint64{k: begin, k + 1: next} {
		if known, ok := p.begins[page]; ok && known != offset {
			return nil, fmt.Errorf("index: block %d begins at %d instead of %d", page*pageEntries, offset, known)
		}
	}
	p.begins[k], p.begins[k+1] = begin, next
	p.keep(k, entries)
	return entries, nil
}
