package halfboard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/planes"
	"grenier/kernels/window"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
	"grenier/pipeline/solve/internal/halfboard/stream"
)

// width draws the width of an attempt in windows, and what else may differ from one to the next.
func (x *trial) width() {
	if x.vary(); x.whole {
		return
	}
	x.options.Bits = stream.AllCodes[x.rng.IntN(len(stream.AllCodes))].Bits
	x.options.thin = x.rng.IntN(2) == 0
}

// TestLongWindowsAreNotSolvedTwice: a kill costs a layer what it has done since the last
// checkpoint, the window before if that was still on its way to the disk, and no other window or segment.
func TestLongWindowsAreNotSolvedTwice(t *testing.T) {
	rng := tries.Rand(t)
	for kills := 0; kills < trials(10); {
		x := newTrial(t, rng)
		x.vary()
		x.options.Interval = 1
		at := 1 + rng.IntN(300)
		before, through := x.kill(t, func(all, _ int, _ fixpoint.Stage) bool { return all == at })
		if through {
			continue
		}
		kills++
		killed, kept := x.last, int(x.stored(t, "").Sweeps)
		x.width()
		var mu sync.Mutex
		least := x.seeds // base of a sweep
		scores, err := x.attempt(t, t.Context(), func(p fixpoint.Progress) {
			mu.Lock()
			defer mu.Unlock()
			if p.Stage != fixpoint.CaptureStage {
				least = min(least, p.Base)
			}
		})
		x.compare(t, scores, err)
		must.Not(t, killed.Stage > fixpoint.CaptureStage && x.reads > 0,
			"%+v, killed at %+v: %d scores of lower layers are read again", x.config, killed, x.reads)
		must.Not(t, killed.Stage > fixpoint.CaptureStage && killed.Stage < fixpoint.FullStage && killed.Done > 0 && least < before,
			"%+v, killed at %+v, after the window from %d on: windows from %d on are solved again", x.config, killed, before, least)
		must.Not(t, x.stats.Sweeps < kept, "%+v, killed at %+v, when %d sweeps were kept: %+v in the end", x.config, killed, kept, x.stats)
		must.Not(t, len(x.notes) > 0, "%+v: notes %q", x.config, x.notes)
		first := x.stats // a layer that was not sealed is only read from then on
		for range 2 {
			x.width()
			x.finish(t)
			s := x.stats
			must.Not(t, x.reads > 0 || s.Windows != first.Windows || s.Sweeps != first.Sweeps || s.Traffic.Written != (fixpoint.Traffic{}).Written,
				"%+v: %d scores of lower layers are read, %+v after %+v", x.config, x.reads, s, first)
		}
	}
}

// kill resumes the layer until a report for which when holds, after which all operations
// on files fail, and finds what a killed process leaves. It returns the base of the window before the one in
// progress, which is the same if there is none, and whether the layer was through before.
func (x *trial) kill(t *testing.T, when func(all, ofStage int, stage fixpoint.Stage) bool) (before int, through bool) {
	d := x.disk
	c := &cancelling{when: when, cancel: func() { x.move(d.Kill()) }}
	var killed fixpoint.Progress
	base := 0
	scores, err := x.attempt(t, t.Context(), func(p fixpoint.Progress) {
		c.progress(p)
		x.mu.Lock()
		defer x.mu.Unlock()
		if killed.Positions == 0 && p.Base > base {
			before, base = base, p.Base
		}
		if killed.Positions == 0 && c.at > 0 {
			killed = p
		}
	})
	if c.at == 0 || err == nil {
		x.compare(t, scores, err)
		return before, true
	}
	x.last = killed
	return before, false
}

// TestLongSegmentsAreNotComputedTwice: captures that are stored are not computed again.
func TestLongSegmentsAreNotComputedTwice(t *testing.T) {
	rng := tries.Rand(t)
	seeds, stops := tries.More(8, 12), tries.More(1, 6)
	c := config{game: awaritest.Game(t, 10, awari.Awari), seeds: seeds, options: Options{Workers: 1, Bits: 4, Memory: 1, Segment: 1}}
	all := c.trial(rng, newDisk())
	all.finish(t)
	x := c.trial(rng, newDisk())
	left := all.stats.Traffic.Written[fixpoint.CaptureStage]
	stored := func() (segments int) {
		for _, name := range x.disk.streams(t) {
			if strings.HasSuffix(name, "-full") {
				segments++
			}
		}
		return segments
	}
	for range stops {
		before := stored()
		if !x.stop(t, func(int, int, fixpoint.Stage) bool { return x.now().Stage > fixpoint.CaptureStage || stored() > before }) || x.last.Stage > fixpoint.CaptureStage {
			break
		}
		segments := stored()
		y := c.trial(rng, x.disk.copied(t))
		y.finish(t)
		wrote := y.stats.Traffic.Written[fixpoint.CaptureStage]
		must.Not(t, wrote >= left, "%d segments are stored, and %d bytes of captures are written, %d before", segments, wrote, left)
		left = wrote
	}
	must.Not(t, left == all.stats.Traffic.Written[fixpoint.CaptureStage], "no captures were stopped")
}

// kindOf is the kind of stream that a name is of.
func kindOf(name string) string {
	switch {
	case strings.HasSuffix(name, "-open"):
		return "captures of open rows"
	case strings.HasSuffix(name, "-full"):
		return "captures of full rows"
	case strings.HasPrefix(name, "window") && strings.HasSuffix(name, fmt.Sprint(stream.SamplePart)):
		return "window, sample"
	case strings.HasPrefix(name, "window"):
		return "window"
	}
	return name
}

// someOfKind returns one of the streams of each kind that hold something; in short tests it leaves out all kinds but one.
func (x *trial) someOfKind(t *testing.T) map[string]string {
	t.Helper()
	kinds := map[string]string{}
	for _, name := range awaritest.Shuffled(x.rng, x.disk.streams(t)) {
		if _, contents := x.disk.contents(t, name); len(contents) > beginOf(kindOf(name)) {
			kinds[kindOf(name)] = name
		}
	}
	must.Equal(t, len(kinds), 5, "kinds of streams")
	if !tries.Long() {
		for _, kind := range awaritest.Shuffled(x.rng, slices.Sorted(maps.Keys(kinds)))[1:] {
			delete(kinds, kind)
		}
	}
	return kinds
}

// someWidths returns one of the widths, in long tests all.
func someWidths(rng *rand.Rand) []int {
	all := Widths[1:]
	if tries.Long() {
		return all
	}
	return all[rng.IntN(len(all)):][:1]
}

// TestLongDamagedStreams damages each kind of streams in each way: what is damaged is named and computed again, and never believed.
func TestLongDamagedStreams(t *testing.T) {
	rng := tries.Rand(t)
	for _, bits := range someWidths(rng) {
		x := smallTrial(t, rng)
		x.options.Bits, x.options.Segment = bits, 30_000
		x.stopInWindow(t, 2)
		other := func(change func(y *trial)) func(d *disk, name string) {
			y := smallTrial(t, rng)
			y.options.Bits, y.options.Segment, y.options.Sample = bits, 30_000, x.options.Sample
			change(y)
			y.stopInWindow(t, 2)
			return func(d *disk, name string) {
				h, contents := y.disk.contents(t, name)
				if contents == nil {
					h, contents = y.disk.contents(t, rundir.CapturesName(0, false))
				}
				d.write(t, name, h, contents)
			}
		}
		type damage struct {
			do     func(d *disk, name string)
			silent bool // it is of something else: no note
		}
		for what, damage := range map[string]damage{
			"flipped": {do: func(d *disk, name string) { d.flipAny(t, rng, name) }},
			"cut": {do: func(d *disk, name string) {
				d.change(t, name, func(h vfs.File, size int64) { h.Truncate(rng.Int64N(size)) })
			}},
			"longer": {do: func(d *disk, name string) {
				d.change(t, name, func(h vfs.File, size int64) { h.WriteAt([]byte("more"), size) })
			}},
			"a later version": {do: func(d *disk, name string) {
				h, contents := d.contents(t, name)
				h.Version++
				d.write(t, name, h, contents)
			}},
			"text": {do: func(d *disk, name string) {
				must.OK(t, vfs.Write(d.work(), name, bytes.Repeat([]byte("text"), 100)))
			}},
			"of another layer":  {silent: true, do: other(func(y *trial) { y.seeds-- })},
			"of other rules":    {silent: true, do: other(func(y *trial) { y.game = awaritest.Game(t, 6, awari.Strict) })},
			"of another sample": {silent: true, do: other(func(y *trial) { y.options.Sample = awaritest.Sample(rng) })},
			"of another width":  {silent: true, do: other(func(y *trial) { y.options.Bits = map[int]int{2: 6, 3: 2, 4: 3, 6: 4}[bits] })},
			"missing":           {silent: true, do: func(d *disk, name string) { d.work().Remove(name) }},
		} {
			for kind, name := range x.someOfKind(t) {
				y := x.trial(rng, x.disk.copied(t))
				damage.do(y.disk, name)
				y.finish(t)
				should.Not(t, len(y.notes) != 1 && !damage.silent || len(y.notes) > 0 && damage.silent,
					"%d bits, %s, %s: notes %q", bits, kind, what, y.notes)
				for _, note := range y.notes {
					should.Hold(t, strings.Contains(note, name) && strings.Contains(note, "computed again"),
						"%d bits, %s, %s: note %q", bits, kind, what, note)
				}
				// Windows begin anew with what was captured, if that still serves them.
				should.Not(t, y.reads > 0 && kind == rundir.FoundName || y.reads == 0 && strings.HasPrefix(kind, "captures") && what != "of another width" && what != "of another sample",
					"%d bits, %s, %s: %d scores of lower layers are read", bits, kind, what, y.reads)
			}
		}
	}
}

// TestLongForgedStreams: right checksums of wrong contents. What no stream can hold is named,
// and the scores that come out of the rest are those of the oracle.
func TestLongForgedStreams(t *testing.T) {
	rng := tries.Rand(t)
	for _, bits := range someWidths(rng) {
		x := smallTrial(t, rng)
		x.options.Bits = bits
		x.stopInWindow(t, 2)
		for what, forge := range map[string]func(begin, rest []byte) []byte{
			"shorter":     func(begin, rest []byte) []byte { return append(begin, rest[:rng.IntN(len(rest))]...) },
			"longer":      func(begin, rest []byte) []byte { return slices.Concat(begin, rest, []byte{0}) },
			"empty":       func(begin, rest []byte) []byte { return nil },
			"ones":        func(begin, rest []byte) []byte { return repeat(begin, 0xff, len(rest)) },
			"no digits":   func(begin, rest []byte) []byte { return repeat(begin, 0xaa, len(rest)) },
			"any":         func(begin, rest []byte) []byte { return random(rng, begin, len(rest)) },
			"any, longer": func(begin, rest []byte) []byte { return random(rng, begin, 2*len(rest)) },
		} {
			for kind, name := range x.someOfKind(t) {
				isWindow := strings.HasPrefix(kind, "window")
				h, contents := x.disk.contents(t, name)
				anyCodes := h.Kind == "awari-codes-2" || h.Kind == "awari-codes-8" // all bytes are some, or most
				if what == "ones" && isWindow || what == "no digits" && !isWindow || anyCodes && (what == "any" || what == "ones") {
					continue // possible contents: nothing shows that they are wrong
				}
				y := x.trial(rng, x.disk.copied(t))
				begin := beginOf(kind)
				y.disk.write(t, name, h, forge(contents[:begin:begin], contents[begin:]))
				scores, err := y.attempt(t, t.Context(), nil)
				if kind != rundir.FoundName && errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), name) {
					continue
				}
				y.compare(t, scores, err)
				should.Hold(t, len(y.notes) == 1 && strings.Contains(y.notes[0], name),
					"%d bits, %s, %s: notes %q", bits, kind, what, y.notes)
			}
		}
	}
}

var keptSize = binary.Size(history{})

// beginOf returns the bytes that stand before the contents of a kind of streams.
func beginOf(kind string) int {
	if strings.HasPrefix(kind, "captures") {
		return keptSize + 4 // the base from which on they serve
	}
	return keptSize
}

func repeat(begin []byte, b byte, n int) []byte {
	return append(slices.Clone(begin), bytes.Repeat([]byte{b}, n)...)
}

// random returns begin and n random bytes.
func random(rng *rand.Rand, begin []byte, n int) []byte {
	b := slices.Clone(begin)
	for range n {
		b = append(b, byte(rng.Uint32()))
	}
	return b
}

// TestFloorsOfCheckpoints: those of codes are not believed. While lines are being changed, a copy of codes of two parts can show any.
func TestFloorsOfCheckpoints(t *testing.T) {
	rng := tries.Rand(t)
	for _, c := range stream.AllCodes {
		x := smallTrial(t, rng)
		x.options.Bits = c.Bits
		x.stopInWindow(t, 1)
		h, contents := x.disk.contents(t, rundir.FoundName)
		changed := 0
		for line := range slices.Chunk(unsafe.Slice((*int8)(unsafe.Pointer(&contents[keptSize])), len(contents)-keptSize), c.Line()) {
			for i := range board.Side {
				score, code := c.Score[c.Get(line, i)], c.All[rng.IntN(len(c.All))]
				if c.Score[code] == score && code != c.Get(line, i) {
					c.Put(line, i, code)
					changed++
				}
			}
		}
		x.disk.write(t, rundir.FoundName, h, contents)
		x.finish(t)
		must.Not(t, changed == 0 || len(x.notes) > 0, "%+v: %d floors changed; notes %q", x.config, changed, x.notes)
	}
}

// TestCheckpointsAreKept: all scores of a resumed window rest on its checkpoint, though some capture values are computed again.
func TestCheckpointsAreKept(t *testing.T) {
	x := smallTrial(t, tries.Rand(t))
	x.options.Segment = 10_000
	x.stopInWindow(t, 1)
	must.OK(t, x.disk.work().Remove(rundir.CapturesName(0, false)))
	x.solved(t, func(l *Layer, _ []int8) {
		should.Not(t, l.Kept() != nil, "%+v: only some scores count as kept", x.config)
	})
}

// TestForgedCodes: a checkpoint with codes that do not exist is named, and its window begins anew.
func TestForgedCodes(t *testing.T) {
	rng := tries.Rand(t)
	for _, bits := range []int{4, 6} { // with 2 and 3 all are codes
		x := smallTrial(t, rng)
		x.options.Bits = bits
		x.stopInWindow(t, 1)
		h, contents := x.disk.contents(t, rundir.FoundName)
		x.disk.write(t, rundir.FoundName, h, random(rng, contents[:keptSize], len(contents)-keptSize))
		x.finish(t)
		should.Hold(t, len(x.notes) == 1 && strings.Contains(x.notes[0], "a code that does not exist"), "%d bits: notes %q", bits, x.notes)
	}
}

// TestLostWindows: if what a window has found is gone, or is that of another one, it is found again without a word; the first one with
// its capture values, since those that are kept serve later windows only.
func TestLostWindows(t *testing.T) {
	for lost, lose := range []func(d *disk, name, next string){
		func(d *disk, name, _ string) { must.OK(t, d.work().Remove(name)) },
		func(d *disk, name, next string) { h, found := d.contents(t, next); d.write(t, name, h, found) },
	} {
		x := smallTrial(t, tries.Rand(t))
		x.options.Bits, x.options.thin, x.options.Memory = 2, false, 1
		x.finish(t)
		bases := stream.Bases(x.seeds, window.Two)
		for part := range stream.AllParts {
			lose(x.disk, rundir.WindowName(bases[lost], part), rundir.WindowName(bases[lost+1], part))
		}
		x.finish(t)
		should.Not(t, x.reads == 0 && lost == 0 || len(x.notes) > 0,
			"%+v: %d scores of lower layers are read; notes %q", x.config, x.reads, x.notes)
	}
}

// TestPrunedWindowIsFoundAgain: what a window leaves of capture values, those of open rows if it is thin and those of full rows if
// not, is on disk before what it finds: if that is not stored, it is found again from them, with all that comes after.
func TestPrunedWindowIsFoundAgain(t *testing.T) {
	for _, c := range []struct {
		pits, seeds int
		codes       *window.Codes
		thin        bool
		memory      uint64
	}{{4, 46, window.Four, true, 1 << 40}, {4, 30, window.Three, false, 1}} {
		x := smallTrial(t, tries.Rand(t))
		x.game, x.seeds = awaritest.Game(t, c.pits, awari.Awari), c.seeds
		x.options.Bits, x.options.thin, x.options.Memory, x.options.Segment = c.codes.Bits, c.thin, c.memory, 1<<40
		captures, second := rundir.CapturesName(0, !c.thin), rundir.WindowName(c.codes.Values, 0)
		x.stopInWindow(t, 1)
		_, all := x.disk.contents(t, captures)
		x.disk.failOn(crashfs.Rename, func(path string) error {
			if strings.Contains(path, second) {
				return syscall.EIO
			}
			return nil
		})
		must.Hold(t, x.fail(t, syscall.EIO), "%+v: no second window", c)
		x.disk.Fail(nil)
		_, left := x.disk.contents(t, captures)
		must.Not(t, slices.Equal(all, left), "%+v: the capture values are not written again", c)
		x.finish(t)
		should.Not(t, x.reads > 0 || len(x.notes) > 0, "%+v: %d scores of lower layers are read; notes %q", c, x.reads, x.notes)
	}
}

// TestPruningPays: with capture values that are written again, windows read and write less of them than if each read all.
func TestPruningPays(t *testing.T) {
	x := smallTrial(t, tries.Rand(t))
	x.game, x.seeds = awaritest.Game(t, 6, awari.Awari), 16
	x.options.Bits, x.options.thin, x.options.Memory, x.options.Interval, x.options.Segment = 2, false, 1, 0, 1<<40
	x.finish(t)
	read, written := x.stats.Traffic.Read, x.stats.Traffic.Written
	all, again := written[fixpoint.CaptureStage]*uint64(x.stats.Windows), written[fixpoint.DenseStage]
	should.Hold(t, again > 0 && read[fixpoint.DenseStage]+read[fixpoint.FullStage]+again < all, "%d windows, %+v", x.stats.Windows, x.stats.Traffic)
}

// TestFailingReads: a stream that cannot be read, once or from then on, ends a resumed layer with the error of the disk.
func TestFailingReads(t *testing.T) {
	rng := tries.Rand(t)
	x := smallTrial(t, rng)
	x.stopInWindow(t, 2)
	for k, failed := 1, true; failed; k += 1 + rng.IntN(30) {
		once := awaritest.FailAt(syscall.EIO, k)
		for _, fail := range []func(string) error{failing(syscall.EIO, k), func(string) error { return once() }} {
			y := x.trial(rng, x.disk.copied(t))
			y.disk.FailReads(fail)
			failed = y.fail(t, syscall.EIO)
		}
	}
}

// TestCheckpointsStay: who is interrupted before the sweeps of a resumed window leaves its checkpoint as it was.
func TestCheckpointsStay(t *testing.T) {
	rng := tries.Rand(t)
	x := smallTrial(t, rng)
	x.options.Bits, x.options.Segment = 4, 30_000
	x.stopInWindow(t, 2)
	_, want := x.disk.contents(t, rundir.FoundName)
	for k, stopped := 1, true; stopped; k += 1 + rng.IntN(6) {
		y, reports := x.trial(rng, x.disk.copied(t)), 0
		stopped = y.stop(t, func(int, int, fixpoint.Stage) bool {
			if p := y.now(); p.Turning && p.Base == x.last.Base {
				reports++
			}
			return reports == k
		})
		_, got := y.disk.contents(t, rundir.FoundName)
		should.Not(t, stopped && !bytes.Equal(got, want) || !stopped && k < 4,
			"%+v: interrupted at report %d of its beginning: %v, another checkpoint", x.config, k, stopped)
	}
}

// TestForgedCaptures: a capture value beyond what the layer has is not believed.
func TestForgedCaptures(t *testing.T) {
	rng := tries.Rand(t)
	x := smallTrial(t, rng)
	x.stopInWindow(t, 1)
	for _, value := range []int8{127, 13, -14, -64, -65, -64 - 14, -128} {
		for _, full := range []bool{false, true} {
			name := rundir.CapturesName(0, full)
			y := x.trial(rng, x.disk.copied(t))
			h, contents := y.disk.contents(t, name)
			y.disk.write(t, name, h, forgeLine(contents, beginOf(name), value))
			scores, err := y.attempt(t, t.Context(), nil)
			if errors.Is(err, corrupt.ErrCorrupt) && strings.Contains(err.Error(), name) {
				continue
			}
			y.compare(t, scores, err)
			should.Hold(t, len(y.notes) == 1 && strings.Contains(y.notes[0], name), "value %d in %s: notes %q", value, name, y.notes)
		}
	}
}

// forgeLine puts a line with some value into the place of the first one of a strip, whose length stands before it.
func forgeLine(contents []byte, strip int, value int8) []byte {
	at, kernel := strip+4, planes.For(cpu.Generic) // the line
	size := int(binary.LittleEndian.Uint32(contents[strip:]))
	line := make([]int8, board.Side)
	old := kernel.Unpack(line, contents[at:at+size])
	line[1] = value
	packed := make([]byte, planes.Bound(board.Side))
	packed = packed[:kernel.Pack(packed, line)]
	return slices.Concat(contents[:strip], binary.LittleEndian.AppendUint32(nil, uint32(size+len(packed)-old)), packed, contents[at+old:])
}

// TestLongWindowsAreCancelled ends the context at any moment of each stage: files are closed,
// goroutines end, memory is returned, which only long tests look at, and the layer can be resumed.
func TestLongWindowsAreCancelled(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rng := tries.Rand(t)
	stopped := [fixpoint.Stages]int{}
	for wanted := range fixpoint.Stages {
		// Few layers have a sparse stage.
		for tries := 0; tries < trials(15) || stopped[wanted] == 0 && fixpoint.Stage(wanted) != fixpoint.SparseStage; tries++ {
			x := smallTrial(t, rng)
			x.options.Workers = 1 + rng.IntN(5)
			x.options.Interval = 0
			moment := 1 + rng.IntN([fixpoint.Stages]int{fixpoint.CaptureStage: 2, fixpoint.DenseStage: 20, fixpoint.SparseStage: 20, fixpoint.FullStage: 20}[wanted])
			if x.stop(t, func(_, ofStage int, stage fixpoint.Stage) bool { return stage == wanted && ofStage == moment }) {
				stopped[wanted]++
			}
		}
	}
	if !tries.Long() {
		return
	}
	x := smallTrial(t, rng)
	x.options.Interval = 0
	at := 0
	awaritest.ReturnsMemory(t, 8<<20, func() {
		at += 1 + rng.IntN(10)
		x.move(newDisk().FS)
		x.stop(t, func(all, _ int, _ fixpoint.Stage) bool { return all == at })
	})
}

// TestLongLoadedScores reads any parts of a layer, in any order, from several goroutines, and loads parts of one that was solved in windows
// before or not.
func TestLongLoadedScores(t *testing.T) {
	eachEngine(t, func(t *testing.T, rng *rand.Rand, draw func(t *testing.T, rng *rand.Rand) *trial) {
		for range trials(10) {
			x := draw(t, rng)
			x.solved(t, func(l *Layer, want []int8) {
				must.Hold(t, l.Seeds() == x.seeds && l.Positions() == uint64(len(want)),
					"%+v: layer %d with %d positions", x.config, l.Seeds(), l.Positions())
				size := stream.SlabSize(l.engine.Grid.Layer)
				for range 6 {
					switch start := rng.Uint64N(l.Positions()); {
					case x.whole:
					case rng.IntN(3) == 0:
						end, err := l.Load(t.Context(), start, func(uint64) {})
						must.Hold(t, err == nil && end == min(start/size*size+size, l.Positions()),
							"%+v: loaded from %d to %d of %d, slabs of %d: %v", x.config, start, end, l.Positions(), size, err)
					case rng.IntN(2) == 0:
						must.OK(t, l.LoadSample(t.Context()))
						x.readsSample(t, l, want)
					}
					var group sync.WaitGroup
					for range 16 {
						start := rng.IntN(len(want))
						length := min(rng.IntN(len(want)-start+1), []int{20, len(want)}[rng.IntN(2)])
						group.Go(func() { x.readsRight(t, l, want, uint64(start), length) })
					}
					group.Wait()
				}
			})
		}
	})
}

// readsSample reads the pieces of the sample, which is loaded, without a look at the disk.
func (x *trial) readsSample(t *testing.T, l *Layer, want []int8) {
	t.Helper()
	before := l.Stats().Traffic
	starts, length := x.options.Sample(l.Positions())
	for _, start := range starts {
		x.readsRight(t, l, want, start, int(length))
	}
	after := l.Stats().Traffic
	should.Hold(t, after == before, "%+v: reading the sample reads the disk: %+v, %+v before", x.config, after, before)
}

// TestLongSamples: pieces on both sides of the border of two slabs and on both at once, all of the
// layer, nothing, single positions, the same piece twice, and another sample than that of the run before.
func TestLongSamples(t *testing.T) {
	rng := tries.Rand(t)
	for _, bits := range someWidths(rng) {
		c := config{game: awaritest.Game(t, 12, awari.Awari), seeds: 8, options: Options{Workers: 2, Bits: bits, thin: true}}
		x := c.trial(rng, newDisk())
		x.options.Interval = 0
		const border = board.PieceLength
		type sample struct {
			starts []uint64
			length uint64
		}
		samples := []sample{
			{[]uint64{border - 2000, border}, 2000}, {[]uint64{border - 1000}, 2000}, {[]uint64{0}, Positions(c.game, c.seeds)},
			{nil, 0}, {nil, 7}, {[]uint64{0, 1, border - 1, border, Positions(c.game, c.seeds) - 1}, 1}, {[]uint64{99, 99}, 99},
		}
		if !tries.Long() {
			samples = awaritest.Shuffled(rng, samples)[:2]
		}
		for _, sample := range samples {
			x.options.Sample = func(uint64) ([]uint64, uint64) { return sample.starts, sample.length }
			x.solved(t, func(l *Layer, want []int8) {
				must.Hold(t, stream.SlabSize(l.engine.Grid.Layer) == border, "slabs of %d", stream.SlabSize(l.engine.Grid.Layer))
				should.Not(t, l.Stats().Traffic.Written[fixpoint.FullStage] == 0 || len(x.notes) > 0,
					"%v: what windows found is that of another sample; notes %q", sample, x.notes)
				must.OK(t, l.LoadSample(t.Context()))
				x.readsSample(t, l, want)
				x.readsRight(t, l, want, 0, len(want))
			})
			x.finish(t)
			should.Hold(t, x.stats.Traffic.Written[fixpoint.FullStage] == 0 && len(x.notes) == 0,
				"%v: windows are solved again; notes %q", sample, x.notes)
		}
	}
}

func (x *trial) solved(t *testing.T, do func(l *Layer, want []int8)) {
	t.Helper()
	defer x.closed(t)()
	e := x.newEngine(t)
	l, err := e.Solve(t.Context(), x.seeds, testBelow, x.lower(t))
	must.Hold(t, err == nil, "%+v: %v", x.config, err)
	do(l, awaritest.Oracle(t, x.game, x.seeds)[x.seeds])
	must.OK(t, errors.Join(l.Close(), e.Close()))
}

func (x *trial) readsRight(t *testing.T, l *Layer, want []int8, start uint64, length int) {
	t.Helper()
	scores := slices.Repeat([]int8{99}, length+1)
	err := l.Read(start, scores[:length])
	should.Hold(t, err == nil && slices.Equal(scores[:length], want[start:][:length]) && scores[length] == 99,
		"%+v: other scores from %d to %d, or an error: %v", x.config, start, start+uint64(length), err)
}

// TestLongLoadingFails: after a failure nothing wrong is read, neither by the one who fails nor by others at the same time.
func TestLongLoadingFails(t *testing.T) {
	rng := tries.Rand(t)
	failures := 0
	for tries := 0; tries < trials(15) || failures == 0; tries++ {
		x := newTrial(t, rng)
		x.solved(t, func(l *Layer, want []int8) {
			for range 10 {
				x.disk.FailReads(failing(syscall.EIO, 1+rng.IntN(40)))
				ctx, cancel := context.WithCancel(t.Context())
				switch rng.IntN(4) {
				case 0:
					cancel()
					_, err := l.Load(ctx, 0, func(uint64) {})
					must.Not(t, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, syscall.EIO), "%v", err)
				case 1:
					l.Load(ctx, rng.Uint64N(l.Positions()), func(uint64) {})
				}
				var group errgroup.Group
				for range 4 {
					start := rng.Uint64N(l.Positions())
					scores := make([]int8, 1+rng.IntN(int(l.Positions()-start)))
					group.Go(func() error {
						err := l.Read(start, scores)
						if err == nil && !slices.Equal(scores, want[start:][:len(scores)]) {
							return fmt.Errorf("other scores from %d to %d", start, int(start)+len(scores))
						}
						return err
					})
				}
				err := group.Wait()
				if errors.Is(err, syscall.EIO) {
					failures++
				} else if err != nil {
					t.Fatalf("%+v: %v", x.config, err)
				}
				cancel()
				x.disk.FailReads(nil)
				x.readsRight(t, l, want, 0, len(want))
			}
		})
	}
}
