package halfboard

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// history is the beginning of most streams: docs/format/spill.md.
type history struct {
	Sweeps          uint64
	Elapsed         time.Duration
	Stages          [fixpoint.Stages]time.Duration
	Changes, Events uint64
}

// stored returns the newest history in the streams that are there and whose names begin
// like that, an empty one if there are none.
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

// historyOf returns the beginning of a stream.
func historyOf(t *testing.T, d *disk, name string) (h history) {
	t.Helper()
	_, contents := d.contents(t, name)
	must.OK(t, must.Err(binary.Decode(contents, binary.LittleEndian, &h)))
	return h
}

// grows checks that nothing of a history is lost later.
func (h *history) grows(t *testing.T, s *fixpoint.Stats) {
	less := s.Changes < h.Changes || s.Events < h.Events
	for stage := range fixpoint.Stages {
		less = less || s.Stages[stage] < h.Stages[stage]
	}
	must.Not(t, less, "after %+v come %+v", h, s)
}

// TestLongTimesAddUp: the time of a resumed layer is that of all its runs, up to the checkpoints that
// were used.
func TestLongTimesAddUp(t *testing.T) { eachEngine(t, testTimesAddUp) }

func testTimesAddUp(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
	for range trials(15) {
		x := draw(t, rng)
		var all time.Duration // of runs
		var h history
		for range 1 + rng.IntN(4) {
			start, at := time.Now(), 1+rng.IntN(40)
			if !x.stop(t, func(all, _ int, _ fixpoint.Stage) bool { return all == at }) {
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
}

// TestImpossibleHistories: what begins with one is named and computed again.
func TestImpossibleHistories(t *testing.T) {
	rng := tries.Rand(t)
	x := smallTrial(t, rng)
	x.stopInWindow(t, 2)
	begin := binary.Size(history{})
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
		y.disk.write(t, stream, header, slices.Concat(must.Get(binary.Append(nil, binary.LittleEndian, h))(t), contents[begin:]))
		y.finish(t)
		should.Hold(t, len(y.notes) == 1 && strings.Contains(y.notes[0], "computed again") && strings.Contains(y.notes[0], "impossible times") &&
			strings.Contains(y.notes[0], stream),
			"%s in %s: notes %q", name, stream, y.notes)
	}
}

// TestLongBugsLeaveCheckpoints: a panic, in whatever goroutine, is an error, and the layer
// resumes from what was stored before.
func TestLongBugsLeaveCheckpoints(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	eachEngine(t, testBugsLeaveCheckpoints)
}

func testBugsLeaveCheckpoints(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
	for range trials(15) {
		x := draw(t, rng)
		for range 1 + rng.IntN(3) {
			x.vary()
			at := 1 + rng.IntN(60)
			bug := &cancelling{when: func(all, _ int, _ fixpoint.Stage) bool { return all == at }, cancel: func() { panic("a bug") }}
			scores, err := x.attempt(t, context.Background(), bug.progress)
			if bug.at == 0 {
				x.compare(t, scores, err)
				break
			}
			_, ok := errors.AsType[*crew.PanicError](err)
			must.Hold(t, ok && strings.Contains(err.Error(), "a bug"), "%+v: error %v", x.config, err)
		}
		x.vary()
		x.finish(t)
		must.Not(t, len(x.notes) > 0, "%+v: notes %q", x.config, x.notes)
	}
}
