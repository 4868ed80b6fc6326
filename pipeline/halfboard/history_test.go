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

	"grenier/io/crew"
	"grenier/io/vfs"
	"grenier/io/workfile"
)

// stored returns the history in the checkpoint.
func (x *trial) stored(t *testing.T) (h pagedHistory) {
	t.Helper()
	if x.whole {
		return pagedHistory{history: x.storedWhole(t)}
	}
	if _, err := binary.Decode(x.payload(t)[binary.Size(identity{}):], binary.LittleEndian, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

// seal replaces the checkpoint.
func (x *trial) seal(t *testing.T, version int, payload []byte) {
	t.Helper()
	data := workfile.Seal(checkpointKind, version, payload)
	x.disk.change(t, checkpointName, func(h vfs.File, _ int64) {
		if _, err := h.WriteAt(data, 0); err != nil {
			t.Fatal(err)
		}
		if err := h.Truncate(int64(len(data))); err != nil {
			t.Fatal(err)
		}
	})
}

// grows checks that nothing of a history is lost later.
func (h *pagedHistory) grows(t *testing.T, s *Stats) {
	t.Helper()
	less := s.Changes < h.Changes || s.Events < h.Events || s.Paging.Written < h.Paging.Written ||
		s.Paging.Read < h.Paging.Read || s.Paging.Computing < h.Paging.Computing
	for stage := range Stages {
		less = less || s.Stages[stage] < h.Stages[stage]
	}
	if less {
		t.Fatalf("after %+v come %+v", h, s)
	}
}

// TestTimesAddUp: what a layer took that is gone on with is what all runs took, up to
// the checkpoints that were used.
func TestTimesAddUp(t *testing.T) { eachEngine(t, testTimesAddUp) }

func testTimesAddUp(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
	for range trials(15) {
		x := draw(t, rng)
		var all time.Duration // of runs
		var h pagedHistory
		for range 1 + rng.IntN(4) {
			start, at := time.Now(), 1+rng.IntN(40)
			if !x.stop(t, func(all, _ int, _ Stage) bool { return all == at }) {
				break
			}
			all += time.Since(start)
			now := x.stored(t)
			if now.Elapsed < h.Elapsed || now.Elapsed > all {
				t.Fatalf("%+v: %v in the checkpoint, %v in the one before, %v in all", x.config, now.Elapsed, h.Elapsed, all)
			}
			h = now
		}
		h = x.stored(t) // it may have come to its end
		x.finish(t)
		if x.stats.Before != h.Elapsed || h.Elapsed == 0 && !x.whole {
			t.Fatalf("%+v: %v before, want %v", x.config, x.stats.Before, h.Elapsed)
		}
		h.grows(t, &x.stats)
	}
}

// TestHistoryIsNotNeeded: checkpoints of version 1 lack it.
func TestHistoryIsNotNeeded(t *testing.T) {
	rng := newRand(t)
	for range trials(8) {
		x := newTrial(t, rng)
		if !x.stop(t, func(_, ofStage int, stage Stage) bool { return stage == DenseStage && ofStage == 2 }) {
			continue
		}
		begin := binary.Size(identity{})
		payload := x.payload(t)
		x.seal(t, 1, slices.Delete(payload, begin, begin+binary.Size(pagedHistory{})))
		x.finish(t)
		if len(x.notes) > 0 || x.reads > 0 || x.stats.Before != 0 {
			t.Fatalf("%+v: notes %q, %d scores of lower layers read, %v before", x.config, x.notes, x.reads, x.stats.Before)
		}
	}
}

// TestImpossibleHistories: a layer whose checkpoint has one begins anew.
func TestImpossibleHistories(t *testing.T) {
	rng := newRand(t)
	x := newTrial(t, rng)
	x.stopAnywhere(t)
	begin := binary.Size(identity{})
	for name, change := range map[string]func(h *pagedHistory){
		"time below 0":         func(h *pagedHistory) { h.Elapsed = -1 },
		"stage below 0":        func(h *pagedHistory) { h.Stages[CaptureStage] = -1 },
		"stage above all":      func(h *pagedHistory) { h.Stages[FullStage] = h.Elapsed + 1 },
		"stages that overflow": func(h *pagedHistory) { h.Stages = [Stages]time.Duration{1 << 62, 1 << 62, 1 << 62, 1 << 62} },
		"centuries":            func(h *pagedHistory) { h.Elapsed = math.MaxInt64 },
		"reading below 0":      func(h *pagedHistory) { h.Paging.Reading = -1 },
		"more events":          func(h *pagedHistory) { h.Events = h.Changes + 1 },
	} {
		y := x.trial(rng, x.disk.copied(t))
		h := y.stored(t)
		if !h.possible() {
			t.Fatalf("%+v", h)
		}
		change(&h)
		payload := y.payload(t)
		copy(payload[begin:], appendLittle(nil, h))
		y.seal(t, checkpointVersion, payload)
		y.finish(t)
		if len(y.notes) != 1 || !strings.Contains(y.notes[0], "begins anew") || !strings.Contains(y.notes[0], "impossible times") {
			t.Errorf("%s: notes %q", name, y.notes)
		}
	}
}

// TestBugsLeaveCheckpoints: a panic, in whatever goroutine, is an error, and what was
// stored before is gone on with.
func TestBugsLeaveCheckpoints(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	eachEngine(t, testBugsLeaveCheckpoints)
}

func testBugsLeaveCheckpoints(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
	for range trials(15) {
		x := draw(t, rng)
		for range 1 + rng.IntN(3) {
			x.vary()
			at := 1 + rng.IntN(60)
			bug := &cancelling{when: func(all, _ int, _ Stage) bool { return all == at }, cancel: func() { panic("a bug") }}
			scores, err := x.attempt(t, context.Background(), bug.progress)
			if bug.at == 0 {
				x.compare(t, scores, err)
				break
			}
			if _, ok := errors.AsType[*crew.PanicError](err); !ok || !strings.Contains(err.Error(), "a bug") {
				t.Fatalf("%+v: error %v", x.config, err)
			}
		}
		x.vary()
		x.finish(t)
		if len(x.notes) > 0 {
			t.Fatalf("%+v: notes %q", x.config, x.notes)
		}
	}
}
