package workfile_test

import (
	"fmt"
	"math/rand/v2"
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

// nowhere is a file system that keeps nothing.
type nowhere struct{}

func (nowhere) Create(string) (workfile.Handle, error) { return nowhere{}, nil }
func (nowhere) Open(string) (workfile.Handle, error)   { return nowhere{}, nil }
func (nowhere) Rename(from, to string) error           { return nil }
func (nowhere) Remove(string) error                    { return nil }
func (nowhere) SyncDir(string) error                   { return nil }

func (nowhere) ReadAt(b []byte, _ int64) (int, error)  { return len(b), nil }
func (nowhere) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }
func (nowhere) Truncate(int64) error                   { return nil }
func (nowhere) Sync() error                            { return nil }
func (nowhere) Size() (int64, error)                   { return 0, nil }
func (nowhere) Close() error                           { return nil }

// BenchmarkReplace replaces pieces of 2 to 6 KB of 100,000, chosen at random, with
// a Commit for each 5000. Nothing is written: what takes the time is to know what
// is where, and the checksums.
func BenchmarkReplace(b *testing.B) {
	const pieces = 100_000
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 0))
			f := create(b, nowhere{}, tilesPath)
			text, lengths := content(1, count*6_000), make([]int, count)
			live, bytes := make([]workfile.Extent, pieces), 0
			replace := func() {
				total := 0
				for n := range count {
					other := n + rng.IntN(pieces-n)
					live[n], live[other] = live[other], live[n]
					f.Drop(live[n])
					bytes -= int(live[n].Length)
					lengths[n] = 2_000 + rng.IntN(4_000)
					total += lengths[n]
				}
				extents, err := f.PutAll(text[:total], lengths)
				if err != nil {
					b.Fatal(err)
				}
				copy(live, extents)
				bytes += total
			}
			turn := func() {
				for i := 0; i < pieces; i += count {
					replace()
					if i%5_000 == 0 {
						commit(b, f, checkpointPath, nil)
					}
				}
			}
			for range 10 {
				turn()
			}
			for b.Loop() {
				turn()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pieces, "ns/piece")
			b.ReportMetric(float64(f.Size())/float64(bytes), "size/live")
		})
	}
}
