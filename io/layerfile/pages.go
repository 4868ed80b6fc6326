package layerfile

import (
	"fmt"
	"sync"
)

// A page is a part of an index.
const (
	pageEntries = 1024
	keptPages   = 256 // of a file: 6 MiB of entries
)

// pages keeps parts of an index that is not read as a whole. It is safe for
// concurrent use.
type pages struct {
	f *File

	mu   sync.Mutex
	kept map[int]*page
	// begins holds where the first blocks of pages begin in the file, of all pages
	// that were ever read and of those behind them: pages read later must agree.
	begins map[int]uint64
}

// page is read when it is first needed. A failure to read it is not remembered.
type page struct {
	mu      sync.Mutex // held while the page is read
	entries []byte     // nil until then
}

func newPages(f *File) *pages {
	last := (f.NumBlocks() + pageEntries - 1) / pageEntries
	return &pages{f: f, kept: make(map[int]*page), begins: map[int]uint64{
		0: uint64(f.header.start()), last: uint64(f.footer.indexOffset),
	}}
}

// read copies entry i to dst.
func (p *pages) read(dst []byte, i int) error {
	page := p.page(i / pageEntries)
	page.mu.Lock()
	defer page.mu.Unlock()
	if page.entries == nil {
		entries, err := p.load(i / pageEntries)
		if err != nil {
			return err
		}
		page.entries = entries
	}
	copy(dst, page.entries[i%pageEntries*indexEntrySize:])
	return nil
}

// page returns page k, which may not have been read yet.
func (p *pages) page(k int) *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.kept[k]; found != nil {
		return found
	}
	if len(p.kept) >= keptPages {
		for any := range p.kept { // no page is better than another
			delete(p.kept, any)
			break
		}
	}
	p.kept[k] = new(page)
	return p.kept[k]
}

// load reads page k and checks that its blocks follow each other without gaps,
// and the blocks of the neighbouring pages that are known.
func (p *pages) load(k int) ([]byte, error) {
	f, first := p.f, k*pageEntries
	n := min(pageEntries, f.NumBlocks()-first)
	entries := make([]byte, n*indexEntrySize)
	if err := f.source.read(entries, f.footer.indexOffset+int64(first)*indexEntrySize); err != nil {
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
	return entries, nil
}
