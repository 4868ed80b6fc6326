package halfboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// disk is a disk in memory.
type disk struct{ *crashfs.FS }

func newDisk() *disk { return &disk{crashfs.New()} }

// work returns the directory of the work file.
func (d *disk) work() vfs.Dir { return d.FS.Dir("work") }

func (d *disk) copied(t *testing.T) *disk {
	t.Helper()
	return &disk{must.Get(crashfs.New().Load(d.Contents()))(t)}
}

func (d *disk) change(t *testing.T, name string, do func(h vfs.File, size int64)) {
	t.Helper()
	h := must.Get(d.work().Edit(name))(t)
	do(h, must.Get(h.Size())(t))
	must.OK(t, h.Close())
}

// flipAny changes any byte of a file.
func (d *disk) flipAny(t *testing.T, rng *rand.Rand, name string) {
	t.Helper()
	d.flip(t, name, rng.Int64N)
}

// flip changes the byte of a file at the place that at returns for its size.
func (d *disk) flip(t *testing.T, name string, at func(size int64) int64) {
	t.Helper()
	d.change(t, name, func(h vfs.File, size int64) {
		b, offset := make([]byte, 1), at(size)
		must.OK(t, must.Err(h.ReadAt(b, offset)))
		b[0] ^= 0x10
		must.OK(t, must.Err(h.WriteAt(b, offset)))
	})
}

// failing returns a function that fails from the n-th call on.
func failing(err error, n int) func(string) error {
	var calls atomic.Int64
	return func(string) error {
		if calls.Add(1) >= int64(n) {
			return err
		}
		return nil
	}
}

// failOn makes operations of one kind fail as fail says.
func (d *disk) failOn(op crashfs.Op, fail func(string) error) {
	d.Fail(func(o crashfs.Op, path string) error {
		if o == op {
			return fail(path)
		}
		return nil
	})
}

// testBelow identifies the layers below in tests that have no others.
const testBelow stream.Below = 0

// A trial solves one layer again and again, on disks that are made to fail.
type trial struct {
	config
	whole bool // in one piece
	below stream.Below
	rng   *rand.Rand
	disk  *disk

	// Of the last attempt.
	mu          sync.Mutex
	notes       []string
	first, last fixpoint.Progress
	reads       int // of lower layers
	stats       fixpoint.Stats
}

// newTrial draws a layer that is solved window by window and saved before each sweep.
func newTrial(t *testing.T, rng *rand.Rand) *trial {
	t.Helper()
	return randomConfig(t, rng).inWindows(rng).trial(rng, newDisk())
}

// inWindows draws a width, whether windows are thin, the size of segments, a sample, and memory for little, for all captures, or
// for wide thin windows too.
func (c config) inWindows(rng *rand.Rand) config {
	c.options.Bits = stream.AllCodes[rng.IntN(len(stream.AllCodes))].Bits
	c.options.thin = rng.IntN(2) == 0
	c.options.Memory = []uint64{0, 1, 1 << 40}[rng.IntN(3)]
	c.options.Segment = 1 + rng.Uint64N(50_000)
	c.options.Sample = awaritest.Sample(rng)
	return c
}

// newWholeTrial draws a layer that is in memory and saved before each sweep.
func newWholeTrial(t *testing.T, rng *rand.Rand) *trial {
	t.Helper()
	return randomConfig(t, rng).trial(rng, newDisk())
}

// eachEngine runs a test with layers in windows, and with others in one piece.
func eachEngine(t *testing.T, test func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial)) {
	t.Run("windows", func(t *testing.T) { test(t, tries.Rand(t), newTrial) })
	t.Run("whole", func(t *testing.T) { test(t, tries.Rand(t), newWholeTrial) })
}

// trials returns how often to repeat a random test: each of these takes long.
func trials(n int) int { return tries.Pick(max(1, n/80), n, 20*n) }

// gap returns how far failures are apart at most: n in long tests, twice that in others.
func gap(n int) int { return tries.More(2*n, n) }

func (c config) trial(rng *rand.Rand, d *disk) *trial {
	x := &trial{config: c, whole: c.options.Bits == 0, rng: rng, disk: d}
	x.options.Work, x.options.Interval = d.work(), 1
	x.options.Note = func(note string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.notes = append(x.notes, note)
	}
	return x
}

func (x *trial) move(to *crashfs.FS) {
	x.disk = &disk{to}
	x.options.Work = x.disk.work()
}

func (x *trial) attempt(t *testing.T, ctx context.Context, progress func(fixpoint.Progress)) (scores []int8, err error) {
	t.Helper()
	defer x.closed(t)()
	x.notes, x.first, x.last, x.reads = nil, fixpoint.Progress{}, fixpoint.Progress{}, 0
	x.options.Progress = func(p fixpoint.Progress) {
		x.mu.Lock()
		if x.first.Positions == 0 {
			x.first = p
		}
		x.last = p
		x.mu.Unlock()
		if progress != nil {
			progress(p)
		}
	}
	lower := &awaritest.Counting{Lower: x.lower(t)}
	x.options.often = true
	e := must.Get(New(x.game, x.options))(t)
	defer func() { must.OK(t, e.Close()) }()
	l, err := e.Solve(ctx, x.seeds, x.below, lower)
	for n := range lower.Scores {
		x.reads += int(lower.Scores[n].Load())
	}
	must.Hold(t, lower.Closed.Load() == 1, "%+v: the layers below are closed %d times", x.config, lower.Closed.Load())
	if err != nil {
		return nil, err
	}
	x.stats = l.Stats()
	scores = make([]int8, l.Positions())
	return scores, errors.Join(l.Read(0, scores), l.Close())
}

func (x *trial) now() fixpoint.Progress {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last
}

// closed returns what fails if a file is open, or memory was not returned.
func (x *trial) closed(t *testing.T) func() {
	returned := awaritest.Bounded(t)
	return func() {
		t.Helper()
		returned()
		n := x.disk.Opened()
		should.Hold(t, n == 0, "%+v: %d files are left open", x.config, n)
	}
}

// finish resumes the layer until it is solved.
func (x *trial) finish(t *testing.T) {
	t.Helper()
	scores, err := x.attempt(t, t.Context(), nil)
	x.compare(t, scores, err)
}

func (x *trial) compare(t *testing.T, scores []int8, err error) {
	t.Helper()
	must.Hold(t, err == nil, "%+v: %v", x.config, err)
	must.Hold(t, slices.Equal(scores, awaritest.Oracle(t, x.game, x.seeds)[x.seeds]), "%+v: not the scores of the oracle", x.config)
}

// fail resumes the layer, which may end with an error. It reports whether it did.
func (x *trial) fail(t *testing.T, want error) bool {
	t.Helper()
	scores, err := x.attempt(t, t.Context(), nil)
	if errors.Is(err, want) {
		return true
	}
	x.compare(t, scores, err)
	return false
}

// stop resumes the layer and ends the context at the first report for which when holds. It reports whether that was before the end.
func (x *trial) stop(t *testing.T, when func(all, ofStage int, stage fixpoint.Stage) bool) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &cancelling{when: when, cancel: cancel}
	scores, err := x.attempt(t, ctx, c.progress)
	workers := max(1, x.options.Workers)
	if errors.Is(err, context.Canceled) && c.at > 0 {
		must.Not(t, c.reports > c.at+workers || !strings.Contains(err.Error(), fmt.Sprintf("layer %d", x.seeds)),
			"%+v, stopped at report %d: work continues until report %d; %v", x.config, c.at, c.reports, err)
		return true
	}
	x.compare(t, scores, err)
	must.Not(t, c.at > 0 && c.at < c.reports-workers || !c.ended,
		"%+v, stopped at report %d of %d: no error; the last stage is through: %v", x.config, c.at, c.reports, c.ended)
	return false
}

func (x *trial) stopWithin(t *testing.T, reports int) bool {
	t.Helper()
	at := 1 + x.rng.IntN(reports)
	return x.stop(t, func(all, _ int, _ fixpoint.Stage) bool { return all == at })
}

// stopInWindow stops in a sweep of the given window, where the first one is 1, when there is a checkpoint of it.
func (x *trial) stopInWindow(t *testing.T, window int) {
	t.Helper()
	values := x.options.codes().Values
	x.options.Interval = 1
	must.Hold(t, x.stop(t, func(int, int, fixpoint.Stage) bool {
		p := x.now()
		return !p.Turning && p.Base >= (window-1)*values && p.Stage < fixpoint.FullStage && p.Stage > fixpoint.CaptureStage && p.Done > 0
	}),
		"%+v: no window %d", x.config, window)
}

// vary changes what may change from one attempt to the next.
func (x *trial) vary() {
	families := cpu.Available()
	x.options.Workers = 1 + x.rng.IntN(5)
	x.options.Family = families[x.rng.IntN(len(families))]
	x.options.Interval = 1
	if x.rng.IntN(3) == 0 {
		x.options.Interval = 0
	}
}

// TestLongStoppedLayersAreGoneOnWith stops layers at any moment, several times in a row, or lets a goroutine panic then: that is an error,
// and the layer resumes from what was stored before, in another width if it is in windows.
func TestLongStoppedLayersAreGoneOnWith(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	eachEngine(t, func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
		for i := range 2 * trials(25) {
			x, captured := draw(t, rng), false
			x.seeds = max(x.seeds, 4)
			for range 1 + rng.IntN(4) {
				x.width()
				if i%2 == 0 && !x.stopWithin(t, 100) {
					break
				} else if i%2 == 0 {
					must.Not(t, captured && x.reads > 0, "%+v: captures are computed twice", x.config)
					captured = captured || !x.whole && x.last.Stage > fixpoint.CaptureStage
					continue
				}
				at := 1 + rng.IntN(60)
				bug := &cancelling{when: func(all, _ int, _ fixpoint.Stage) bool { return all == at }, cancel: func() { panic("a bug") }}
				scores, err := x.attempt(t, context.Background(), bug.progress)
				if bug.at == 0 {
					x.compare(t, scores, err)
					break
				}
				must.Hold(t, strings.Contains(must.As[*crew.PanicError](t, err).Error(), "a bug"), "%+v: error %v", x.config, err)
			}
			x.width()
			if rng.IntN(3) == 0 {
				must.Be(t, must.Err(x.attempt(t, must.Ended(t), nil)), context.Canceled, "%+v, stopped before it begins", x.config)
			}
			x.finish(t)
			must.Not(t, captured && x.reads > 0 || len(x.notes) > 0,
				"%+v: %d scores of lower layers are read again, notes %q", x.config, x.reads, x.notes)
		}
	})
}

// during lays the layer out, lets do work on it and lets it go.
func (x *trial) during(t *testing.T, do func(w *engine)) {
	defer x.closed(t)()
	x.notes, x.options.Progress = nil, nil
	x.options.often = true
	e := must.Get(New(x.game, x.options))(t)
	w := must.Get(e.begin(x.seeds, testBelow))(t)
	must.OK(t, w.prepare(t.Context()))
	defer func() {
		l := &Layer{engine: w}
		err := errors.Join(l.Close(), e.Close())
		should.Not(t, err != nil && !errors.Is(err, crashfs.ErrCrashed), "%v", err)
	}()
	do(w)
}

func smallTrial(t *testing.T, rng *rand.Rand) *trial {
	c := config{game: awaritest.Game(t, 6, awari.Awari), options: Options{Workers: 2, TileSize: 1}, seeds: 12}
	return c.inWindows(rng).trial(rng, newDisk())
}

func smallWholeTrial(t *testing.T, rng *rand.Rand) *trial {
	x := smallTrial(t, rng)
	x.options.Bits, x.options.Memory, x.whole = 0, 0, true
	return x
}

func eachSmallEngine(t *testing.T, test func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial)) {
	t.Run("windows", func(t *testing.T) { test(t, tries.Rand(t), smallTrial) })
	t.Run("whole", func(t *testing.T) { test(t, tries.Rand(t), smallWholeTrial) })
}

// TestLongFullDisk lets the disk be full from the k-th write on. Nothing is lost then.
func TestLongFullDisk(t *testing.T) {
	rng := tries.Rand(t)
	for k := 1; ; k += 1 + rng.IntN(gap(30)) {
		x := smallTrial(t, rng)
		x.disk.failOn(crashfs.Write, failing(syscall.ENOSPC, k))
		if !x.fail(t, syscall.ENOSPC) {
			return
		}
		x.disk.Fail(nil)
		x.disk.Limit(rng.Int64N(20_000)) // and then hardly anything has room
		x.fail(t, syscall.ENOSPC)
		x.disk.Limit(-1)
		x.finish(t)
		must.Not(t, len(x.notes) > 0, "write %d: notes %q", k, x.notes)
	}
}

// TestLongStreamsAreMissed: while a stream that is needed is stored, the disk is full, and has room again at once. The layer does not
// continue as if the stream were there. Nor does a layer in memory whose checkpoint cannot be written, unless the disk is full.
func TestLongStreamsAreMissed(t *testing.T) {
	for _, c := range []struct {
		draw  func(t *testing.T, rng *rand.Rand) *trial
		op    crashfs.Op
		err   error
		names []string
		last  int // how many calls fail
		gap   int
	}{
		{smallTrial, crashfs.Sync, syscall.ENOSPC, []string{"window-", "captures-"}, 1, gap(10)},
		{smallWholeTrial, crashfs.Write, syscall.EIO, []string{""}, math.MaxInt32, 4},
	} {
		rng, failed := tries.Rand(t), true
		for k := 1; failed; k += 1 + rng.IntN(c.gap) {
			x := c.draw(t, rng)
			var calls atomic.Int64
			x.disk.failOn(c.op, func(path string) error {
				if !slices.ContainsFunc(c.names, func(name string) bool { return strings.Contains(path, name) }) {
					return nil
				}
				if n := int(calls.Add(1)); n >= k && n < k+c.last {
					return c.err
				}
				return nil
			})
			failed = x.fail(t, c.err)
			must.Equal(t, failed, int(calls.Load()) >= k, "%+v: %v was met, and no error came: call %d", x.config, c.err, k)
			x.disk.Fail(nil)
			x.finish(t)
			must.Not(t, len(x.notes) > 0, "call %d: notes %q", k, x.notes)
		}
	}
}

type cancelling struct {
	mu      sync.Mutex
	when    func(all, ofStage int, stage fixpoint.Stage) bool // given how many reports there were
	cancel  context.CancelFunc
	at      int                  // the report at which the context ended, 0 if it did not
	reports int                  // all of them
	stages  [fixpoint.Stages]int // those of each stage; beginnings of windows are of none
	ended   bool                 // the last stage is through
}

func (x *cancelling) progress(p fixpoint.Progress) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reports++
	stage, ofStage := fixpoint.Stages, 0
	if !p.Turning {
		x.stages[p.Stage]++
		stage, ofStage = p.Stage, x.stages[p.Stage]
	}
	if x.at == 0 && x.when(x.reports, ofStage, stage) {
		x.at = x.reports
		x.cancel()
	}
	x.ended = x.ended || p.Stage == fixpoint.FullStage && p.Done == p.Positions
}

// broken fails, or does something else, at given calls.
type broken struct {
	*awaritest.Lower
	read, closing func() error
	closed        atomic.Int64
}

func (b *broken) Read(n int, start uint64, dst []int8) error {
	if b.read != nil {
		if err := b.read(); err != nil {
			return err
		}
	}
	return b.Lower.Read(n, start, dst)
}

func (b *broken) Close() error {
	b.closed.Add(1)
	if b.closing != nil {
		return b.closing()
	}
	return nil
}

// TestLongLowerLayersFail: errors of the layers below, and the end of the context when they are read or closed, end the work with a message that says
// where, and these layers are closed in any case. After that the engine solves again.
func TestLongLowerLayersFail(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := tries.Rand(t)
	bad := errors.New("disk on fire")
	for range tries.Runs(25) {
		c := randomConfig(t, rng)
		c.seeds = max(c.seeds, 4) // so that there is a layer to read
		c.options.often = true
		e := must.Get(New(c.game, c.options))(t)
		var cancel context.CancelFunc
		fail := func() error { return bad }
		stop := func() error {
			cancel()
			return nil
		}
		for name, lower := range map[string]*broken{
			"read": {read: fail}, "close": {closing: fail}, "read and close": {read: fail, closing: fail},
			"a later read": {read: awaritest.FailAt(bad, c.reads(t))}, "cancelled in reading": {read: stop}, "cancelled in closing": {closing: stop},
		} {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			want, where := bad, fmt.Sprintf("layer %d, capture stage", c.seeds)
			if strings.HasPrefix(name, "cancelled") {
				want, where = context.Canceled, fmt.Sprintf("layer %d", c.seeds)
			}
			lower.Lower = c.lower(t)
			l, err := e.Solve(ctx, c.seeds, testBelow, lower)
			cancel()
			must.Hold(t, l == nil && errors.Is(err, want) && lower.closed.Load() == 1 && strings.Contains(err.Error(), where),
				"%+v, %s: %v, closed %d times", c, name, err, lower.closed.Load())
		}
		c.solveWith(t, e)
		must.OK(t, e.Close())
	}
}

func (c config) reads(t *testing.T) (layers int) {
	t.Helper()
	lower := &awaritest.Counting{Lower: c.lower(t)}
	must.OK(t, c.begin(t).captureAll(t.Context(), lower))
	for n := range lower.Scores {
		layers += int(min(1, lower.Scores[n].Load()))
	}
	closed := lower.Closed.Load()
	must.Hold(t, closed == 1, "%+v: the layers below are closed %d times", c, closed)
	return layers
}

// TestCancelledWorkReturnsMemory: there is no Layer to close then. Engines that are
// closed leave nothing, and one that is used again takes nothing more.
func TestCancelledWorkReturnsMemory(t *testing.T) {
	// Room for a large layer, mostly untouched.
	c := config{game: awaritest.Game(t, 6, awari.Awari), seeds: 6, options: Options{Seeds: awari.MaxSeeds, TileSize: 16}}
	size := board.LayoutOf(c.game.Half(), c.options.Seeds).Total()
	x := c.trial(tries.Rand(t), newDisk())
	x.options.Work = nil
	reports := 0
	must.Be(t, must.Err(x.attempt(t, t.Context(), func(fixpoint.Progress) { reports++ })), nil)
	t.Run("closed", func(t *testing.T) {
		at := 0
		awaritest.ReturnsMemory(t, size, func() {
			at = at%reports + 1
			x.stop(t, func(all, _ int, _ fixpoint.Stage) bool { return all == at })
		})
	})
	t.Run("used again", func(t *testing.T) {
		c.options.often = true
		e := must.Get(New(c.game, c.options))(t)
		awaritest.ReturnsMemory(t, size, func() {
			ctx, cancel := context.WithCancel(t.Context())
			lower := &broken{Lower: c.lower(t), closing: func() error { cancel(); return nil }}
			must.Be(t, must.Err(e.Solve(ctx, c.seeds, testBelow, lower)), context.Canceled)
		})
		must.OK(t, e.Close())
	})
}

// TestLongCrashes crashes in each operation on files: the process is killed, or the power goes, and sometimes a second time.
func TestLongCrashes(t *testing.T) {
	eachSmallEngine(t, func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
		stride := tries.Pick(200, 9, 1)
		for k := 1; ; k++ {
			k += rng.IntN(stride)
			x := draw(t, rng)
			x.disk.CrashAt(k)
			if !x.fail(t, crashfs.ErrCrashed) {
				t.Logf("%d operations", x.disk.Ops())
				return
			}
			for _, found := range []*crashfs.FS{x.disk.PowerCut(rng), x.disk.Kill(), x.disk.Kill().PowerCut(rng)} {
				x.move(found)
				if rng.IntN(2) == 0 {
					found.CrashAt(1 + rng.IntN(100))
					x.fail(t, crashfs.ErrCrashed)
					x.move(found.PowerCut(rng))
				}
				x.finish(t)
				must.Not(t, len(x.notes) > 0, "operation %d: notes %q", k, x.notes)
			}
		}
	})
}

// TestLongFailingDisks: operations on files fail, several times in a row. What was stored before is not given up for that.
func TestLongFailingDisks(t *testing.T) {
	eachSmallEngine(t, func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
		ops := []crashfs.Op{crashfs.Create, crashfs.Write, crashfs.Sync, crashfs.Rename, crashfs.Remove, crashfs.SyncDir, "read"}
		failed := map[crashfs.Op]int{}
		for range trials(20) {
			x := draw(t, rng)
			for range 1 + rng.IntN(5) {
				op, fail := ops[rng.IntN(len(ops))], failing(syscall.EIO, 1+rng.IntN(100))
				if op == "read" {
					x.disk.FailReads(fail)
				} else {
					x.disk.failOn(op, fail)
				}
				if x.fail(t, syscall.EIO) {
					failed[op]++
				}
				x.disk.FailReads(nil)
				x.disk.Fail(nil)
				must.Not(t, len(x.notes) > 0, "failures to %s: notes %q", op, x.notes)
			}
			x.finish(t)
			must.Not(t, len(x.notes) > 0, "after failures: notes %q", x.notes)
		}
		t.Logf("failures: %v", failed)
	})
}
