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

// whoseCaptures is the identity of the streams of capture values, and the beginning of that of found scores.
func (e *engine) whoseCaptures() []byte {
	return e.whose("strips of %d lines of %d, runs of %d", stripRows, side, captureRun)
}

func (e *engine) capturesHeader() spill.Header {
	return spill.Header{Kind: capturesKind, Version: capturesVersion, Identity: e.whoseCaptures()}
}

// captureStreams computes the capture values of all segments that the work directory does
// not have, and takes memory for scores then.
func (e *engine) captureStreams(ctx context.Context, lower Lower) error {
	due, err := e.findStreams(ctx)
	if err == nil && len(due) > 0 {
		err = crew.Run(func() error { return e.captureSegments(ctx, lower, due) })
	}
	if err = errors.Join(err, e.windows.publishing.wait(), lower.Close()); err != nil {
		return err
	}
	e.tell(CaptureStage, 1)
	e.keeper.last = time.Now() // all of that is on disk
	return e.allocateCodes()
}

// captureSegments computes the capture values of segments, in as many rounds as memory
// requires, and writes their streams.
func (e *engine) captureSegments(ctx context.Context, lower Lower, due []int) error {
	o := e.options
	lowerRoom, offers := o.roomForPieces(e.grid.q, e.grid.n), o.roomForOffers(e.grid.q, e.grid.n)
	memory, err := newRegion(lowerRoom + offers)
	if err != nil {
		return err
	}
	pieces := newPieces(e.grid, lower, memory.take(lowerRoom))
	var panels []panelOf
	for _, segment := range due {
		panels = append(panels, e.windows.segments[segment]...)
	}
	out := &captureWriter{round: e.newRound(pieces, memory.take(offers)), due: due}
	for done := 0; done < len(panels) && err == nil; {
		n := out.round.fit(panels[done:])
		out.share = func(of float64) {
			e.tell(CaptureStage, (float64(done)+of*float64(n))/float64(len(panels)))
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
	round   *round
	share   func(float64)   // tells which share of the round is done
	due     []int           // segments that are not complete yet
	written int             // panels of the first of them
	streams []*spill.Writer // of the first of them, by class; none before the first panel
}

// write packs the offers of panels, the next ones, and writes them.
func (w *captureWriter) write(ctx context.Context, panels []panelOf) error {
	for len(panels) > 0 {
		n := min(len(panels), len(w.round.windows.segments[w.due[0]])-w.written)
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
			Work: func(_, i int, j *captureJob) error { w.round.packStrip(strips[i], j); return nil },
			Write: func(_ int, j *captureJob) error {
				w.share(1)
				_, err := w.streams[class].Write(j.packet)
				return err
			},
		}.Run(ctx, w.round.workers, len(strips), spares[captureJob](w.round.workers))
		if err != nil {
			return err
		}
	}
	w.written += len(panels)
	if w.written == len(w.round.windows.segments[w.due[0]]) {
		streams := w.streams
		w.due, w.written, w.streams = w.due[1:], 0, nil
		return w.round.windows.publish(CaptureStage, func() {}, streams...)
	}
	return nil
}

// create creates the streams of a segment.
func (w *captureWriter) create() error {
	for class := range classes {
		s, err := w.round.createCaptures(rundir.CapturesName(w.due[0], class == fullRows), 0)
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
func (g *geometry) storedValues() (stored [256]int8) {
	for i := range stored {
		switch value := int8(i); {
		case value == -g.blocked():
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
func (r *round) packStrip(s strip, j *captureJob) {
	w, stored := r.windows, r.grid.storedValues()
	j.packet.clear()
	for row := s.begin; row < s.end; row += side {
		r.block(&j.block, s.matrix, s.class, s.panel, row/side, r.offers[s.matrix.sum][s.panel][s.class])
		lines := j.lines[:min(side, s.end-row)*side]
		clear(lines)
		w.negate(lines, &j.block, s.matrix.all(s.panel), ^uint64(0), &j.changes)
		for i, value := range lines {
			lines[i] = stored[uint8(value)]
		}
		j.packet.add(w.planes, lines)
	}
}
