//go:build !linux

package workfile

// pageCache does nothing here: the operating system decides what it keeps.
type pageCache struct{}

func (*pageCache) open(string, Handle) {}
func (*pageCache) wrote(span)          {}
func (*pageCache) read(span)           {}
func (*pageCache) synced()             {}
func (*pageCache) close() error        { return nil }
