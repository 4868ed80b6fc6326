package plan

import (
	"fmt"
	"math"

	"grenier/kernels/cpu"
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
	turn         float64 // share of sweeps in which windows are begun
	// sweep, full and seal are the time of a line in large layers, in units of its time in the small ones
	// that are calibrated: more of it misses the caches, less is opening and syncing files.
	sweep, full, seal float64
	first             float64 // the digits of the first window, in units of bits
	work              linear  // bytes, a position: the most of all streams together
}

var widths = []width{
	{
		bits: 6, values: 8, turn: 0.15, sweep: 1.3, full: 1, seal: 0.6,
		first: 0.87, work: linear{1.09, 0.01},
	},
	{
		bits: 4, values: 3, turn: 0.26, sweep: 1.24, full: 1.2, seal: 0.75,
		first: 0.68, work: linear{1.03, 0.01},
	},
	{
		bits: 3, values: 2, turn: 0.25, sweep: 1.2, full: 1.1, seal: 0.85,
		first: 1.02, work: linear{1.08, 0.01},
	},
	{
		bits: 2, values: 1, turn: 0.23, sweep: 1.25, full: 1, seal: 0.75,
		first: 0.65, work: linear{1.03, 0.01},
	},
}

// Widths returns the bits that a score takes in layers that are solved window by window.
func Widths() []int { return halfboard.Widths[1:] }

// histogram has the share of scores of a layer that are at least 0, 1, 2, ... away from 0.
type histogram struct {
	seeds  int
	beyond []float64
}

// smallHistograms are of 8 pits, evenHistograms and oddHistograms of 12, by seeds: with an odd number of them scores are
// odd more often, with an even one even.
var (
	smallHistograms = []histogram{
		{16, []float64{1, .8489, .7206, .4534, .3723, .2402, .1844, .0994, .0825, .0453, .0317, .0185, .0164, .0109, .0087, .0074, .0074}},
		{24, []float64{1, .8344, .7044, .4943, .4169, .2835, .2385, .1653, .1403, .0966, .0785, .0482, .0393, .0247, .0186, .01, .0086, .0053, .0043, .003, .0028, .0022, .0021, .002, .002}},
		{32, []float64{1, .7363, .607, .3786, .304, .195, .1615, .1119, .0952, .0679, .0585, .0431, .0378, .0276, .0241, .0178, .0153, .0108, .0087, .0053, .0044, .0029, .0023, .0015, .0014, .0011, .001, .0008, .0008, .0007, .0007, .0006, .0006}},
		{40, []float64{1, .6001, .5087, .2926, .2005, .1278, .0962, .0624, .0514, .0348, .0293, .0209, .018, .0132, .0116, .009, .0079, .006, .0053, .004, .0035, .0026, .0023, .0017, .0015, .0011, .0009, .0006, .0006, .0005, .0004, .0003, .0003, .0003, .0003, .0003, .0003, .0002, .0002, .0002, .0002}},
		{47, []float64{1, .5112, .4187, .2547, .1296, .097, .0579, .0409, .0279, .0207, .0142, .0114, .0079, .0065, .0046, .0039, .0027, .0023, .0017, .0015, .0012, .001, .0008, .0008, .0006, .0006, .0005, .0004, .0003, .0003, .0003, .0003, .0002, .0002, .0002, .0002, .0001, .0001, .0001, .0001, .0001, .0001, .0001, .0001, .0001, .0001, .0001, .0001}},
	}
	evenHistograms = []histogram{
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
	oddHistograms = []histogram{
		{17, []float64{1, .9251, .7027, .5831, .3740, .2872, .1991, .1571, .0886, .0756, .0586, .0506, .0302, .0302, .0149, .0146, .0141, .0141}},
		{23, []float64{1, .9463, .7310, .6324, .4659, .3977, .2719, .2265, .1557, .1309, .0806, .0674, .0479, .0417, .0253, .0234, .0166, .0152, .0093, .0093, .0042, .0042, .0041, .0041}},
		{29, []float64{
			1, .9528, .7526, .6698, .5028, .4393, .3188, .2757, .1913, .1634, .1132, .0970, .0636, .0539, .0367, .0317, .0198, .0172, .0121, .0108, .0066, .0063, .0043,
			.0041, .0025, .0025, .0011, .0011, .0011, .0011,
		}},
	}
)

// beyond returns the share of scores that are at least so far away from 0 with n seeds: linear
// between histograms, and as in the first and the last one outside of them. On 12 pits the last ones differ little from the
// ones before.
func beyond(game awari.Game, n, least int) float64 {
	const few, many = 8, 12
	part := min(max(float64(game.Pits()-few)/(many-few), 0), 1)
	share := 0.0
	if part < 1 {
		share += (1 - part) * beyondOf(smallHistograms, n, least)
	}
	if part > 0 {
		full := evenHistograms
		if n%2 == 1 {
			full = oddHistograms
		}
		share += part * beyondOf(full, n, least)
	}
	return share
}

// beyondOf is beyond by the given histograms.
func beyondOf(all []histogram, n, least int) float64 {
	at := func(i int) float64 {
		if h := all[i].beyond; least < len(h) {
			return h[least]
		}
		return 0
	}
	last := len(all) - 1
	for i := range last {
		if from, to := all[i].seeds, all[i+1].seeds; n < to {
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
	cost thinCost // if it is thin
	loads
}

// windows returns the windows of the layer of n seeds from the given one on.
func (r *Run) windows(w *width, n int, next step) (steps []step) {
	room := halfboard.RoomForScores(r.Game, n, w.bits, r.Memory, r.Cores)
	for next.base < max(n, 1) {
		if next.base > 0 && !next.thin && !r.Apart {
			next.thin = thinBytes(r.Game, n, next.base) <= room && halfboard.WorthThin(r.Family, n, next.base, w.bits)
		}
		if next.thin {
			next.cost = thinCostOf(r.Family)
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
	return halfboard.ThinBytes(game, n, beyond(game, n, base))
}

// thinLines is how many times as long passes over lines take in a thin window.
const thinLines = 2.0

// thinCost is how many times as long a thin window takes as another one that shows the same: for all sweeps of a layer,
// and for its own among those of the windows of the layer.
type thinCost struct{ sweep, own float64 }

// thinCostOf returns the cost with some kernels: those for BMI2 put codes into their places one line at a time (layers 22 to 26).
func thinCostOf(f cpu.Family) thinCost {
	if f == cpu.BMI2 {
		return thinCost{5, 1.4}
	}
	return thinCost{2, 1}
}

// rereads returns how often the capture values of rows are read and written again in all windows, as package halfboard says,
// in streams as long as the first ones. Those of open rows are written when a window begins, without those of scores within its
// base; those of full rows, which come last, without those of scores that it has found to be, if it is not thin. Shares are of
// open rows with their padding, as the engine counts them.
func rereads(game awari.Game, n int, steps []step, full bool) (read, written float64) {
	fill := float64(halfboard.OpenScores(game, n)) / float64(halfboard.Positions(game, n)-halfboard.Full(game, n))
	serving := 1.0
	for i, step := range steps {
		read += halfboard.Shrunk(serving)
		least := step.base
		if full {
			least++
		}
		if share := beyond(game, n, least) / fill; !(full && step.thin) && halfboard.WorthPruning(len(steps)-1-i, serving, share) {
			serving = share
			written += halfboard.Shrunk(serving)
		}
	}
	return read, written
}

// Digits take so many times their entropy, but in the first window: in thin windows, where they are bytes, and in others,
// where eight neighbours, or four, are packed together.
const (
	packed     = 0.78
	thinPacked = 1.1
)

// digitBytes returns the bytes of the digits of a window, a position of the layer of n seeds.
func (w *width) digitBytes(game awari.Game, n int, s step) float64 {
	const perByte = 8
	entropy := func(values int) (bits float64) {
		for k := range values + 1 {
			share := beyond(game, n, s.base+k)
			if k == 0 {
				share = 1
			}
			if k < values {
				share -= beyond(game, n, s.base+k+1)
			}
			if share > 0 {
				bits -= share * math.Log2(share)
			}
		}
		return bits
	}
	switch {
	case s.base == 0:
		return w.first * float64(w.bits) / perByte
	case s.thin:
		return thinPacked * entropy(halfboard.ThinValues) / perByte
	}
	return packed * entropy(w.values) / perByte
}

// Calibrations take the costs of a position of these layers together, unless a machine is
// slow.
const firstCalibrated, lastCalibrated = 15, 17

// loads are proportional to time: scores for each position, over all windows.
type loads struct {
	lines float64 // of all rows, padding included
	open  float64 // of open rows, likewise: sweeps pass them
	shown float64 // of these, those that are not 0
	full  float64 // of full rows, which are computed once
}

// plus adds loads, of a layer with some share of the positions.
func (l loads) plus(m loads, share float64) loads {
	return loads{l.lines + share*m.lines, l.open + share*m.open, l.shown + share*m.shown, l.full + share*m.full}
}

// loadsOf returns the loads of the layer of n seeds with the given windows, in units of the loads of the layers
// that are calibrated, but for those of full rows, of which these have few.
func (r *Run) loadsOf(w *width, n int, steps []step) loads {
	var sum loads
	var positions float64
	calibrated := Run{Game: calibratedGame, Cores: 1, Family: r.Family}
	for k := firstCalibrated; k <= lastCalibrated; k++ {
		share := float64(halfboard.Positions(calibratedGame, k))
		sum = sum.plus(layerLoads(calibratedGame, k, calibrated.windows(w, k, step{})), share)
		positions += share
	}
	l := layerLoads(r.Game, n, steps)
	return loads{l.lines * positions / sum.lines, l.open * positions / sum.open, l.shown * positions / sum.shown, l.full}
}

// layerLoads sets the loads of windows of the layer of n seeds, and returns their sum.
func layerLoads(game awari.Game, n int, steps []step) (l loads) {
	fill := float64(halfboard.Padded(game, n)) / float64(halfboard.Positions(game, n))
	full := fullShare(game, n)
	open := fill * (1 - full)
	for i := range steps {
		s := &steps[i]
		s.loads = loads{fill, open, open * beyond(game, n, s.base+1), full}
		if s.thin {
			s.loads = loads{s.lines * thinLines, s.open * thinLines, s.shown * s.cost.sweep, s.full * thinLines}
		}
		l = l.plus(s.loads, 1)
	}
	return l
}

// Larger layers miss the caches more often: captures and sweeps take growth of their time more for each doubling of the
// positions, up to mostGrown, beyond the layers that are calibrated, or to which widths are fitted. With AVX-512 it
// was 0.05 on layers 16 to 21 of one machine, nothing on layers 18 to 27 of another; others hardly wait for memory, on layers 20 to 26.
const (
	growthAVX512 = 0.025
	growthOthers = 0.01
	mostGrown    = 1.4
	wholeFrom    = 1 << 24
	windowedFrom = 80e6
)

// grown returns how many times as long captures and sweeps take for a position with some kernels.
func (a *Amounts) grown(kernel string) float64 {
	from, growth := float64(windowedFrom), growthOthers
	if a.InMemory() {
		from = wholeFrom
	}
	if kernel == cpu.AVX512.String() {
		growth = growthAVX512
	}
	return min(1+growth*max(math.Log2(float64(a.Positions)/from), 0), mostGrown)
}

// wholeLoads returns the loads of the layer of n seeds in one piece: the caches matter more there than padding.
func wholeLoads(game awari.Game, n int) loads {
	full := fullShare(game, n)
	return loads{open: (1 - full) / (1 - fullShare(calibratedGame, lastCalibrated)), full: full}
}

// fullShare returns the share of positions in full rows.
func fullShare(game awari.Game, n int) float64 {
	return float64(halfboard.Full(game, n)) / float64(halfboard.Positions(game, n))
}

// lowerCalibrated is how many positions of the layers below the layers that are calibrated have for each of their own: with
// n seeds n(n-1) / 12(n+11). It is 3.2 with 48 seeds, so captures take longer there.
const lowerCalibrated = 0.76

// sparingDecode is the cost of decoding a score in windows, where files are read by system calls, for that of a mapped file.
const sparingDecode = 1.6

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

// fullRow is the time for a score of a full row in a window, or in one piece, for that of all sweeps of an open one in one
// piece: as on 8 pits with 44 to 48 seeds, where most rows are full.
const fullRow = 1.0 / 8

// captureBytes is the size of packed capture values: bytes a position, fitted to 22 and 28 seeds. Those of full rows take
// fullCaptures times as much as those of open rows.
var captureBytes = linear{0.361, 0.003}

const fullCaptures = 1.26

const (
	// keptBytes is the bytes that checkpoints of a layer in memory take for a position: 0.69 for
	// offers, and twice 0.56 for found scores, the old and the new (22 seeds). Layers with
	// fewer positions than leastKept are solved before one is made, as a rule.
	keptBytes = 1.9
	leastKept = 1 << 30
)

// fileBytes is the bytes of a position in a layer file, fitted to 28 to 36 seeds (0.448 with 28, 0.4655 with 33 to 36).
// Elsewhere it is too large rather than too small, since the entropy grows more and more slowly.
var fileBytes = linear{0.43, 0.003}

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
		fmt.Sprintf("a position of a layer file grows by %.4f bytes with each seed, as between 28 and 36 seeds", fileBytes.perSeed),
		"layers below are read from the disk; each pass reads the part that its captures lead to, as fitted to 16 to 24 seeds",
	}
	for _, l := range p.Layers {
		if !l.InMemory() {
			return append(all,
				"scores of layers above 36 are as far from 0 as those of 36, or of 29 if seeds are odd; bytes of streams depend on them as between 18 and 22 seeds",
				"reading and writing overlap with computing in each step; steps follow each other")
		}
	}
	return all
}
