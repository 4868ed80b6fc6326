package plan

import (
	"fmt"
	"math"

	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard"
)

// Measured costs of layers: rules awari, 12 pits, one worker, processor time on a shared virtual machine. Layers
// 15 to 22, 2026-11-22, fitted without layer 22; 3 bits with layers 15 to 20, 2026-11-23:
// testdata/widths.txt, which has all widths of that run.
// docs/plan.md says how to fit it again.

// linear grows by the same with each seed.
type linear struct{ at22, perSeed float64 }

// of returns the value for n seeds.
func (l linear) of(n int) float64 { return max(0, l.at22+l.perSeed*float64(n-22)) }

// width has the measured costs of layers with one width of scores in memory, over all windows.
type width struct {
	bits, values int
	size         int     // bits of a digit that is not signed
	turn         float64 // share of sweeps in which windows are begun
	// sweep, full and seal are the time of a line in large layers, in units of its time in the small ones
	// that are calibrated: more of it misses the caches, less is opening and syncing files.
	sweep, full, seal float64
	work              linear // bytes, a position: the most of all streams together
}

var widths = []width{
	{
		bits: 6, values: 8, size: 4, turn: 0.15, sweep: 1.3, full: 1, seal: 0.6,
		work: linear{1.24, 0.01},
	},
	{
		bits: 4, values: 3, size: 2, turn: 0.26, sweep: 1.24, full: 1.2, seal: 0.75,
		work: linear{1.39, 0.014},
	},
	{
		bits: 3, values: 2, size: 2, turn: 0.25, sweep: 1.2, full: 1.1, seal: 0.85,
		work: linear{1.75, 0.014},
	},
	{
		bits: 2, values: 1, size: 1, turn: 0.23, sweep: 1.25, full: 1, seal: 0.75,
		work: linear{1.4, 0.014},
	},
}

// Widths returns the bits that a score takes in layers that are solved window by window.
func Widths() []int { return halfboard.Widths[1:] }

// histograms has the share of scores that are at least 0, 1, 2, ... away from 0, by seeds.
var histograms = []struct {
	seeds  int
	beyond []float64
}{
	{16, []float64{1, .8892, .7753, .4813, .3898, .274, .2254, .1189, .1031, .0805, .0698, .0385, .0385, .0206, .0202, .0196, .0196}},
	{22, []float64{1, .8817, .7753, .585, .5015, .3437, .2855, .1994, .1666, .1008, .0835, .059, .0509, .0318, .0294, .021, .0192, .012, .012, .0056, .0056, .0055, .0055}},
	{28, []float64{
		1, .897, .8039, .6154, .5398, .398, .3448, .2423, .2073, .1444, .1232, .0804, .0679, .0463, .0397, .0244, .021, .0147, .0131, .0079, .0075, .0052, .0049,
		.003, .003, .0013, .0013, .0012, .0012,
	}},
	{36, []float64{
		1, .891, .8031, .6097, .5394, .3956, .3462, .2501, .2186, .1585, .1387, .1004, .088, .0638, .056, .0399, .035, .0251, .0221, .0152, .0134, .0094, .0084,
		.0055, .0049, .0035, .0032, .002, .0019, .0012, .0012, .0007, .0007, .0003, .0003, .0003, .0003,
	}},
}

// beyond returns the share of scores that are at least so far away from 0 with n seeds: linear
// between histograms, and as with 16 or 36 seeds, which differ little from 28, outside of them.
func beyond(n, least int) float64 {
	at := func(i int) float64 {
		if h := histograms[i].beyond; least < len(h) {
			return h[least]
		}
		return 0
	}
	last := len(histograms) - 1
	for i := range last {
		if from, to := histograms[i].seeds, histograms[i+1].seeds; n < to {
			part := float64(max(n, from)-from) / float64(to-from)
			return (1-part)*at(i) + part*at(i+1)
		}
	}
	return at(last)
}

// step is a window of a plan, and its share of the loads of its layer.
type step struct {
	base int
	thin bool
	loads
}

// windows returns the windows of the layer of n seeds from the given one on.
func (r *Run) windows(w *width, n int, next step) (steps []step) {
	room := halfboard.RoomForScores(r.Game, n, w.bits, r.Memory, r.Cores)
	for next.base < max(n, 1) {
		if next.base > 0 && !next.thin {
			next.thin = thinBytes(r.Game, n, next.base) <= room && halfboard.WorthThin(r.Family, n, next.base, w.bits)
		}
		steps = append(steps, next)
		if next.thin {
			next.base += halfboard.ThinValues
		} else {
			next.base += w.values
		}
	}
	return steps
}

// thinBytes returns the memory of a thin window with the given base.
func thinBytes(game awari.Game, n, base int) int {
	return halfboard.ThinBytes(game, n, beyond(n, base))
}

// What a thin window takes for what another one takes that shows the same: for sweeps, and for
// passes over lines.
const (
	thinSweep = 2.0
	thinLines = 2.0
)

// Windows read the values of captures in their streams, and write them again when few scores are left,
// as package halfboard says: if more than left windows come, and if the share of those scores falls
// below pruned. Streams take packed of that share, to the power packing.
const (
	pruned  = 0.6
	left    = 3
	packing = 0.62
)

// rereads returns how often the capture values are read and written again in all windows, in streams
// as long as the first ones.
func rereads(n int, steps []step) (read, written float64) {
	serving := 1.0
	for i, step := range steps {
		read += math.Pow(serving, packing)
		if share := beyond(n, step.base); len(steps)-i > left && share < pruned*serving {
			serving = share
			written += math.Pow(serving, packing)
		}
	}
	return read, written
}

// Digits take stored of their bits in the first window, and in others, where LZ4 packs them, so many
// times their entropy: in thin windows, where they are bytes, and elsewhere unless the share of scores that
// are searched is dense.
const (
	stored     = 0.95
	packed     = 1.15
	thinPacked = 1.5
	dense      = 0.4
)

// digitBytes returns the bytes of the digits of a window, a position of the layer of n seeds.
func (w *width) digitBytes(n int, s step) float64 {
	const perByte = 8
	entropy := func(values int) (bits float64) {
		for k := range values + 1 {
			share := beyond(n, s.base+k)
			if k == 0 {
				share = 1
			}
			if k < values {
				share -= beyond(n, s.base+k+1)
			}
			if share > 0 {
				bits -= share * math.Log2(share)
			}
		}
		return bits
	}
	size := float64(w.size)
	switch {
	case s.base == 0:
		return stored * float64(w.bits) / perByte
	case s.thin:
		return thinPacked * entropy(halfboard.ThinValues) / perByte
	case beyond(n, s.base) > dense:
		return size / perByte
	}
	return min(size, packed*entropy(w.values)) / perByte
}

// Calibrations take the costs of a position of these layers together, unless a machine is
// slow.
const firstCalibrated, lastCalibrated = 15, 17

// loads are proportional to time.
type loads struct {
	lines float64 // scores that sweeps pass, over all windows, padding included
	shown float64 // likewise, where scores are not 0
}

// loadsOf returns the loads of the layer of n seeds with the given windows, in units of the loads of the layers
// that are calibrated.
func (r *Run) loadsOf(w *width, n int, steps []step) loads {
	var sum loads
	var positions float64
	calibrated := Run{Game: calibratedGame, Cores: 1, Family: r.Family}
	for k := firstCalibrated; k <= lastCalibrated; k++ {
		l := layerLoads(calibratedGame, k, calibrated.windows(w, k, step{}))
		share := float64(halfboard.Positions(calibratedGame, k))
		sum.lines += share * l.lines
		sum.shown += share * l.shown
		positions += share
	}
	l := layerLoads(r.Game, n, steps)
	return loads{l.lines * positions / sum.lines, l.shown * positions / sum.shown}
}

func layerLoads(game awari.Game, n int, steps []step) (l loads) {
	fill := float64(halfboard.Padded(game, n)) / float64(halfboard.Positions(game, n))
	for i := range steps {
		s := &steps[i]
		s.loads = loads{fill, fill * beyond(n, s.base+1)}
		if s.thin {
			s.loads = loads{s.lines * thinLines, s.shown * thinSweep}
		}
		l.lines, l.shown = l.lines+s.lines, l.shown+s.shown
	}
	return l
}

// calibratedGame is the game that is calibrated.
var calibratedGame = func() awari.Game {
	game, err := awari.New(awari.MaxPits, awari.Awari)
	if err != nil {
		panic(err) // it exists
	}
	return game
}()

// widthOf returns the costs of scores of the given bits.
func widthOf(bits int) *width {
	for i := range widths {
		if widths[i].bits == bits {
			return &widths[i]
		}
	}
	panic(fmt.Sprintf("no costs of scores of %d bits", bits)) // TestWidths has all
}

// captureBytes is the size of packed capture values: bytes a position.
var captureBytes = linear{0.414, 0.004}

const (
	// keptBytes is the bytes that checkpoints of a layer in memory take for a position: 0.69 for
	// offers, and twice 0.56 for found scores, the old and the new (22 seeds). Layers with
	// fewer positions than leastKept are solved before one is made, as a rule.
	keptBytes = 1.9
	leastKept = 1 << 30
)

// fileBytes is the bytes of a position in a layer file, fitted to 14 to 24 seeds. Extrapolated it
// is too large rather than too small, since the entropy grows more slowly.
var fileBytes = linear{0.427, 0.0044}

// fileSize returns about the bytes of the file of a layer.
func fileSize(n int, positions uint64) uint64 {
	const leastBytes = 0.3          // a position
	const least, model = 400, 30000 // header, index and model
	perPosition := max(fileBytes.of(n), leastBytes)
	return uint64(perPosition*float64(positions)) + min(least+positions, model)
}

// Assumptions says what a plan rests on besides the calibration, a sentence each.
func (p *Plan) Assumptions() []string {
	all := []string{
		fmt.Sprintf("a position of a layer file grows by %.4f bytes with each seed, as between 14 and 24 seeds", fileBytes.perSeed),
		"layers below are read from the disk; each pass reads the part that its captures lead to, as fitted to 16 to 24 seeds",
	}
	for _, l := range p.Layers {
		if !l.InMemory() {
			return append(all,
				"scores of layers above 36 are as far from 0 as those of 36; bytes of streams depend on them as between 18 and 22 seeds",
				"reading and writing overlap with computing in each step; steps follow each other")
		}
	}
	return all
}
