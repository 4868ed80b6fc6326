package machine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/pagecache"
	"grenier/io/vfs"
)

const (
	piece  = 64 << 10  // that is read at random places
	parcel = 256 << 10 // that is written, and read in order
	// mostTime is when writing, or reading, ends at the latest.
	mostTime = 2 * time.Second
	// requests is the number of reads in flight for each processor, as in the engine.
	requests = 8
)

// Disk is the speed of a disk in bytes a second: written and read in order, and read in pieces of
// 64 KiB at random places, several at a time.
type Disk struct {
	Write  float64 `json:"write_bytes_per_second"`
	Read   float64 `json:"read_bytes_per_second"`
	Random float64 `json:"random_read_bytes_per_second"`
}

// FileSize is the usual size of the file that is written and read.
const FileSize = 256 << 20

// MeasureDisk measures the disk of dir, as TempDir has it, by a file of the given size, with as many requests at a time as
// that many workers make. Progress gets the share that is done, 0 to 1. Nothing is left behind.
func MeasureDisk(ctx context.Context, dir string, workers int, size int64, progress func(share float64)) (all Disk, err error) {
	temp, remove, err := TempDir(dir)
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	in, err := vfs.OpenDir(temp)
	if err != nil {
		return all, err
	}
	f, err := in.Create("file")
	if err = errors.Join(err, in.Close()); err != nil {
		return all, err
	}
	d := &disk{f: f, size: size, requests: requests * workers}
	d.cache.Open(vfs.System(f))
	defer func() { err = errors.Join(err, d.cache.Close(), f.Close()) }()
	steps := []struct {
		rate *float64
		run  func(context.Context) (float64, error)
	}{{&all.Write, d.write}, {&all.Random, d.readRandom}, {&all.Read, d.readOrder}}
	for i, s := range steps {
		if *s.rate, err = s.run(ctx); err != nil {
			return all, err
		}
		progress(float64(i+1) / float64(len(steps)))
	}
	return all, nil
}

// disk is a file that does not stay in memory, on the disk that is measured.
type disk struct {
	f        vfs.File
	cache    pagecache.Bound
	size     int64 // to be written
	written  int64 // so far
	requests int   // at a time
}

// write fills the file, and returns bytes a second until all of it is on the disk.
func (d *disk) write(ctx context.Context) (float64, error) {
	data := noise()
	return rate(ctx, 1, d.size/parcel, func(_ []byte, i int64) (int64, error) {
		_, err := d.f.WriteAt(data, i*parcel)
		d.cache.Wrote(i*parcel, parcel)
		d.written = (i + 1) * parcel
		return parcel, err
	}, func() error {
		err := d.f.Sync()
		d.cache.Synced()
		return err
	})
}

// readRandom reads pieces at random places, several at a time.
func (d *disk) readRandom(ctx context.Context) (float64, error) {
	return rate(ctx, d.requests, d.size/piece, func(b []byte, _ int64) (int64, error) {
		_, err := d.f.ReadAt(b[:piece], rand.Int64N(d.written/piece)*piece)
		d.cache.Read(piece)
		return piece, err
	}, func() error { d.cache.Synced(); return nil })
}

// readOrder reads the file from its beginning.
func (d *disk) readOrder(ctx context.Context) (float64, error) {
	return rate(ctx, 1, d.written/parcel, func(b []byte, i int64) (int64, error) {
		_, err := d.f.ReadAt(b, i*parcel)
		d.cache.Read(parcel)
		return parcel, err
	}, func() error { return nil })
}

// noise returns bytes that no disk can compress.
func noise() []byte {
	b := make([]byte, parcel)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// rate does up to n steps, by several goroutines, then finish, and returns bytes a second.
// A step gets memory of its goroutine and returns how many bytes it has moved.
func rate(ctx context.Context, goroutines int, n int64, step func(b []byte, i int64) (int64, error), finish func() error) (float64, error) {
	var bytes atomic.Int64
	memory := make([][parcel]byte, goroutines)
	start := time.Now()
	err := crew.Each(ctx, goroutines, int(n), func(worker, i int) error {
		if time.Since(start) >= mostTime && bytes.Load() > 0 {
			return nil
		}
		moved, err := step(memory[worker][:], int64(i))
		bytes.Add(moved)
		return err
	})
	if err := errors.Join(err, finish()); err != nil {
		return 0, err
	}
	return float64(bytes.Load()) / time.Since(start).Seconds(), nil
}
