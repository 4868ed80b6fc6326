package solve

import (
	"cmp"
	"context"
	"os"
	"time"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/pipeline/check/verify"
	"grenier/pipeline/job"
	"grenier/pipeline/solve/internal/halfboard"
	"grenier/pipeline/solve/plan"
	"grenier/pipeline/tables"
	"grenier/pipeline/tables/catalog"
)

// Checking a layer that an earlier run has written takes this long at most, and its
// scores this much memory for a while.
const (
	checkTime  = time.Second
	checkCache = 8 << 20
)

// trusted holds the layer files that this run has checked, or written itself, by seeds.
type trusted []os.FileInfo

// has reports whether the file of layer n is trusted, and not another one by now.
func (t trusted) has(n int, file os.FileInfo) bool {
	return n < len(t) && t[n] != nil && os.SameFile(t[n], file) &&
		t[n].Size() == file.Size() && t[n].ModTime().Equal(file.ModTime())
}

// add marks the file of layer n as trusted.
func (t *trusted) add(n int, file os.FileInfo) {
	for len(*t) <= n {
		*t = append(*t, nil)
	}
	(*t)[n] = file
}

// lower opens the layers below layer n, all of them checked: header, sums and index against
// the manifest, which lists what the game can have, and some scores against their moves. It
// fails with errors that match corrupt.ErrCorrupt, with errors of the operating system, and
// with the error of ctx.
func (r *run) lower(ctx context.Context, n int) (*tables.Tables, error) {
	t, err := tables.Open(ctx, r.path, catalog.Listed(r.manifest), tables.Kernel(r.options.Family), tables.Sparing(r.sparing(n)), tables.CacheBytes(checkCache))
	if err != nil {
		return nil, err
	}
	if err = r.check(ctx, t, n); err != nil {
		t.Close() // the first error says more
		return nil, err
	}
	t.Resize(checkCache)
	return t, nil
}

// check checks the layers below layer n that are not trusted yet, several at a time. It returns the error of the lowest
// layer that has one.
func (r *run) check(ctx context.Context, t *tables.Tables, n int) error {
	start, files, errs := time.Now(), make([]os.FileInfo, n), make([]error, n)
	err := crew.Each(ctx, r.options.Workers, n, func(_, k int) error {
		if !t.Has(k) {
			return nil // left out: no capture leads there
		}
		files[k], errs[k] = r.checkLayer(ctx, t, k, start)
		return errs[k]
	})
	if err := cmp.Or(append(errs, err)...); err != nil {
		return err
	}
	for k, file := range files {
		r.trusted.add(k, file)
	}
	return nil
}

// checkLayer checks layer k unless it is trusted, and returns its file. The checks began at start.
func (r *run) checkLayer(ctx context.Context, t *tables.Tables, k int, start time.Time) (os.FileInfo, error) {
	file, err := t.File(ctx, k)
	if err != nil {
		return nil, err
	}
	if r.trusted.has(k, file.Info()) {
		return file.Info(), nil
	}
	if time.Since(start) > checkTime {
		r.checking(k, 0)
	}
	return file.Info(), verify.Spot(ctx, t, k, checkTime)
}

// checking reports that layer n is being checked, and how many of its positions are.
func (r *run) checking(n int, done uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(Progress{Seeds: n, Positions: halfboard.Positions(r.game, n), Stage: checkStage, Done: done})
}

// sampling reports how far the check of the file of layer n is.
func (r *run) sampling(n int, s job.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := halfboard.Positions(r.game, n)
	part := s.Done / max(s.Total, 1)
	r.reach(plan.Place{Seeds: n, Stage: plan.Check, Part: part})
	r.tell(Progress{Seeds: n, Positions: all, Stage: checkStage, Done: uint64(part * float64(all))})
}

// impossible reports scores that the layer of n seeds cannot have: only those of an earlier
// run that it resumed can be so.
func (r *run) impossible(n int) error {
	return corrupt.New(r.work.Path(""), "", "layer %d has scores beyond -%d and %d", n, n, n)
}

// trust trusts a layer that this run has published, or that another process checks. One whose file cannot be examined
// is checked like others.
func (r *run) trust(l *manifest.Layer) {
	if info, err := os.Stat(rundir.LayerFile(r.path, l)); err == nil {
		r.trusted.add(l.Seeds, info)
	}
}
