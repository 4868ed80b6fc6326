package stream

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
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// Capture values of a layer that is solved window by window are streams in the work
// directory, two for each segment: computed once, with all memory for offers (board.Round), and
// read again by each window. docs/format/spill.md describes the contents.

const (
	capturesKind    = "awari-gains"
	capturesVersion = 1
)

// whoseCaptures is the identity of the streams of capture values, with which the identity of other streams begins.
func (w *stored) whoseCaptures() []byte {
	return w.identity("strips of %d lines of %d, runs of %d", StripRows, board.Side, board.CaptureRun)
}

func (w *stored) capturesHeader() spill.Header {
	return spill.Header{Kind: capturesKind, Version: capturesVersion, Identity: w.whoseCaptures()}
}

// Capture computes the capture values of all segments that the work directory does
// not have, and takes memory for scores then.
func (w *Windows) Capture(ctx context.Context, lower board.Lower) error {
	due, err := w.findStreams(ctx)
	if err != nil {
		return errors.Join(err, lower.Close())
	}
	if err := w.CaptureDue(ctx, lower, due); err != nil {
		return err
	}
	w.Tell(fixpoint.CaptureStage, 1)
	w.Keeper.last = time.Now() // all of that is on disk
	return w.allocate()
}

// CaptureDue computes the capture values of segments, stores them, and closes lower.
func (w *Windows) CaptureDue(ctx context.Context, lower board.Lower, due []int) (err error) {
	if len(due) > 0 {
		err = crew.Run(func() error { return w.captureSegments(ctx, lower, due) })
	}
	return errors.Join(err, w.publishing.wait(), lower.Close())
}

// captureSegments computes the capture values of segments, in as many rounds as memory
// requires, and writes their streams.
func (w *Windows) captureSegments(ctx context.Context, lower board.Lower, due []int) error {
	room := &w.setup.Room
	memory, err := board.NewRegion(room.Pieces + room.Offers)
	if err != nil {
		return err
	}
	pieces := board.NewPieces(w.Grid.Layer, lower, memory.Take(room.Pieces))
	var panels []board.PanelOf
	for _, segment := range due {
		panels = append(panels, w.segments[segment]...)
	}
	out := &captureWriter{
		stored: &w.stored, code: &w.code, blocked: w.Grid.Blocked(), due: due,
		round: board.NewRound(w.Grid.Layer, w.setup.Game, w.Workers, true, pieces, memory.Take(room.Offers)),
	}
	for done := 0; done < len(panels) && err == nil; {
		n := out.round.Fit(panels[done:])
		out.share = func(of float64) {
			w.Tell(fixpoint.CaptureStage, (float64(done)+of*float64(n))/float64(len(panels)))
		}
		if err = out.round.Run(ctx, panels[done:done+n], out.share); err == nil {
			err = out.write(ctx, panels[done:done+n])
		}
		done += n
	}
	return errors.Join(err, abort(out.streams), memory.Close())
}

// captureWriter writes the streams of segments, one after the other.
type captureWriter struct {
	*stored
	code    *codeKernels
	round   *board.Round
	blocked int8            // the offer of positions without captures
	share   func(float64)   // tells which share of the round is done
	due     []int           // segments that are not complete yet
	written int             // panels of the first of them
	streams []*spill.Writer // of the first of them, by class; none before the first panel
}

// write packs the offers of panels, the next ones, and writes them.
func (w *captureWriter) write(ctx context.Context, panels []board.PanelOf) error {
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
func (w *captureWriter) writePart(ctx context.Context, panels []board.PanelOf) error {
	if w.written == 0 {
		if err := w.create(); err != nil {
			return err
		}
	}
	for class := range board.Classes {
		strips := slices.Collect(stripsOf(panels, class))
		err := crew.Ordered[*captureJob]{
			Work: func(_, i int, j *captureJob) error { w.packStrip(strips[i], j); return nil },
			Write: func(_ int, j *captureJob) error {
				w.share(1)
				_, err := w.streams[class].Write(j.packet)
				return err
			},
		}.Run(ctx, w.Workers, len(strips), spares[captureJob](w.Workers))
		if err != nil {
			return err
		}
	}
	w.written += len(panels)
	if w.written == len(w.segments[w.due[0]]) {
		streams := w.streams
		w.due, w.written, w.streams = w.due[1:], 0, nil
		return w.publish(fixpoint.CaptureStage, func() {}, streams...)
	}
	return nil
}

// create creates the streams of a segment.
func (w *captureWriter) create() error {
	for class := range board.Classes {
		s, err := w.createCaptures(rundir.CapturesName(w.due[0], class == board.FullRows), 0)
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
	lines   [board.Side * board.Side]int8
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
	for row := s.begin; row < s.end; row += board.Side {
		r.Block(&j.block, s.matrix, s.class, s.panel, row/board.Side, r.Offers[s.matrix.Sum][s.panel][s.class])
		lines := j.lines[:min(board.Side, s.end-row)*board.Side]
		clear(lines)
		w.code.negate(lines, &j.block, s.matrix.All(s.panel), ^uint64(0), &j.changes)
		for i, value := range lines {
			lines[i] = stored[uint8(value)]
		}
		j.packet.add(w.code.planes, lines)
	}
}
