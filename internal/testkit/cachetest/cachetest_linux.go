package cachetest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/internal/testkit/must"
)

// onDisk is where files outlive the page cache.
const onDisk = "/var/tmp"

// Dir returns a new directory for the test, on a disk also where temporary files are in memory, if there is one.
func Dir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(dir)
	must.OK(t, err)
	defer f.Close()
	if !inMemory(f) {
		return dir
	}
	dir, err = os.MkdirTemp(onDisk, "test")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { must.OK(t, os.RemoveAll(dir)) })
	return dir
}

// inMemory reports whether the page cache is all that holds the file.
func inMemory(f *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &s) != nil || s.Type == unix.TMPFS_MAGIC
}

// Watch returns a function that returns how many bytes of the file at path are in
// the page cache, and how many of them are not on disk. It skips the test where that
// is unknown, or where the page cache is all that holds the file.
func Watch(t testing.TB, path string) func() (bytes, dirty int64) {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	t.Cleanup(func() { f.Close() })
	if inMemory(f) {
		t.Skip("the file is nowhere but in the page cache")
	}
	page := uint64(os.Getpagesize())
	held := func() (int64, int64) {
		var stat unix.Cachestat_t
		if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &stat, 0); err != nil {
			t.Skip(err) // Linux before 6.5, or a sandbox
		}
		return int64(stat.Cache * page), int64((stat.Dirty + stat.Writeback) * page)
	}
	held()
	return held
}
