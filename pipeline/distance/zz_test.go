package distance

import (
	"fmt"
	"os"
	"testing"
	"time"

	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/layers/awari/packed"
	"grenier/pipeline/job"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

func TestZZ(t *testing.T) {
	dir := os.Getenv("ZZ")
	n := 16
	fmt.Sscan(os.Getenv("ZN"), &n)
	d, _ := rundir.Open(dir)
	m, _ := catalog.Manifest(d)
	locked, err := rundir.Lock(dir, m.Identity)
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Unlock()
	tb, _ := tables.Open(t.Context(), dir, catalog.Listed(m), tables.CacheBytes(1))
	r, err := newRun(tb, locked, m, Options{Layers: []int{n}, Job: job.Job{Family: cpu.Best(), Workers: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t0 := time.Now()
	fresh, err := r.backed(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("backed", time.Since(t0))
	s := &sweeper{
		Rules: packed.New(r.space.Game), space: r.space, seeds: n, size: r.space.Size(n), workers: r.options.Workers,
		fresh: fresh, grow: r.meter.grounded,
	}
	t0 = time.Now()
	open, err := s.load(t.Context(), func(from uint64, dst []int8) error { return r.tables.Read(t.Context(), n, from, dst) })
	fmt.Println("load", time.Since(t0), open, s.size)
	for plies := 1; open > 0; plies++ {
		t0 = time.Now()
		near := countBoth(s.open, s.near, 0, s.size)
		t1 := time.Now()
		found, _ := s.sweep(t.Context(), plies, open)
		open -= found
		if plies < 20 || plies%10 == 0 {
			fmt.Println(plies, "near", near, "found", found, "open", open, time.Since(t1))
		}
	}
}
