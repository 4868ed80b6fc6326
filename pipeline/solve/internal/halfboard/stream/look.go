package stream

import (
	"context"
	"slices"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
	"grenier/kernels/window"
	"grenier/pipeline/solve/internal/halfboard/board"
	"grenier/pipeline/solve/internal/halfboard/fixpoint"
)

// Streams of earlier runs are read to their end before they are used: checksums find
// what the disk has changed, and impossible contents what another program has.

// look tells that streams of earlier runs are read now, if there are any, and returns what ends that.
func (s *Streams) look(kept fixpoint.Kept) (end func()) {
	if kept.Bytes > 0 {
		s.Looking.Store(&kept)
	}
	return func() { s.Looking.Store(nil) }
}

// tellLook tells that some bytes more than those counted are read.
func (s *Streams) tellLook(more float64) {
	if kept := s.Looking.Load(); kept != nil {
		s.Tell(fixpoint.CaptureStage, min((float64(s.looked.Load())+more)/float64(kept.Bytes), 1))
	}
}

// keeps adds the bytes of streams to kept, if there are all of them with such a header.
func (s *Streams) keeps(kept *fixpoint.Kept, h spill.Header, names ...string) bool {
	bytes := int64(0)
	for _, name := range names {
		found, err := spill.ReadHeader(s.Work, name)
		info, failed := s.Work.Lstat(name)
		if err != nil || failed != nil || found.Expect(name, h) != nil {
			return false
		}
		bytes += info.Size()
	}
	kept.Bytes += bytes
	return true
}

// kept returns what the work directory has of the layer.
func (w *Windows) kept() (kept fixpoint.Kept) {
	for more := true; more && kept.Base < max(1, w.Grid.N); {
		more = slices.ContainsFunc(codesOf(kept.Base), func(codes *window.Codes) bool {
			f := foundIn{kept.Base, codes}
			if !w.keeps(&kept, w.foundHeader(f), partNames(f.base)...) {
				return false
			}
			kept.Base += codes.Values
			return true
		})
	}
	kept.Swept = slices.ContainsFunc(codesOf(kept.Base), func(codes *window.Codes) bool {
		return w.keeps(new(fixpoint.Kept), w.codesHeader(foundIn{kept.Base, codes}), rundir.FoundName)
	})
	whole := 0
	for segment := range w.segments {
		if w.keepsCaptures(&kept, segment) {
			whole++
		}
	}
	kept.Captures = float64(whole) / float64(len(w.segments))
	return kept
}

// keepsCaptures is keeps for the capture values of a segment.
func (w *Windows) keepsCaptures(kept *fixpoint.Kept, segment int) bool {
	return w.keeps(kept, w.capturesHeader(), rundir.CapturesName(segment, false), rundir.CapturesName(segment, true))
}

// lookAtCaptures reads the capture values of a segment to their end. It fails if there is
// one that the layer cannot have.
func (w *Windows) lookAtCaptures(ctx context.Context, r *spill.Reader, segment int, class board.RowClass) error {
	clipped, err := w.readBase(r)
	if err != nil {
		return err
	}
	strips := slices.Collect(stripsOf(w.segments[segment], class))
	possible := possibleValues(w.Grid.N - clipped)
	err = crew.Ordered[*stripJob]{
		Read: func(i int, j *stripJob) error {
			w.tellLook(float64(r.Bytes()) * float64(i) / float64(len(strips)))
			return j.packet.read(r, StripRows*board.Side)
		},
		Work: func(_, i int, j *stripJob) error {
			if err := j.unpack(w.code.planes, r.Path(), strips[i]); err != nil {
				return err
			}
			if !possible.all(asBytes(j.captures)) {
				return corrupt.New(r.Path(), "", "a capture value beyond -%d and %d", w.Grid.N-clipped, w.Grid.N-clipped)
			}
			return nil
		},
	}.Run(ctx, w.Workers, len(strips), spares[stripJob](w.Workers))
	if err != nil {
		return err
	}
	return atEnd(r)
}

// lookAtLines reads size bytes of a stream: lines of codes, or of digits. It fails unless
// all are valid, as several goroutines ask. Tell gets the bytes that are left.
func (w *Windows) lookAtLines(ctx context.Context, r *spill.Reader, size int, valid func(lines []int8) bool, tell func(left int)) error {
	const piece = codesPiece
	return crew.Ordered[*[]byte]{
		Read: func(i int, b *[]byte) error {
			tell(size - i*piece)
			n := min(piece, size-i*piece)
			*b = slices.Grow((*b)[:0], n)[:n]
			return readFull(r, *b)
		},
		Work: func(_, _ int, b *[]byte) error {
			if !valid(asScores(*b)) {
				return corrupt.New(r.Path(), "", "a code that does not exist")
			}
			return nil
		},
	}.Run(ctx, w.Workers, (size+piece-1)/piece, spares[[]byte](w.Workers))
}

// byteSet has 1 for each forbidden byte.
type byteSet [256]uint8

func (s *byteSet) all(b []byte) bool {
	lacks := uint8(0)
	for _, x := range b {
		lacks |= s[x]
	}
	return lacks == 0
}

// possibleValues are the capture values from -n to n, as stored.
func possibleValues(n int) *byteSet {
	s := &byteSet{}
	for x := range s {
		value := int(int8(x))
		if value < window.NoCapture+window.OnlyCaptures {
			value -= window.OnlyCaptures
		}
		if value < -n-1 || value > n {
			s[x] = 1
		}
	}
	return s
}
