package calibrate

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/pagecache"
	"grenier/io/vfs"
	"grenier/pipeline/solve/plan"
)

const (
	fileSize = 256 << 20 // of the file that is written and read
	piece    = 64 << 10  // that is read at random places
	parcel   = 256 << 10 // that is written, and read in order
	// mostTime is when writing, or reading, ends at the latest.
	mostTime = 2 * time.Second
	// requests is how many pieces are asked for at a time, for each processor, as the
	// engine does.
	requests = 8
)

// Disk measures the disk of dir alone, as Run does, and sets Write, Read and Random of
// what it returns. Progress may be nil.
func Disk(ctx context.Context, dir string, workers int, progress func(share float64)) (c *plan.Calibration, err error) {
	parent, err := nearest(dir)
	if err != nil {
		return nil, err
	}
	temp, remove, err := vfs.TempDir(parent, tempPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	o := Options{Workers: workers}
	if progress != nil {
		o.Progress = func(share float64) { progress((share - 1 + diskShare) / diskShare) }
	}
	c = &plan.Calibration{}
	return c, o.disk(ctx, c, temp)
}

// disk measures writing and reading a file in dir that does not stay in memory.
func (o *Options) disk(ctx context.Context, c *plan.Calibration, dir string) (err error) {
	in, err := vfs.OpenDir(dir)
	if err != nil {
		return err
	}
	f, err := in.Create("file")
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	d := &disk{f: f, requests: requests * o.Workers}
	d.cache.Open(vfs.System(f))
	defer func() { err = errors.Join(err, d.cache.Close(), f.Close()) }()
	steps := []struct {
		rate *float64
		run  func(context.Context) (float64, error)
	}{{&c.Write, d.write}, {&c.Random, d.readRandom}, {&c.Read, d.readOrder}}
	for i, s := range steps {
		if *s.rate, err = s.run(ctx); err != nil {
			return err
		}
		o.tell(1 - diskShare*float64(len(steps)-1-i)/float64(len(steps)))
	}
	return nil
}

// disk is a file on the disk that is measured.
type disk struct {
	f        vfs.File
	cache    pagecache.Bound
	size     int64 // written so far
	requests int   // at a time
}

// write fills the file, and returns bytes a second until all of it is on the disk.
func (d *disk) write(ctx context.Context) (float64, error) {
	data := noise()
	return rate(ctx, 1, fileSize/parcel, func(_ []byte, i int64) (int64, error) {
		_, err := d.f.WriteAt(data, i*parcel)
		d.cache.Wrote(i*parcel, parcel)
		d.size = (i + 1) * parcel
		return parcel, err
	}, func() error {
		err := d.f.Sync()
		d.cache.Synced()
		return err
	})
}

// readRandom reads pieces at random places, several at a time.
func (d *disk) readRandom(ctx context.Context) (float64, error) {
	return rate(ctx, d.requests, fileSize/piece, func(b []byte, _ int64) (int64, error) {
		_, err := d.f.ReadAt(b[:piece], rand.Int64N(d.size/piece)*piece)
		d.cache.Read(piece)
		return piece, err
	}, func() error { d.cache.Synced(); return nil })
}

// readOrder reads the file from its beginning.
func (d *disk) readOrder(ctx context.Context) (float64, error) {
	return rate(ctx, 1, d.size/parcel, func(b []byte, i int64) (int64, error) {
		_, err := d.f.ReadAt(b, i*parcel)
		d.cache.Read(parcel)
		return parcel, err
	}, func() error { return nil })
}

// noise returns bytes that no disk can make smaller.
func noise() []byte {
	b := make([]byte, parcel)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// rate does up to n steps, by several goroutines, then finish, and returns bytes a second.
// A step gets memory of its goroutine and returns how many bytes it has moved.
func rate(ctx context.Context, goroutines int, n int64, step func(b []byte, i int64) (int64, error), finish func() error) (float64, error) {
	var next, bytes atomic.Int64
	start := time.Now()
	group, ctx := crew.WithContext(ctx)
	for range goroutines {
		group.Go(func() error {
			b := make([]byte, parcel)
			for time.Since(start) < mostTime || bytes.Load() == 0 {
				i := next.Add(1) - 1
				if i >= n {
					break
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				moved, err := step(b, i)
				if err != nil {
					return err
				}
				bytes.Add(moved)
			}
			return nil
		})
	}
	if err := errors.Join(group.Wait(), finish()); err != nil {
		return 0, err
	}
	return float64(bytes.Load()) / time.Since(start).Seconds(), nil
}
