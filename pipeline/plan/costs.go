package plan

import (
	"fmt"
	"math"
	"slices"

	"grenier/io/layerfile"
)

// What layers took that did not fit into memory: rules awari, 12 pits, 22 and 23 seeds, 2
// workers, 2026-11-21. To fit them anew, solve with different --memory and --json, and
// compare "pipeline" and "stage_seconds" of the layers with those of plan --json.

// moved says how much of a layer comes and goes, by the share of the scores that can be
// in memory at once: bytes over all sweeps and sealing, for each byte of scores, and the
// largest size of the work file, for each byte that it must hold: space is used again only
// after a checkpoint. Between the rows it is linear.
//
// The rows from 0.14 to 0.79 are fitted to nine layers (TestMeasured has eight; that of
// 0.22 is of an engine with smaller tiles), the others are drawn through.
var moved = []struct{ share, fetched, saved, file float64 }{
	{0.00, 200, 12.5, 1.9},
	{0.14, 88, 10.6, 1.9},
	{0.22, 53, 9.5, 1.9},
	{0.34, 37, 8.7, 1.8},
	{0.51, 21, 8.3, 1.8},
	{0.56, 18, 7.1, 1.8},
	{0.67, 13.2, 5.9, 1.7},
	{0.79, 7.6, 3.6, 1.65},
	{0.97, 2, 1.5, 1.1},
	{1.00, 0.4, 1, 1},
}

// movedAt returns the bytes fetched and saved, and the size of the work file, each for one
// byte.
func movedAt(share float64) (fetched, saved, file float64) {
	last := moved[0]
	for _, m := range moved[1:] {
		if share < m.share {
			part := (share - last.share) / (m.share - last.share)
			between := func(a, b float64) float64 { return a + part*(b-a) }
			return between(last.fetched, m.fetched), between(last.saved, m.saved), between(last.file, m.file)
		}
		last = m
	}
	return last.fetched, last.saved, last.file
}

const (
	// keptBytes is what checkpoints of a layer in memory take for a position: 0.69 bytes for
	// offers, and twice 0.56 for found scores, the old and the new (22 seeds). Layers with
	// fewer positions than leastKept are solved before one is made, as a rule.
	keptBytes = 1.9
	leastKept = 1 << 30

	// offerLoads is how often offers are read that do not fit beside all scores: the
	// bytes read, for each byte that is stored.
	offerLoads = 13.0
	// coarser is how much more is fetched if tiles are twice as large as usualTile, the
	// bytes of a tile of the layers above: 53 / 39 if they are twice as wide and as high
	// (benchmarks.md). Layers 26 to 28 within 1 GiB and 30 to 32 within 4 GiB, runs.md,
	// agree with that within a quarter.
	coarser   = 1.166
	usualTile = 5000

	// wasted is the bytes that the disk transfers besides with each tile that is read:
	// gaps and whole pages; mostWasted is the most, for each byte that is read.
	wasted     = 12000
	mostWasted = 0.6

	// overlapped is the share of the time of sweeps in which the disk reads.
	overlapped = 0.2

	// fetchSystem is nanoseconds of a core for a byte that is fetched, in the operating
	// system: pages are given, taken and copied. 2.1 to 2.7 were measured, in a busy
	// virtual machine.
	fetchSystem = 2.2

	// The time of processors, for that in memory and in a tight loop. Groups are gone
	// through several times, tiles are small, and offers are unpacked each time; less so
	// if all scores and offers stay in memory. These are estimates: what is left of the
	// processor time of a few layers of 22 seeds, on a busy machine, when the other steps
	// are taken off. The factors below sweeps are guesses.
	sweepFactor     = 3.8
	sweepFactorHeld = 2.3
	captureFactor   = 3.6 // lower layers are read in pieces, some several times: runs.md
	sealFactor      = 3.5 // rows are put together from tiles: runs.md
	packFactor      = 2   // checksums, places
	unpackFactor    = 3   // checksums, places
)

// A score takes more bytes in layers with more seeds, which have more different ones.
// Seen from 14 to 24 seeds, the growth is linear; taken to go on, it is too large rather
// than too small.
const (
	growth     = 0.0044 // bytes a score and seed, in all packed forms
	seenSeeds  = 22     // where the following are seen
	fileBytes  = 0.427  // of a layer file, a position; zstd takes off what does not count
	tileBytes  = 0.525  // a score in the work file
	offerBytes = 0.544  // an offer in the work file
)

// grown returns the bytes of a score in the layer of n seeds.
func grown(bytes float64, n int) float64 {
	return max(bytes+growth*float64(n-seenSeeds), 0.3)
}

// fileSize returns about the bytes of the file of a layer.
func fileSize(n int, positions uint64, codec layerfile.Codec) uint64 {
	const least, model = 400, 30000 // header, index and model
	perPosition := grown(fileBytes, n)
	if codec == layerfile.Zstd {
		perPosition *= 0.997
	}
	return uint64(perPosition*float64(positions)) + min(least+positions, model)
}

// passes returns about the number of sweeps over a layer of n seeds: 39 to 58 were
// measured at 22 seeds, 26 to 33 at 20, in and out of memory.
func passes(n int) int { return int(math.Round(2.2 * float64(n))) }

// Assumptions says what a plan rests on besides the calibration, a sentence each.
func (p *Plan) Assumptions() []string {
	all := []string{
		"cores beyond those measured slow each other down as those do; memory bandwidth is not measured",
		fmt.Sprintf("a packed score grows by %.4f bytes with each seed, as between 14 and 24 seeds", growth),
	}
	if !slices.ContainsFunc(p.Layers, func(l Layer) bool { return !l.InMemory }) {
		return all
	}
	return append(all,
		"scores come and go as often as in layers 22 and 23 with the same share of them in memory, more often with larger tiles",
		fmt.Sprintf("the system takes %.1f ns of a core for each byte fetched, as in a virtual machine with 2 cores", fetchSystem),
		fmt.Sprintf("reading and unpacking overlap each other, and %.0f %% of the sweeps; other steps follow each other", 100*overlapped),
	)
}
