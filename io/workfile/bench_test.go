package workfile_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"grenier/io/vfs"
	"grenier/io/workfile"
)

// BenchmarkPut replaces pieces of a file of 64 MiB, with a Commit for each of
// its rounds.
func BenchmarkPut(b *testing.B) {
	for _, length := range []int{10_001, 100_001, 1_000_001} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			f := create(b, open(b, b.TempDir()), tilesName)
			defer f.Close()
			data := content(1, length)
			pieces := make([]workfile.Extent, 64<<20/length)
			b.SetBytes(int64(length))
			i := 0
			for b.Loop() {
				if i == len(pieces) {
					commit(b, f, checkpointName, nil)
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
			f := create(b, open(b, b.TempDir()), tilesName)
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

// nowhere is a directory that keeps nothing, and its files.
type nowhere struct{ vfs.Dir }

func (nowhere) Path(name string) string           { return name }
func (nowhere) Create(string) (vfs.File, error)   { return nowhere{}, nil }
func (nowhere) Rename(from, to string) error      { return nil }
func (nowhere) Remove(string) error               { return nil }
func (nowhere) Lstat(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist }
func (nowhere) Sync() error                       { return nil }
func (nowhere) Close() error                      { return nil }

func (nowhere) ReadAt(b []byte, _ int64) (int, error)  { return len(b), nil }
func (nowhere) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }
func (nowhere) Truncate(int64) error                   { return nil }
func (nowhere) Write(b []byte) (int, error)            { return len(b), nil }
func (nowhere) Size() (int64, error)                   { return 0, nil }

// replacer replaces pieces of 2 to 6 KB, chosen at random, some at once.
type replacer struct {
	f     *workfile.File
	rng   *rand.Rand
	live  []workfile.Extent
	bytes int // in live
	text  []byte
}

func newReplacer(t tb, pieces int) *replacer {
	return &replacer{
		f:    create(t, nowhere{}, tilesName),
		rng:  rand.New(rand.NewPCG(1, 0)),
		live: make([]workfile.Extent, pieces),
	}
}

// turn replaces as many pieces as there are, with a Commit for each twentieth.
func (r *replacer) turn(t tb, atOnce int) {
	lengths := make([]int, atOnce)
	for done := 0; done < len(r.live); done += atOnce {
		if done%(len(r.live)/20) == 0 {
			commit(t, r.f, checkpointName, nil)
		}
		total := 0
		for i := range lengths {
			other := i + r.rng.IntN(len(r.live)-i)
			r.live[i], r.live[other] = r.live[other], r.live[i]
			r.f.Drop(r.live[i])
			r.bytes -= int(r.live[i].Length)
			lengths[i] = 2_000 + r.rng.IntN(4_000)
			total += lengths[i]
		}
		r.text = slices.Grow(r.text, total)[:total]
		extents, err := r.f.PutAll(r.text, lengths)
		if err != nil {
			t.Fatal(err)
		}
		copy(r.live, extents)
		r.bytes += total
	}
}

// growth returns the length of the file for each byte in it.
func (r *replacer) growth() float64 { return float64(r.f.Size()) / float64(r.bytes) }

// BenchmarkReplace replaces pieces of 100,000. Nothing is written: what takes the
// time is to know what is where, and the checksums.
func BenchmarkReplace(b *testing.B) {
	const pieces = 100_000
	for _, atOnce := range []int{1, 100} {
		b.Run(fmt.Sprint(atOnce), func(b *testing.B) {
			r := newReplacer(b, pieces)
			for range 10 {
				r.turn(b, atOnce)
			}
			for b.Loop() {
				r.turn(b, atOnce)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pieces, "ns/piece")
			b.ReportMetric(r.growth(), "size/live")
		})
	}
}
