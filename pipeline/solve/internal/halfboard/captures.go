package halfboard

import (
	"context"
	"errors"
	"slices"
	"time"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/compress"
	"grenier/kernels/transpose"
	"grenier/kernels/window"
)

// Capture values of a layer that is solved window by window are streams in the work
// directory, two for each segment: computed once, with all memory for offers (rounds.go), and
// read again by each window. docs/format/spill.md describes the contents.

const (
	capturesKind    = "awari-gains"
	capturesVersion = 1
)

// whoseCaptures is the identity of the streams of capture values, with which the identity of other streams begins.
func (w *stored) whoseCaptures() []byte {
	return w.identity("strips of %d lines of %d, runs of %d", stripRows, side, captureRun)
}

func (w *stored) capturesHeader() spill.Header {
	return spill.Header{Kind: capturesKind, Version: capturesVersion, Identity: w.whoseCaptures()}
}

// capture computes the capture values of all segments that the work directory does
// not have, and takes memory for scores then.
func (w *windows) capture(ctx context.Context, lower Lower) error {
	due, err := w.findStreams(ctx)
	if err == nil && len(due) > 0 {
		err = crew.Run(func() error { return w.captureSegments(ctx, lower, due) })
	}
	if err = errors.Join(err, w.publishing.wait(), lower.Close()); err != nil {
		return err
	}
	w.tell(CaptureStage, 1)
	w.keeper.last = time.Now() // all of that is on disk
	return w.allocate()
}

// captureSegments computes the capture values of segments, in as many rounds as memory
// requires, and writes their streams.
func (w *windows) captureSegments(ctx context.Context, lower Lower, due []int) error {
	room := &w.setup.room
	memory, err := newRegion(room.pieces + room.offers)
	if err != nil {
		return err
	}
	pieces := newPieces(w.grid.layer, lower, memory.take(room.pieces))
	var panels []panelOf
	for _, segment := range due {
		panels = append(panels, w.segments[segment]...)
	}
	out := &captureWriter{
		stored: &w.stored, code: &w.code, blocked: w.grid.blocked(), due: due,
		round: newRound(w.grid.layer, w.setup.game, w.workers, true, pieces, memory.take(room.offers)),
	}
	for done := 0; done < len(panels) && err == nil; {
		n := out.round.fit(panels[done:])
		out.share = func(of float64) {
			w.tell(CaptureStage, (float64(done)+of*float64(n))/float64(len(panels)))
		}
		if err = out.round.run(ctx, panels[done:done+n], out.share); err == nil {
			err = out.write(ctx, panels[done:done+n])
		}
		done += n
	}
	return errors.Join(err, abort(out.streams), memory.close())
}

// captureWriter writes the streams of segments, one after the other.
type captureWriter struct {
	*stored
	code    *codeKernels
	round   *round
	blocked int8            // an offer: see board
	share   func(float64)   // tells which share of the round is done
	due     []int           // segments that are not complete yet
	written int             // panels of the first of them
	streams []*spill.Writer // of the first of them, by class; none before the first panel
}

// write packs the offers of panels, the next ones, and writes them.
func (w *captureWriter) write(ctx context.Context, panels []panelOf) error {
	for len(panels) > 0 {
		n := min(len(panels), len(w.segments[w.due[0]])-w.written)
		if err := w.writePart(ctx, panels[:n]); err != nil {
			return err
		}
		panels = panels[n:]
	}
	return nil
}

// writePart writes panels of one segment.
func (w *captureWriter) writePart(ctx context.Context, panels []panelOf) error {
	if w.written == 0 {
		if err := w.create(); err != nil {
			return err
		}
	}
	for class := range classes {
		strips := slices.Collect(stripsOf(panels, class))
		err := crew.Ordered[*captureJob]{
			Work: func(_, i int, j *captureJob) error { w.packStrip(strips[i], j); return nil },
			Write: func(_ int, j *captureJob) error {
				w.share(1)
				_, err := w.streams[class].Write(j.packet)
				return err
			},
		}.Run(ctx, w.workers, len(strips), spares[captureJob](w.workers))
		if err != nil {
			return err
		}
	}
	w.written += len(panels)
	if w.written == len(w.segments[w.due[0]]) {
		streams := w.streams
		w.due, w.written, w.streams = w.due[1:], 0, nil
		return w.publish(CaptureStage, func() {}, streams...)
	}
	return nil
}

// create creates the streams of a segment.
func (w *captureWriter) create() error {
	for class := range classes {
		s, err := w.createCaptures(rundir.CapturesName(w.due[0], class == fullRows), 0)
		if err != nil {
			return err
		}
		w.streams = append(w.streams, s)
	}
	return nil
}

// captureJob is a strip of capture values on its way.
type captureJob struct {
	block   compress.Block
	lines   [side * side]int8
	changes transpose.Changes
	packet  packet
}

// storedValues returns the stored form of each value, by its byte.
func storedValues(blocked int8) (stored [256]int8) {
	for i := range stored {
		switch value := int8(i); {
		case value == -blocked:
			stored[i] = window.NoCapture
		case value < 0:
			stored[i] = value - 1
		default:
			stored[i] = value
		}
	}
	return stored
}

// packStrip ends games in a strip and packs its lines.
func (w *captureWriter) packStrip(s strip, j *captureJob) {
	r, stored := w.round, storedValues(w.blocked)
	j.packet.clear()
	for row := s.begin; row < s.end; row += side {
		r.block(&j.block, s.matrix, s.class, s.panel, row/side, r.offers[s.matrix.sum][s.panel][s.class])
		lines := j.lines[:min(side, s.end-row)*side]
		clear(lines)
		w.code.negate(lines, &j.block, s.matrix.all(s.panel), ^uint64(0), &j.changes)
		for i, value := range lines {
			lines[i] = stored[uint8(value)]
		}
		j.packet.add(w.code.planes, lines)
	}
}
