package workfile_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"grenier/io/workfile"
)

// BenchmarkPut replaces pieces of a file of 64 MiB, with a Commit for each of
// its rounds.
func BenchmarkPut(b *testing.B) {
	for _, length := range []int{10_001, 100_001, 1_000_001} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			dir := b.TempDir()
			f := create(b, workfile.OS, filepath.Join(dir, "tiles"))
			defer f.Close()
			data := content(1, length)
			pieces := make([]workfile.Extent, 64<<20/length)
			b.SetBytes(int64(length))
			i := 0
			for b.Loop() {
				if i == len(pieces) {
					commit(b, f, filepath.Join(dir, "checkpoint"), nil)
					i = 0
				}
				f.Drop(pieces[i])
				pieces[i] = put(b, f, data)
				i++
			}
		})
	}
}

// BenchmarkGet reads pieces of a file of 64 MiB.
func BenchmarkGet(b *testing.B) {
	for _, length := range []int{10_001, 100_001, 1_000_001} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			f := create(b, workfile.OS, filepath.Join(b.TempDir(), "tiles"))
			defer f.Close()
			data := content(1, length)
			pieces := make([]workfile.Extent, 64<<20/length)
			for i := range pieces {
				pieces[i] = put(b, f, data)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(length))
			i := 0
			for b.Loop() {
				if _, err := f.Get(pieces[i%len(pieces)], data); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
