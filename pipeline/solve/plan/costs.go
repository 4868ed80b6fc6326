package plan

import (
	"fmt"

	"grenier/io/layerfile"
	"grenier/layers/awari"
	"grenier/pipeline/solve/internal/halfboard"
)

// What layers took: rules awari, 12 pits, layers 15 to 22, one worker, processor time on a
// shared virtual machine, 2026-11-22: testdata/widths.txt, fitted without layer 22.
// docs/plan.md says how to fit it again. Bytes are fitted to layers 26 to 36 too, of runs in
// docs/runs.md.

// linear is what grows by the same with each seed.
type linear struct{ at22, perSeed float64 }

// of returns the value for n seeds.
func (l linear) of(n int) float64 { return max(0, l.at22+l.perSeed*float64(n-22)) }

// width is what layers took with one width of scores in memory, over all windows.
type width struct {
	bits, values int
	shown        shown
	turn         float64 // share of sweeps in which windows are begun
	// sweep, full and seal are what large layers take for each line, for what small ones do
	// that are calibrated: more of them misses the caches, less is opening and syncing files.
	sweep, full, seal               float64
	reread, rewritten, digits, work linear // bytes, a position
}

// reread and rewritten are captures, work is the most of all streams together.
var widths = []width{
	{
		bits: 6, values: 8, shown: shown{0.99, 1.02, 1.08}, turn: 0.15, sweep: 1.45, full: 0.92, seal: 0.65,
		reread: linear{1.75, 0}, rewritten: linear{0.75, 0}, digits: linear{0.83, 0.01}, work: linear{1.4, 0.01},
	},
	{
		bits: 4, values: 3, shown: shown{1.52, 1.74, 1.95}, turn: 0.26, sweep: 1.28, full: 0.95, seal: 0.6,
		reread: linear{2, 0.03}, rewritten: linear{0.75, 0.01}, digits: linear{0.99, 0.018}, work: linear{1.2, 0.01},
	},
	{
		bits: 2, values: 1, shown: shown{3.57, 4.2, 4.85}, turn: 0.23, sweep: 1.3, full: 0.84, seal: 0.55,
		reread: linear{4.6, 0.07}, rewritten: linear{1, 0}, digits: linear{1.3, 0.02}, work: linear{1.31, 0.014},
	},
}

// Widths returns the bits that a score takes in layers that are solved window by window.
func Widths() []int { return halfboard.Widths[1:] }

// shown is in how many windows a score is not 0 with 16, 22 and 32 seeds, from histograms of
// layers: linear in between, and extrapolated.
type shown [3]float64

// of returns the value for n seeds.
func (s shown) of(n int) float64 {
	if n < 22 {
		return max(0, s[1]+(s[1]-s[0])/6*float64(n-22))
	}
	return s[1] + (s[2]-s[1])/10*float64(n-22)
}

// prunes reports whether captures of a layer of n seeds are written again, without what is done:
// package halfboard does that when three windows and more are to come after the second.
func (w *width) prunes(n int) bool { return n > 4*w.values }

// windows returns the number of windows of a layer of n seeds.
func (w *width) windows(n int) int { return max(1, (n+w.values-1)/w.values) }

// Calibrations take the costs of a position of these layers together, unless a machine is
// slow.
const firstCalibrated, lastCalibrated = 15, 17

// loads are what times of a position grow with.
type loads struct {
	lines float64 // scores that sweeps pass, over all windows, padding included
	shown float64 // likewise, where scores are not 0
}

// loadsOf returns those of the layer of n seeds, for those of the layers that are calibrated.
func (w *width) loadsOf(game awari.Game, n int) loads {
	var sum loads
	var positions float64
	for k := firstCalibrated; k <= lastCalibrated; k++ {
		l := w.layerLoads(calibratedGame, k)
		share := float64(halfboard.Positions(calibratedGame, k))
		sum.lines += share * l.lines
		sum.shown += share * l.shown
		positions += share
	}
	l := w.layerLoads(game, n)
	return loads{l.lines * positions / sum.lines, l.shown * positions / sum.shown}
}

func (w *width) layerLoads(game awari.Game, n int) loads {
	fill := float64(halfboard.Padded(game, n)) / float64(halfboard.Positions(game, n))
	return loads{fill * float64(w.windows(n)), fill * w.shown.of(n)}
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

// captureBytes is what captures give, packed: bytes a position.
var captureBytes = linear{0.585, 0}

const (
	// codesPacked is the bytes of a checkpoint of scores for each byte that they take in
	// memory.
	codesPacked = 0.8

	// keptBytes is what checkpoints of a layer in memory take for a position: 0.69 bytes for
	// offers, and twice 0.56 for found scores, the old and the new (22 seeds). Layers with
	// fewer positions than leastKept are solved before one is made, as a rule.
	keptBytes = 1.9
	leastKept = 1 << 30
)

// fileBytes is the bytes of a position in a layer file, fitted to 14 to 24 seeds. Extrapolated it
// is too large rather than too small, since the entropy grows more slowly. zstd saves too little
// to count.
var fileBytes = linear{0.427, 0.0044}

// fileSize returns about the bytes of the file of a layer.
func fileSize(n int, positions uint64, codec layerfile.Codec) uint64 {
	const leastBytes = 0.3          // a position
	const least, model = 400, 30000 // header, index and model
	perPosition := max(fileBytes.of(n), leastBytes)
	if codec == layerfile.Zstd {
		perPosition *= 0.997
	}
	return uint64(perPosition*float64(positions)) + min(least+positions, model)
}

// Assumptions says what a plan rests on besides the calibration, a sentence each.
func (p *Plan) Assumptions() []string {
	all := []string{
		"cores beyond those measured slow each other down as those do; memory bandwidth is not measured",
		fmt.Sprintf("a position of a layer file grows by %.4f bytes with each seed, as between 14 and 24 seeds", fileBytes.perSeed),
		"layers below are read from the disk, once in each pass",
	}
	for _, l := range p.Layers {
		if !l.InMemory() {
			return append(all,
				"scores and bytes of streams go on to grow with the seeds as between 15 and 32 seeds",
				"reading and writing overlap with computing in each step; steps follow each other")
		}
	}
	return all
}
