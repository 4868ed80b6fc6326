package workfile

// Used returns the number of bytes in extents that are in use, or dropped but not
// free yet. Those that are being written count already; Size may not know them.
func (f *File) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.space.end - f.space.free()
}

// free returns the bytes in the gaps.
func (s *space) free() (bytes int64) {
	s.byOffset.Ascend(func(gap span) bool {
		bytes += gap.length
		return true
	})
	return bytes
}
