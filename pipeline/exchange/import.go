package exchange

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"grenier/io/frame"
	"grenier/io/memory"
	"grenier/io/vfs"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// Import seals the scores of the file at path as the next layer of game in the run directory
// dir, which is created for layer 0. The codec may be Detected. It checks the length of the file, the checksum of a
// frame, and that scores are in range. Whether they are right is for package verify.
//
// It fails with ErrFormat, with a *memory.Error, with an error that matches corrupt.ErrCorrupt
// when the file, or a layer below, does not hold what it should, and like solve.Add.
func Import(ctx context.Context, dir, path string, game awari.Game, o Options) (solve.Report, error) {
	o.Workers = max(1, o.Workers)
	i, err := newIntake(path, game, o)
	if err != nil {
		return solve.Report{}, err
	}
	return solve.Add(ctx, dir, game, o.Seeds, solve.Options{
		Skip: o.Skip,
		Job:  job.Job{Memory: o.Memory, Workers: o.Workers, Family: o.Family, Progress: func(s job.Step) { i.report("sealing", s.Detail.(solve.Progress).Done) }},
	}, i.open)
}

// intake is an import in progress.
type intake struct {
	Options
	path   string
	game   awari.Game
	began  time.Time
	shape  *shape
	scores uint64 // in the file
	room   uint64 // bytes of memory beyond the least
	before uint64 // steps of the stages that are done
	total  uint64 // steps
}

// newIntake checks what can be checked before anything is changed.
func newIntake(path string, game awari.Game, o Options) (*intake, error) {
	if o.Format != Colex && o.Format != Vu {
		return nil, fmt.Errorf("%w %s: must be colex or vu", ErrFormat, o.Format)
	}
	if err := o.Format.check(game); err != nil {
		return nil, err
	}
	s, err := newShape(game, o.Seeds)
	if err != nil {
		return nil, err
	}
	if o.From == nil && o.Codec == Detected {
		o.Codec, err = detect(path)
	} else if o.From == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	i := &intake{Options: o, path: path, game: game, began: time.Now(), shape: s, scores: s.Positions()}
	need := uint64(baseMemory)
	if o.Format == Vu {
		i.scores = s.reachable()
		need += s.full() + uint64(o.Workers)*columnBytes(s) + leastCache
	}
	if o.Codec != frame.None {
		need += frame.LeastRoom
	}
	if o.Memory > 0 && need > o.Memory {
		return nil, &memory.Error{What: fmt.Sprintf("layer %d from %s", o.Seeds, o.Format), Need: need, Allowed: o.Memory}
	}
	if o.Memory > 0 {
		i.room = o.Memory - need
	} else {
		i.room = math.MaxInt64 / 2
	}
	i.total = s.Positions()
	if i.copied() {
		i.total += i.scores
	}
	if o.Format == Vu {
		i.total += s.full() * fullSteps
	}
	return i, nil
}

// copied reports whether scores go to a file in the work directory first.
func (i *intake) copied() bool { return i.Codec != frame.None || i.From != nil }

// leastCache is the least cache for layers below.
const leastCache = 4 << 20

// columnBytes returns the most bytes that a worker takes who computes scores of full
// boards, and encodes.
func columnBytes(s *shape) uint64 { return awari.MaxPits/2*s.halves.Half().Size(s.n) + 2<<20 }

// fullSteps is how many scores are sealed in the time in which the score of a full board is
// computed, about.
const fullSteps = 32

// report reports how many steps of a stage are done.
func (i *intake) report(stage string, done uint64) {
	s := job.OfLayer(i.Seeds, 0, i.before+done, i.total)
	s.Doing += ", " + stage
	s.Unit = job.Shares
	pace := s.PaceAfter(time.Since(i.began))
	s.Pace = &pace
	i.Tell(s)
}

// open opens the file for solve.Add.
func (i *intake) open(ctx context.Context, lower *tables.Tables, work vfs.Dir) (solve.Source, error) {
	in := &input{path: i.path, scores: i.scores, most: int8(i.Seeds)}
	err := in.open(ctx, i.From, i.Codec, work, frame.LeastRoom+i.room, func(done uint64) { i.report("unpacking", done) })
	if errors.Is(err, frame.ErrRoom) && i.room < frame.MostRoom {
		return nil, &memory.Error{What: "unpacking " + i.path, Need: i.Memory - i.room + frame.MostRoom, Allowed: i.Memory}
	}
	if err != nil {
		return nil, err
	}
	if i.copied() {
		i.before += i.scores
	}
	if i.Format == Colex {
		return &colexSource{shape: i.shape, input: in}, nil
	}
	source := &vuSource{shape: i.shape, input: in}
	lower.Resize(min(leastCache+i.room/2, tables.DefaultCacheBytes))
	f := &filler{game: i.game, source: source, lower: lower}
	if err := f.fill(ctx, i.Workers, func(done uint64) { i.report("full boards", done*fullSteps) }); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	i.before += i.shape.full() * fullSteps
	return source, nil
}

// colexSource reads layers from colex files.
type colexSource struct {
	*shape
	*input
}

// Read fills dst with the scores from rank start on.
func (c *colexSource) Read(start uint64, dst []int8) error { return c.read(start, dst) }

// vuSource reads layers from vu files.
type vuSource struct {
	*shape
	*input
	filled []int8 // scores of the full boards, in colex order
}

// Read fills dst with the scores from rank start on. As long as full boards are not
// known, no rank may be of one.
func (v *vuSource) Read(start uint64, dst []int8) error {
	end := start + uint64(len(dst))
	fullStart, err := v.fullBefore(start)
	if err != nil {
		return err
	}
	fullEnd, err := v.fullBefore(end)
	if err != nil {
		return err
	}
	kept := dst[:uint64(len(dst))-(fullEnd-fullStart)]
	if err := v.read(v.reachable()-(end-fullEnd), kept); err != nil {
		return err
	}
	slices.Reverse(kept)
	var all []span
	if err := v.spans(start, end, func(x span) { all = append(all, x) }); err != nil {
		return err
	}
	// From the end on, scores move towards it, never over others that are to be moved.
	for _, x := range slices.Backward(all) {
		to := dst[x.from-start : x.to-start]
		if x.full {
			fullEnd -= uint64(len(to))
			copy(to, v.filled[fullEnd:])
			continue
		}
		copy(to, kept[len(kept)-len(to):])
		kept = kept[:len(kept)-len(to)]
	}
	return nil
}
