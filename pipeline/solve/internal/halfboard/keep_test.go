package halfboard

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/spilltest"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// contents returns the header and the contents of a stream, nil if there is none.
func (d *disk) contents(t testing.TB, name string) (h spill.Header, contents []byte) {
	t.Helper()
	if !must.Get(vfs.Exists(d.work(), name))(t) {
		return h, nil
	}
	return spilltest.Read(t, d.work(), name)
}

func (d *disk) write(t testing.TB, name string, h spill.Header, contents []byte) {
	t.Helper()
	spilltest.Write(t, d.work(), name, h, contents)
}

func (d *disk) streams(t testing.TB) (names []string) {
	t.Helper()
	entries := must.Get(d.work().Entries())(t)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".tmp") {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestLongKeptWorkIsNotDoneTwice: what was kept of a layer in memory is not computed again, and Checkpointed knows of it. A layer whose
// scores are all found needs no more than to see that.
func TestLongKeptWorkIsNotDoneTwice(t *testing.T) {
	rng := tries.Rand(t)
	for stops := 0; stops < 2*trials(4); {
		x, all := newWholeTrial(t, rng), stops%2 == 0
		sweep, begun := 2+x.rng.IntN(3), false // when there are streams
		if !x.stop(t, func(_, _ int, stage fixpoint.Stage) bool {
			begun = begun || stage != fixpoint.CaptureStage
			return x.now().Sweep >= sweep && !all || begun && stage == fixpoint.FullStage
		}) {
			continue // it was through before
		}
		stops++
		stopped, h := x.last, x.stored(t, "")
		n, same := x.checkpointed(t)
		must.Hold(t, n == x.seeds && same, "%+v: checkpoint of layer %d, %v", x.config, n, same)
		x.vary()
		x.finish(t)
		must.Not(t, x.reads > 0 || x.first.Sweep < min(2, stopped.Sweep) && x.first.Stage != fixpoint.CaptureStage || len(x.notes) > 0,
			"%+v, stopped at %+v: resumes at %+v, with %d scores of lower layers, notes %q", x.config, stopped, x.first, x.reads, x.notes)
		s := x.stats
		must.Not(t, s.Sweeps+1 < stopped.Sweep || s.Before == 0 || all && (s.Sweeps > int(h.Sweeps)+1 || s.Changes != h.Changes),
			"%+v, stopped at %+v, after %+v: %+v in the end", x.config, stopped, h, x.stats)
	}
}

func (x *trial) newEngine(t *testing.T) *Engine {
	t.Helper()
	x.options.often = true
	return must.Get(New(x.game, x.options))(t)
}

func (x *trial) checkpointed(t *testing.T) (seeds int, same bool) {
	t.Helper()
	return x.newEngine(t).Checkpointed(func(int) stream.Below { return x.below })
}

// TestLongShortLayersWriteNothing: nor do those without a directory.
func TestLongShortLayersWriteNothing(t *testing.T) {
	rng := tries.Rand(t)
	for range trials(4) {
		x := newWholeTrial(t, rng)
		x.options.Interval = 0
		x.finish(t)
		x.stop(t, func(_, _ int, stage fixpoint.Stage) bool { return stage == fixpoint.DenseStage })
		ops := x.disk.Ops()
		must.Not(t, ops > 0, "%+v: %d operations", x.config, ops)
		x.options.Work, x.options.Interval = nil, 1
		x.finish(t)
		n, _ := x.checkpointed(t)
		should.Hold(t, n == -1, "checkpoint of layer %d", n)
	}
}

// TestUselessStreams: what is damaged, or of something else, is named and not believed.
func TestUselessStreams(t *testing.T) {
	rng := tries.Rand(t)
	whole := smallWholeTrial(t, rng)
	whole.finish(t)
	hFound, found := whole.disk.contents(t, rundir.FoundName)
	hOffers, offers := whole.disk.contents(t, rundir.OffersName)
	for name, change := range map[string]func(d *disk){
		"a byte of the scores": func(d *disk) { d.flipAny(t, rng, rundir.FoundName) },
		"a byte of the offers": func(d *disk) { d.flipAny(t, rng, rundir.OffersName) },
		"scores are cut": func(d *disk) {
			d.change(t, rundir.FoundName, func(h vfs.File, size int64) { h.Truncate(rng.Int64N(size)) })
		},
		"offers are cut": func(d *disk) {
			d.change(t, rundir.OffersName, func(h vfs.File, size int64) { h.Truncate(rng.Int64N(size)) })
		},
		"scores are offers": func(d *disk) { d.write(t, rundir.FoundName, hOffers, offers) },
		"offers as scores":  func(d *disk) { d.write(t, rundir.FoundName, hFound, append(found[:keptSize:keptSize], offers...)) },
		"scores end early":  func(d *disk) { d.write(t, rundir.FoundName, hFound, found[:rng.IntN(len(found))]) },
		"offers end early":  func(d *disk) { d.write(t, rundir.OffersName, hOffers, offers[:rng.IntN(len(offers))]) },
		"more scores":       func(d *disk) { d.write(t, rundir.FoundName, hFound, append(slices.Clone(found), 0)) },
		"more offers":       func(d *disk) { d.write(t, rundir.OffersName, hOffers, append(slices.Clone(offers), 0)) },
		"a score beyond":    func(d *disk) { d.write(t, rundir.FoundName, hFound, forgeLine(found, keptSize, 13)) },
		"a score far below": func(d *disk) { d.write(t, rundir.FoundName, hFound, forgeLine(found, keptSize, -128)) },
		"an offer beyond":   func(d *disk) { d.write(t, rundir.OffersName, hOffers, forgeLine(offers, 0, 14)) },
		"an offer below":    func(d *disk) { d.write(t, rundir.OffersName, hOffers, forgeLine(offers, 0, -13)) },
		"a later version":   func(d *disk) { h := hFound; h.Version++; d.write(t, rundir.FoundName, h, found) },
		"somebody else's":   func(d *disk) { h := hFound; h.Identity = []byte("swap"); d.write(t, rundir.FoundName, h, found) },
		"another file":      func(d *disk) { vfs.Write(d.work(), rundir.OffersName, []byte("text")) },
	} {
		x := whole.trial(rng, whole.disk.copied(t))
		change(x.disk)
		x.finish(t)
		should.Hold(t, len(x.notes) == 1 && strings.Contains(x.notes[0], "computed again") && strings.Contains(x.notes[0], "work/"),
			"%s: notes %q", name, x.notes)
		x.finish(t)
		should.Not(t, len(x.notes) > 0 || x.reads > 0, "%s, done again: notes %q, %d scores of lower layers", name, x.notes, x.reads)
	}
}

// TestScoresOutliveOffers: scores that were found are a start also when offers must be computed, in whose course their memory is used.
func TestScoresOutliveOffers(t *testing.T) {
	rng := tries.Rand(t)
	x := smallWholeTrial(t, rng)
	x.finish(t)
	h := x.stored(t, "")
	// Behind the header, by which it counts as kept.
	x.disk.flip(t, rundir.OffersName, func(size int64) int64 { return size/2 + rng.Int64N(size/2) })
	x.finish(t)
	k := x.first.Kept
	should.Not(t, x.reads == 0 || k == nil || k.Captures != 1 || !k.Swept || x.stats.Before != h.Elapsed || x.stats.Sweeps < int(h.Sweeps),
		"%+v: %+v, then %+v and %d scores read", x.config, h, x.stats, x.reads)
}

// TestNothingFound: what is in memory before the first sweep is no checkpoint.
func TestNothingFound(t *testing.T) {
	x := smallWholeTrial(t, tries.Rand(t))
	must.Hold(t, x.stop(t, func(int, int, fixpoint.Stage) bool { return x.now().Done == x.now().Positions }) && x.last.Stage == fixpoint.CaptureStage,
		"%+v: stopped at %+v", x.config, x.last)
	names := x.disk.streams(t)
	should.Not(t, slices.Contains(names, rundir.FoundName), "%+v: streams %q", x.config, names)
}

// TestStreamsOfOtherLayers are not believed either.
func TestStreamsOfOtherLayers(t *testing.T) {
	rng := tries.Rand(t)
	for name, change := range map[string]func(x *trial){
		"another layer": func(x *trial) { x.seeds-- },
		"other rules":   func(x *trial) { x.game = awaritest.Game(t, 6, awari.Strict) },
		"another board": func(x *trial) { x.game = awaritest.Game(t, 4, awari.Awari) },
		"others below":  func(x *trial) { x.below++ },
	} {
		x := smallWholeTrial(t, rng)
		x.finish(t)
		change(x)
		n, same := x.checkpointed(t)
		should.Not(t, (n == -1) != (name == "other rules" || name == "another board") || n >= 0 && same == (name == "others below"),
			"%s: checkpoint of layer %d, %v", name, n, same)
		x.finish(t)
		should.Hold(t, len(x.notes) == 2 && strings.Contains(x.notes[0], "does not match") && x.stats.Before == 0 && x.first.Kept == nil,
			"%s: notes %q, %v before, %+v kept", name, x.notes, x.stats.Before, x.first.Kept)
	}
}

// TestStaleWindows: streams of windows over other layers below are not used, none of them.
func TestStaleWindows(t *testing.T) {
	rng := tries.Rand(t)
	x := smallTrial(t, rng)
	x.finish(t)
	for _, name := range x.disk.streams(t) {
		should.Hold(t, strings.HasPrefix(name, "window-"), "%s is kept when all windows are found", name)
	}
	whole := x.reads
	x.below++
	n, same := x.checkpointed(t)
	should.Not(t, n != x.seeds || same, "checkpoint of layer %d, %v", n, same)
	x.finish(t)
	should.Hold(t, x.stats.Before == 0 && x.reads == whole && x.first.Kept == nil,
		"%+v: %v before, %d scores of lower layers instead of %d, %+v kept", x.config, x.stats.Before, x.reads, whole, x.first.Kept)
}

// TestFullDiskInMemory: a layer in memory continues without checkpoints, and says so once.
func TestFullDiskInMemory(t *testing.T) {
	rng := tries.Rand(t)
	for k := 1; ; k += 1 + rng.IntN(4) {
		x := smallWholeTrial(t, rng)
		x.disk.failOn(crashfs.Write, failing([]error{syscall.ENOSPC, syscall.EDQUOT}[k%2], k))
		x.finish(t)
		if len(x.notes) == 0 && k > 1 {
			return
		}
		must.Hold(t, len(x.notes) == 1 && strings.Contains(x.notes[0], "without checkpoints"), "write %d: notes %q", k, x.notes)
		for _, name := range x.disk.Names() {
			must.Not(t, strings.HasSuffix(name, ".tmp"), "write %d: %s is left", k, name)
		}
		x.disk.Fail(nil)
		x.disk.Limit(rng.Int64N(20_000))
		x.finish(t)
		x.disk.Limit(-1)
		x.finish(t)
		must.Not(t, len(x.notes) > 0, "write %d, when there is room: notes %q", k, x.notes)
	}
}

// TestLongMemoryChanges: a layer begun in memory is solved in windows, and the other way round.
func TestLongMemoryChanges(t *testing.T) {
	rng := tries.Rand(t)
	for range trials(8) {
		x := newWholeTrial(t, rng)
		x.options.Segment = 1 + rng.Uint64N(50_000)
		for range 4 {
			x.options.Bits = []int{0, 2, 4, 6}[rng.IntN(4)]
			if x.vary(); !x.stopWithin(t, 60) {
				break
			}
		}
		x.options.Bits = []int{0, 2, 4, 6}[rng.IntN(4)]
		x.finish(t)
		for _, note := range x.notes { // a window is no use to a layer in memory
			must.Hold(t, x.options.Bits == 0 && strings.Contains(note, "instead of"), "%+v: notes %q", x.config, x.notes)
		}
	}
}

// FuzzKept: whatever streams hold, nothing panics, and no score is impossible.
func FuzzKept(f *testing.F) {
	c := config{game: awaritest.Game(f, 6, awari.Awari), seeds: 7}
	x := c.trial(rand.New(rand.NewPCG(1, 1)), newDisk())
	x.options.often = true
	e := must.Get(New(x.game, x.options))(f)
	l, err := e.Solve(context.Background(), x.seeds, testBelow, x.lower(f))
	if err == nil {
		err = errors.Join(l.Close(), e.Close())
	}
	must.OK(f, err)
	hFound, found := x.disk.contents(f, rundir.FoundName)
	hOffers, offers := x.disk.contents(f, rundir.OffersName)
	f.Add(found, offers)
	f.Add(found[:100], offers[100:])
	f.Fuzz(func(t *testing.T, found, offers []byte) {
		y := c.trial(x.rng, newDisk())
		y.disk.write(t, rundir.FoundName, hFound, found)
		y.disk.write(t, rundir.OffersName, hOffers, offers)
		y.during(t, func(w *engine) {
			must.OK(t, w.captureWhole(t.Context(), y.lower(t)))
			for _, s := range w.whole.Offers {
				must.Not(t, (s < -7 || s > 7) && s != w.Grid.Blocked(), "offer %d", s)
			}
			if !w.whole.Found {
				return
			}
			must.Not(t, slices.Min(w.whole.Scores) < -7 || slices.Max(w.whole.Scores) > 7,
				"scores from %d to %d", slices.Min(w.whole.Scores), slices.Max(w.whole.Scores))
		})
	})
}

// history is the beginning of most streams: docs/format/spill.md.
type history struct {
	Sweeps          uint64
	Elapsed         time.Duration
	Stages          [fixpoint.Stages]time.Duration
	Changes, Events uint64
}

// stored returns the newest history in the streams that are there and whose names begin like that, an empty one if there are none.
func (x *trial) stored(t *testing.T, prefix string) (newest history) {
	t.Helper()
	for _, name := range x.disk.streams(t) {
		if name == rundir.OffersName || !strings.HasPrefix(name, prefix) {
			continue
		}
		if h := historyOf(t, x.disk, name); h.Elapsed > newest.Elapsed {
			newest = h
		}
	}
	return newest
}

func historyOf(t *testing.T, d *disk, name string) (h history) {
	t.Helper()
	_, contents := d.contents(t, name)
	must.OK(t, must.Err(binary.Decode(contents, binary.LittleEndian, &h)))
	return h
}

func (h *history) grows(t *testing.T, s *fixpoint.Stats) {
	less := s.Changes < h.Changes || s.Events < h.Events
	for stage := range fixpoint.Stages {
		less = less || s.Stages[stage] < h.Stages[stage]
	}
	must.Not(t, less, "after %+v come %+v", h, s)
}

// TestImpossibleHistories: what begins with one is named and computed again.
func TestImpossibleHistories(t *testing.T) {
	rng := tries.Rand(t)
	x := smallTrial(t, rng)
	x.stopInWindow(t, 2)
	streams := x.disk.streams(t)
	y := x.trial(rng, x.disk.copied(t))
	y.finish(t)
	should.Not(t, len(y.notes) > 0, "with its own history: notes %q", y.notes)
	for name, change := range map[string]func(h *history){
		"time below 0":         func(h *history) { h.Elapsed = -1 },
		"stage below 0":        func(h *history) { h.Stages[fixpoint.CaptureStage] = -1 },
		"stage above all":      func(h *history) { h.Stages[fixpoint.FullStage] = h.Elapsed + 1 },
		"stages that overflow": func(h *history) { h.Stages = [fixpoint.Stages]time.Duration{1 << 62, 1 << 62, 1 << 62, 1 << 62} },
		"centuries":            func(h *history) { h.Elapsed = math.MaxInt64 },
		"more events":          func(h *history) { h.Events = h.Changes + 1 },
		"sweeps without end":   func(h *history) { h.Sweeps = 1<<31 + 1 },
	} {
		y := x.trial(rng, x.disk.copied(t))
		stream := streams[rng.IntN(len(streams))]
		header, contents := y.disk.contents(t, stream)
		h := historyOf(t, y.disk, stream)
		change(&h)
		y.disk.write(t, stream, header, slices.Concat(must.Get(binary.Append(nil, binary.LittleEndian, h))(t), contents[keptSize:]))
		y.finish(t)
		should.Hold(t, len(y.notes) == 1 && strings.Contains(y.notes[0], "computed again") && strings.Contains(y.notes[0], "impossible times") &&
			strings.Contains(y.notes[0], stream),
			"%s in %s: notes %q", name, stream, y.notes)
	}
}

// TestLongTimesAddUp: the time of a resumed layer is that of all its runs, up to the checkpoints that were used.
func TestLongTimesAddUp(t *testing.T) {
	eachEngine(t, func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
		for range trials(15) {
			x := draw(t, rng)
			var all time.Duration // of runs
			var h history
			for range 1 + rng.IntN(4) {
				start := time.Now()
				if !x.stopWithin(t, 40) {
					break
				}
				all += time.Since(start)
				now := x.stored(t, "")
				must.Not(t, now.Elapsed < h.Elapsed || now.Elapsed > all,
					"%+v: %v in the checkpoint, %v in the one before, %v in all", x.config, now.Elapsed, h.Elapsed, all)
				h = now
			}
			h = x.stored(t, "") // it may have come to its end
			x.finish(t)
			if x.stats.Traffic.Read[fixpoint.DenseStage] == 0 && !x.whole {
				h = x.stored(t, "window") // nothing else was needed
			}
			must.Hold(t, x.stats.Before == h.Elapsed, "%+v: %v before, want %v", x.config, x.stats.Before, h.Elapsed)
			h.grows(t, &x.stats)
		}
	})
}

// TestLongAnyStreamsWillDo kills the work, or cuts the power, in any operation, several times,
// with other widths of windows, and bytes go bad in between.
func TestLongAnyStreamsWillDo(t *testing.T) {
	eachEngine(t, func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
		crashes, flips := 0, 0
		for range trials(10) {
			x := draw(t, rng)
			for range 1 + rng.IntN(4) {
				odds := 4
				if x.width(); !x.whole {
					odds = 30
				}
				x.disk.CrashAt(x.disk.Ops() + 1 + rng.IntN(60*(1+rng.IntN(7))))
				if x.fail(t, crashfs.ErrCrashed) {
					crashes++
				}
				found := x.disk.Kill()
				if rng.IntN(2) == 0 {
					found = x.disk.PowerCut(rng)
				}
				x.move(found)
				for _, name := range x.disk.streams(t) {
					if rng.IntN(odds) == 0 {
						flips++
						x.disk.flipAny(t, rng, name)
					}
				}
			}
			x.finish(t)
		}
		t.Logf("%d crashes, %d bytes", crashes, flips)
	})
}
