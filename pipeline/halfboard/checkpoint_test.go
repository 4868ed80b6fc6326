package halfboard

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"grenier/io/vfs"
	"grenier/io/vfs/crashfs"
	"grenier/io/workfile"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
)

// A trial solves one layer again and again, on disks that are made to fail.
type trial struct {
	config
	whole bool // in memory
	rng   *rand.Rand
	disk  *disk

	// Of the last attempt.
	mu          sync.Mutex
	notes       []string
	first, last Progress
	reads       int // of lower layers
	stats       Stats
}

// newTrial draws a layer that is saved after each group of tiles.
func newTrial(t *testing.T, rng *rand.Rand) *trial {
	t.Helper()
	c := randomConfig(t, rng)
	c.seeds = max(c.seeds, 1)
	return c.paged(t, rng).trial(rng, newDisk())
}

// newWholeTrial draws a layer that is in memory and saved before each sweep.
func newWholeTrial(t *testing.T, rng *rand.Rand) *trial {
	t.Helper()
	return randomConfig(t, rng).trial(rng, newDisk())
}

// eachEngine runs a test with layers out of core, and with others in memory.
func eachEngine(t *testing.T, test func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial)) {
	t.Run("paged", func(t *testing.T) { test(t, newRand(t), newTrial) })
	t.Run("whole", func(t *testing.T) { test(t, newRand(t), newWholeTrial) })
}

// trials returns how often to repeat a random test: each of these takes long.
func trials(n int) int {
	switch {
	case full():
		return 20 * n
	case long():
		return 5 * n
	}
	return runs(n)
}

// trial returns a trial of the layer of c on a disk.
func (c config) trial(rng *rand.Rand, d *disk) *trial {
	x := &trial{config: c, whole: c.options.Memory == 0, rng: rng, disk: d}
	x.options.Work, x.options.Interval = d.work(), 1
	x.options.Note = func(note string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.notes = append(x.notes, note)
	}
	return x
}

// move makes d the disk.
func (x *trial) move(d *disk) { x.disk, x.options.Work = d, d.work() }

// attempt solves the layer and returns its scores.
func (x *trial) attempt(t *testing.T, ctx context.Context, progress func(Progress)) (scores []int8, err error) {
	t.Helper()
	defer x.closed(t)
	x.notes, x.first, x.last, x.reads = nil, Progress{}, Progress{}, 0
	x.options.Progress = func(p Progress) {
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
	lower := &counting{tower: x.lower(t)}
	l, err := x.solvePaged(t, ctx, lower)
	for n := range lower.read {
		x.reads += int(lower.read[n].Load())
	}
	if lower.closed.Load() != 1 {
		t.Fatalf("%+v: the layers below are closed %d times", x.config, lower.closed.Load())
	}
	if err != nil {
		return nil, err
	}
	x.stats = l.Stats()
	scores = make([]int8, l.Positions())
	return scores, errors.Join(l.Read(0, scores), l.Close())
}

// closed fails if a file is open.
func (x *trial) closed(t *testing.T) {
	t.Helper()
	if n := x.disk.open.Load(); n != 0 {
		t.Errorf("%+v: %d files are left open", x.config, n)
	}
}

// finish goes on with the layer until it is solved.
func (x *trial) finish(t *testing.T) {
	t.Helper()
	scores, err := x.attempt(t, t.Context(), nil)
	x.compare(t, scores, err)
}

func (x *trial) compare(t *testing.T, scores []int8, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%+v: %v", x.config, err)
	}
	if !slices.Equal(scores, oracle(t, x.game, x.seeds)[x.seeds]) {
		t.Fatalf("%+v: not the scores of the oracle", x.config)
	}
}

// fail goes on with the layer, which may end with an error. It reports whether it did.
func (x *trial) fail(t *testing.T, want error) bool {
	t.Helper()
	scores, err := x.attempt(t, t.Context(), nil)
	if errors.Is(err, want) {
		return true
	}
	x.compare(t, scores, err)
	return false
}

// stop goes on with the layer and ends the context at the first report for which when
// holds. It reports whether that was before the end.
func (x *trial) stop(t *testing.T, when func(all, ofStage int, stage Stage) bool) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &cancelling{when: when, cancel: cancel}
	scores, err := x.attempt(t, ctx, c.progress)
	if errors.Is(err, context.Canceled) && c.at > 0 {
		return true
	}
	x.compare(t, scores, err)
	return false
}

// stopAnywhere stops at a random moment of a random stage, or not at all.
func (x *trial) stopAnywhere(t *testing.T) {
	t.Helper()
	wanted, moment := Stage(x.rng.IntN(int(Stages))), 1+x.rng.IntN(20)
	x.stop(t, func(_, ofStage int, stage Stage) bool { return stage == wanted && ofStage >= moment })
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

// TestStoppedLayersAreGoneOnWith stops layers at any moment, several times in a row.
func TestStoppedLayersAreGoneOnWith(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	eachEngine(t, testStoppedLayersAreGoneOnWith)
}

func testStoppedLayersAreGoneOnWith(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
	for range trials(30) {
		x := draw(t, rng)
		for range 1 + rng.IntN(4) {
			x.vary()
			at := 1 + rng.IntN(60)
			if !x.stop(t, func(all, _ int, _ Stage) bool { return all == at }) {
				break
			}
		}
		x.vary()
		if rng.IntN(3) == 0 {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := x.attempt(t, ctx, nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("%+v, stopped before it begins: %v", x.config, err)
			}
		}
		x.finish(t)
		if len(x.notes) > 0 {
			t.Fatalf("%+v: notes %q", x.config, x.notes)
		}
	}
}

// TestWorkIsNotDoneTwice: after a stop in a stage the stages before it are not repeated,
// and what it has done is kept.
func TestWorkIsNotDoneTwice(t *testing.T) {
	rng := newRand(t)
	stops := [Stages]int{}
	for range trials(25) {
		x := newTrial(t, rng)
		x.seeds = max(x.seeds, tops[x.game.Pits()]*2/3)
		x.options.TileSize = 1
		x.options.limit = func(least, _ int64) int64 { return least }
		stage := DenseStage + Stage(rng.IntN(3))
		if !x.stop(t, func(_, ofStage int, now Stage) bool { return now == stage && ofStage >= 2 }) {
			continue
		}
		stops[stage]++
		stopped := x.last
		class := openRows
		if stage == FullStage {
			class = fullRows
		}
		if len(x.regions(t)[regionOf{"scores", class}]) == 0 {
			t.Fatalf("%+v, stopped in the %v stage: no scores are stored", x.config, stage)
		}
		x.finish(t)
		if x.reads > 0 || x.first.Stage == CaptureStage || x.first.Sweep < stopped.Sweep || len(x.notes) > 0 {
			t.Fatalf("%+v, stopped at %+v: goes on at %+v, with %d scores of lower layers, notes %q", x.config, stopped, x.first, x.reads, x.notes)
		}
		if stage == FullStage && x.first.Stage != FullStage {
			t.Fatalf("%+v, stopped in the last stage: goes on at %+v", x.config, x.first)
		}
		x.finish(t)
		if x.first != x.last || x.first.Stage != FullStage {
			t.Fatalf("%+v, done: goes on from %+v to %+v", x.config, x.first, x.last)
		}
	}
	t.Logf("stops by stage: %v", stops)
}

// TestCapturesAreGoneOnWith stops while captures are computed: those that are stored are
// not computed again.
func TestCapturesAreGoneOnWith(t *testing.T) {
	rng := newRand(t)
	for range trials(4) {
		c := config{game: mustGame(t, 8, awari.Awari), seeds: 13, options: Options{TileSize: 1, Workers: 1 + rng.IntN(3)}}
		x := c.paged(t, rng).trial(rng, newDisk())
		ctx, cancel := context.WithCancel(t.Context())
		x.during(t, func(w *engine) {
			w.progress = func(p Progress) {
				if 2*p.Done > p.Positions {
					cancel()
				}
			}
			if err := w.capturePaged(ctx, x.lower(t)); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err := errors.Join(w.paging.shelves.flush(w.paging.store), w.commit(true)); err != nil {
				t.Fatal(err)
			}
		})
		x.finish(t)
		if x.first.Stage != CaptureStage || 2*x.first.Done < x.first.Positions {
			t.Fatalf("after half of the captures the first report is %+v", x.first)
		}
	}
}

// during lays the layer out, lets do work on it and lets it go.
func (x *trial) during(t *testing.T, do func(w *engine)) {
	t.Helper()
	defer x.closed(t)
	x.notes, x.options.Progress = nil, nil
	e, err := New(x.game, x.options)
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.begin(t.Context(), x.seeds)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		l := &Layer{engine: w, spare: &e.spare}
		if err := errors.Join(l.Close(), e.Close()); err != nil && !errors.Is(err, crashfs.ErrCrashed) {
			t.Error(err)
		}
	}()
	do(w)
}

// TestAnyCheckpointWillDo kills the work between groups of tiles, after checkpoints with
// all that is in memory and others without; and what is stored may be damaged.
func TestAnyCheckpointWillDo(t *testing.T) {
	rng := newRand(t)
	killed := [Stages]int{}
	for range trials(40) {
		x := newTrial(t, rng)
		for range 1 + rng.IntN(5) {
			x.vary()
			stage, moment := DenseStage+Stage(rng.IntN(3)), 2+rng.IntN(20)
			if stage == FullStage {
				moment = 2
			}
			if !x.kill(t, func(_, ofStage int, now Stage) bool { return now == stage && ofStage == moment }) {
				break
			}
			killed[stage]++
			x.disk.change(t, workName, func(_ vfs.File, size int64) {
				if size > 0 && rng.IntN(4) == 0 {
					x.disk.flip(t, workName, rng.Int64N(size))
				}
			})
		}
		x.finish(t)
	}
	t.Logf("killed by stage: %v", killed)
}

// kill goes on with the layer, makes checkpoints at random, and ends the process at a
// report of sweeps or of full rows. It reports whether that was before the end.
func (x *trial) kill(t *testing.T, when func(all, ofStage int, stage Stage) bool) bool {
	t.Helper()
	x.options.Interval = math.MaxInt64 // no checkpoints but those made here
	var found *crashfs.FS
	c := &cancelling{when: when, cancel: func() { found = x.disk.Kill() }}
	x.during(t, func(w *engine) {
		w.progress = func(p Progress) {
			if p.Stage == CaptureStage {
				return // other goroutines are at work
			}
			if c.progress(p); found == nil && x.rng.IntN(2) == 0 {
				if err := w.commit(x.rng.IntN(10) == 0); err != nil {
					t.Error(err)
				}
			}
		}
		err := w.run(t.Context(), x.lower(t))
		if err != nil && !(errors.Is(err, crashfs.ErrCrashed) && found != nil) {
			t.Fatal(err)
		}
	})
	if found != nil {
		x.move(&disk{FS: found})
	}
	return found != nil
}

// TestCheckpointsLackNothing kills the work likewise and looks at what is found: positions
// that do not know what their moves are worth are marked.
func TestCheckpointsLackNothing(t *testing.T) {
	rng := newRand(t)
	for range trials(8) {
		c := config{game: mustGame(t, 8, awari.Rules(rng.IntN(2))), seeds: 9 + rng.IntN(4), options: Options{TileSize: 1}}
		x := c.trial(rng, newDisk())
		x.options.Memory = 1
		for range 1 + rng.IntN(10) {
			x.options.limit = func(least, _ int64) int64 { return least + rng.Int64N(least/2+1) }
			moment := 2 + rng.IntN(30)
			if !x.kill(t, func(all, _ int, stage Stage) bool { return stage != FullStage && all == moment }) {
				break
			}
			y := x.trial(rng, x.disk.copied(t))
			y.options.limit = func(_, all int64) int64 { return 2 * all } // so that all offers are unpacked
			y.during(t, func(w *engine) { w.lacksNothing(t) })
		}
	}
}

// lacksNothing fails if a position is not out of date though its moves are worth more, or
// less, than it knows.
func (e *engine) lacksNothing(t *testing.T) {
	t.Helper()
	if e.paging.phase != sweeping {
		return
	}
	if err := errors.Join(e.capturePaged(t.Context(), &tower{}), e.paging.store.hold(t.Context(), e.order)); err != nil {
		t.Fatal(err)
	}
	tiles, b := e.grid.byBlock(t), &bench{}
	e.eachPosition(openRows, func(p position) {
		s := e.grid.find(p)
		x := tiles[s.at()]
		if x.all.Load() || s.mark().columns.Load()>>s.col&1 != 0 {
			return
		}
		worth := -b.offersOf(x, s.panel, s.chunk)[s.col*side+s.line]
		for _, child := range e.quietChildren(p) {
			worth = max(worth, -*e.grid.find(child).score())
		}
		if known := *s.score(); worth > max(known, 0) || worth < min(known, 0) {
			t.Fatalf("%v: %d is known, and its moves are worth %d", e.grid.board(p.mover, p.opponent), known, worth)
		}
	})
}

// smallTrial is a layer of a few tiles.
func smallTrial(t *testing.T, rng *rand.Rand) *trial {
	c := config{game: mustGame(t, 6, awari.Awari), options: Options{Workers: 2, TileSize: 1, Memory: 1}, seeds: 12}
	c.options.limit = func(least, _ int64) int64 { return least }
	return c.trial(rng, newDisk())
}

// smallWholeTrial is the same layer in memory.
func smallWholeTrial(t *testing.T, rng *rand.Rand) *trial {
	x := smallTrial(t, rng)
	x.options.Memory, x.whole = 0, true
	return x
}

// eachSmallEngine is eachEngine for that layer.
func eachSmallEngine(t *testing.T, test func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial)) {
	t.Run("paged", func(t *testing.T) { test(t, newRand(t), smallTrial) })
	t.Run("whole", func(t *testing.T) { test(t, newRand(t), smallWholeTrial) })
}

// TestCrashes crashes in each operation on files: the process is killed, or the power
// goes, and sometimes a second time.
func TestCrashes(t *testing.T) { eachSmallEngine(t, testCrashes) }

func testCrashes(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
	stride := 80
	switch {
	case full():
		stride = 1
	case long():
		stride = 5
	}
	for k := 1; ; k++ {
		k += rng.IntN(stride)
		x := draw(t, rng)
		x.disk.CrashAt(k)
		if !x.fail(t, crashfs.ErrCrashed) {
			t.Logf("%d operations", x.disk.Ops())
			return
		}
		for _, found := range []*crashfs.FS{x.disk.PowerCut(rng), x.disk.Kill(), x.disk.Kill().PowerCut(rng)} {
			x.move(&disk{FS: found})
			if rng.IntN(2) == 0 {
				found.CrashAt(1 + rng.IntN(100))
				x.fail(t, crashfs.ErrCrashed)
				x.move(&disk{FS: found.PowerCut(rng)})
			}
			x.finish(t)
			if len(x.notes) > 0 {
				t.Fatalf("operation %d: notes %q", k, x.notes)
			}
		}
	}
}

// TestFullDisk lets the disk be full from the k-th write on. Nothing is lost then.
func TestFullDisk(t *testing.T) {
	rng := newRand(t)
	for k := 1; ; k += 1 + rng.IntN(30) {
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
		if len(x.notes) > 0 {
			t.Fatalf("write %d: notes %q", k, x.notes)
		}
	}
}

// TestFailingDisks: operations on files fail, several times in a row. What was stored
// before is not given up for that.
func TestFailingDisks(t *testing.T) { eachSmallEngine(t, testFailingDisks) }

func testFailingDisks(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
	ops := []crashfs.Op{crashfs.Create, crashfs.Write, crashfs.Sync, crashfs.Rename, crashfs.Remove, crashfs.SyncDir, "read"}
	failed := map[crashfs.Op]int{}
	for range trials(20) {
		x := draw(t, rng)
		for range 1 + rng.IntN(5) {
			op, fail := ops[rng.IntN(len(ops))], failing(syscall.EIO, 1+rng.IntN(100))
			if op == "read" {
				x.disk.read = fail
			} else {
				x.disk.failOn(op, fail)
			}
			if x.fail(t, syscall.EIO) {
				failed[op]++
			}
			x.disk.read = nil
			x.disk.Fail(nil)
			if len(x.notes) > 0 {
				t.Fatalf("failures to %s: notes %q", op, x.notes)
			}
		}
		x.finish(t)
		if len(x.notes) > 0 {
			t.Fatalf("after failures: notes %q", x.notes)
		}
	}
	t.Logf("failures: %v", failed)
}

// regionOf names a kind of extents in a work file.
type regionOf struct {
	what  string
	class rowClass
}

// regions lists what a checkpoint refers to.
func (x *trial) regions(t *testing.T) map[regionOf][]workfile.Extent {
	t.Helper()
	regions := map[regionOf][]workfile.Extent{}
	x.during(t, func(w *engine) {
		add := func(what string, class rowClass, e workfile.Extent) {
			if !e.IsZero() {
				name := regionOf{what, class}
				regions[name] = append(regions[name], e)
			}
		}
		for _, x := range slices.Concat(w.grid.tiles, w.grid.full) {
			if w.paging.phase > capturing && x.offers.IsZero() {
				t.Fatalf("%v has no offers, and they will not be computed", x)
			}
			add("offers", x.class, x.offers)
			add("scores", x.class, x.scores)
		}
		for _, e := range w.paging.marks {
			add("marks", openRows, e)
		}
	})
	return regions
}

// TestDamagedTilesAreComputedAgain changes a byte of each kind of extent.
func TestDamagedTilesAreComputedAgain(t *testing.T) {
	rng := newRand(t)
	met := map[regionOf]int{}
	for range trials(20) {
		x := newTrial(t, rng)
		x.stopAnywhere(t)
		for name, extents := range x.regions(t) {
			y := x.trial(rng, x.disk.copied(t))
			e := extents[rng.IntN(len(extents))]
			y.disk.flip(t, workName, e.Offset+rng.Int64N(int64(e.Length)))
			y.finish(t)
			met[name]++
			want := "is computed again"
			if name.what == "marks" {
				want = "are swept again"
			}
			if len(y.notes) != 1 || !strings.Contains(y.notes[0], want) {
				t.Fatalf("%+v: damaged %+v, notes %q", x.config, name, y.notes)
			}
		}
	}
	t.Logf("damaged: %v", met)
}

// TestUselessCheckpoints: work begins anew when the checkpoint, or the work file, is
// damaged, or of something else.
func TestUselessCheckpoints(t *testing.T) {
	rng := newRand(t)
	for range trials(8) {
		x := newTrial(t, rng)
		x.stopAnywhere(t)
		for name, change := range map[string]func(y *trial, h vfs.File, size int64){
			"a byte is changed": func(y *trial, _ vfs.File, size int64) { y.disk.flip(t, checkpointName, rng.Int64N(size)) },
			"the end is cut":    func(_ *trial, h vfs.File, size int64) { h.Truncate(rng.Int64N(size)) },
			"a later version": func(_ *trial, h vfs.File, _ int64) {
				h.WriteAt(workfile.Seal(checkpointKind, checkpointVersion+1, x.payload(t)), 0)
			},
			"no work file":  func(y *trial, _ vfs.File, _ int64) { y.disk.plain().Remove(workName) },
			"another layer": func(y *trial, _ vfs.File, _ int64) { y.seeds = (y.seeds + 1) % (tops[y.game.Pits()] + 1) },
			"another game":  func(y *trial, _ vfs.File, _ int64) { y.game = mustGame(t, y.game.Pits(), 1-y.game.Rules()) },
			"another size":  func(y *trial, _ vfs.File, _ int64) { y.options.TileSize = 3000 },
		} {
			y := x.trial(rng, x.disk.copied(t))
			y.disk.change(t, checkpointName, func(h vfs.File, size int64) { change(y, h, size) })
			y.finish(t)
			if len(y.notes) != 1 || !strings.Contains(y.notes[0], "begins anew") {
				t.Fatalf("%+v, %s: notes %q", y.config, name, y.notes)
			}
			y.finish(t)
			if len(y.notes) > 0 || y.first.Stage != FullStage {
				t.Fatalf("%+v, %s, done: goes on at %+v, notes %q", y.config, name, y.first, y.notes)
			}
		}
	}
}

// payload returns what the checkpoint says.
func (x *trial) payload(t testing.TB) []byte {
	t.Helper()
	data, err := workfile.ReadSealed(x.disk.plain(), checkpointName)
	if err != nil {
		t.Fatal(err)
	}
	_, payload, err := workfile.Unseal(checkpointName, checkpointKind, checkpointVersion, data)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// TestTruncatedWorkFiles cuts work files at any byte: if something is missing, work begins
// anew.
func TestTruncatedWorkFiles(t *testing.T) {
	rng := newRand(t)
	for range trials(16) {
		x := newTrial(t, rng)
		x.stopAnywhere(t)
		needed, left := int64(0), int64(0)
		for _, extents := range x.regions(t) {
			for _, e := range extents {
				needed = max(needed, e.Offset+int64(e.Length))
			}
		}
		x.disk.change(t, workName, func(h vfs.File, size int64) {
			left = rng.Int64N(size + 1)
			h.Truncate(left)
		})
		x.finish(t)
		if anew := len(x.notes) == 1 && strings.Contains(x.notes[0], "begins anew"); anew != (left < needed) {
			t.Fatalf("%+v: %d bytes are left, %d are needed, notes %q", x.config, left, needed, x.notes)
		}
	}
}

// TestLayersWithCheckpointsPage: also if they would fit, but no others.
func TestLayersWithCheckpointsPage(t *testing.T) {
	rng := newRand(t)
	for range trials(12) {
		x := newTrial(t, rng)
		if rng.IntN(2) == 0 {
			x.options.TileSize = 0 // what is chosen depends on the memory allowed
		}
		if !x.stop(t, func(_, _ int, stage Stage) bool { return stage == DenseStage }) {
			continue
		}
		x.options.Memory = 0
		x.finish(t)
		if x.reads > 0 || len(x.notes) > 0 {
			t.Fatalf("%+v: begins anew, notes %q", x.config, x.notes)
		}
		x.seeds--
		x.during(t, func(w *engine) {
			if w.paging != nil {
				t.Fatalf("%+v: pages", x.config)
			}
		})
	}
}

// FuzzCheckpoint: whatever a checkpoint says, nothing panics, and what is taken from it
// is in the file and does not overlap.
func FuzzCheckpoint(f *testing.F) {
	c := config{game: mustGame(f, 6, awari.Awari), seeds: 9, options: Options{Memory: 1, TileSize: 1}}
	c.options.limit = func(_, all int64) int64 { return all }
	// A checkpoint of sweeps, and one of the end.
	x := c.trial(rand.New(rand.NewPCG(1, 1)), newDisk())
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	for _, stage := range []Stage{DenseStage, Stages} {
		x.options.Progress = func(p Progress) {
			if p.Stage == stage {
				cancel()
			}
		}
		e, err := New(x.game, x.options)
		if err != nil {
			f.Fatal(err)
		}
		l, err := e.Solve(ctx, x.seeds, x.lower(f))
		if l != nil {
			err = l.Close()
		}
		if (stage == DenseStage) != errors.Is(err, context.Canceled) {
			f.Fatal(err)
		}
		payload := x.payload(f)
		f.Add(slices.Clone(payload))
		clear(payload[binary.Size(identity{})+binary.Size(pagedHistory{}):][:16]) // the offers of the first tile
		f.Add(payload)
		ctx = f.Context()
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		y := c.trial(x.rng, x.disk.copied(t))
		h, err := vfs.Renew(y.disk.plain(), checkpointName)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.WriteAt(workfile.Seal(checkpointKind, checkpointVersion, payload), 0); err != nil {
			t.Fatal(err)
		}
		regions := y.regions(t)
		if slices.ContainsFunc(y.notes, func(s string) bool { return strings.Contains(s, "begins anew") }) {
			if len(regions) > 0 {
				t.Fatalf("%v are left of a checkpoint of no use", regions)
			}
			return
		}
		var all []workfile.Extent
		for _, extents := range regions {
			all = append(all, extents...)
		}
		slices.SortFunc(all, func(a, b workfile.Extent) int { return cmp.Compare(a.Offset, b.Offset) })
		end := int64(0)
		for _, e := range all {
			if e.Offset < end {
				t.Fatalf("%+v begins in front of the end of another one, %d", e, end)
			}
			end = e.Offset + int64(e.Length)
		}
		y.disk.change(t, workName, func(_ vfs.File, size int64) {
			if end > size {
				t.Fatalf("%d bytes are needed of %d", end, size)
			}
		})
	})
}
