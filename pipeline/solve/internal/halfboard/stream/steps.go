package stream

import (
	"context"
	"errors"
	"slices"

	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/window"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// Processes may share a layer: some compute the capture values of segments (Due, CaptureDue), others a window each
// (FindAlone), and the last ones read the scores (Stack). Windows are alone then (Setup.Alone): a window needs the capture
// values, all of them, and nothing of what others have found, which only saves work.
//
// What a process has made is read to its end before it counts as done. What others have made counts as there by the headers of its
// streams; damage is found when they are read.

// Segments returns the number of segments of capture values.
func (w *Windows) Segments() int { return len(w.segments) }

// Bases returns the bases of all windows, if they have the same codes, of a layer of n seeds.
func Bases(n int, codes *window.Codes) (bases []int) {
	for s := (sequence{Codes: codes}); !s.complete(n); s.add(s.now(), true) {
		bases = append(bases, s.base)
	}
	return bases
}

// Made counts the segments of capture values, and the windows with the given bases, all streams of which have names.
func Made(names map[string]bool, bases []int, segments int) (captures, windows int) {
	missing := func(name string) bool { return !names[name] }
	for segment := range segments {
		if missing(rundir.CapturesName(segment, false)) || missing(rundir.CapturesName(segment, true)) {
			continue
		}
		captures++
	}
	for _, base := range bases {
		if !slices.ContainsFunc(partNames(base), missing) {
			windows++
		}
	}
	return captures, windows
}

// DueAlone is Due, which tells how far it is.
func (w *Windows) DueAlone(ctx context.Context, begin, end int) (due []int, err error) {
	kept := fixpoint.Kept{}
	for segment := begin; segment < end; segment++ {
		w.keepsCaptures(&kept, segment)
	}
	defer w.look(kept)()
	return w.Due(ctx, begin, end)
}

// LacksCaptures returns the segments without capture values.
func (w *Windows) LacksCaptures() (segments []int) {
	for segment := range w.segments {
		if !w.keepsCaptures(new(fixpoint.Kept), segment) {
			segments = append(segments, segment)
		}
	}
	return segments
}

// IsFound reports whether the window with a base is found, which it reads to its end.
func (w *Windows) IsFound(ctx context.Context, base int) (bool, error) {
	f, kept := foundIn{base, w.Codes}, fixpoint.Kept{Base: base}
	if !w.keeps(&kept, w.foundHeader(f), partNames(base)...) {
		return false, nil
	}
	defer w.look(kept)()
	return w.lookAtWindow(ctx, f)
}

// FindAlone finds the window with a base and stores it. The window must not be found, and all capture values be there.
func (w *Windows) FindAlone(ctx context.Context, base int) error {
	w.base = base
	if err := w.allocate(); err != nil {
		return err
	}
	err := crew.Run(func() error { return w.solveWindow(ctx, false) })
	if err = errors.Join(err, w.publishing.wait()); err != nil {
		return err
	}
	return vfs.RemoveIfThere(w.Work, w.codesName())
}

// Stack takes all windows as found: their scores can be loaded then. It returns which of Bases are not there.
func (w *Windows) Stack() (lacks []int) {
	for i, base := range Bases(w.Grid.N, w.Codes) {
		f := foundIn{base, w.Codes}
		if !w.keeps(new(fixpoint.Kept), w.foundHeader(f), partNames(base)...) {
			lacks = append(lacks, i)
		}
		w.add(f, true)
		w.Stats.Windows++
	}
	return lacks
}
