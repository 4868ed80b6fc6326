package plan

import (
	"math"

	"grenier/io/layerfile"
)

// What layers took that did not fit into memory: rules awari, 12 pits, 21 to 24 seeds, 2
// workers, 2026-11-21. To fit them anew, solve with different --memory and --json, and
// compare "pipeline" and "stage_seconds" of the layers with those of plan --json.

// moved says how much of a layer comes and goes, by the share of the scores that can be
// in memory at once. Fetched and saved are bytes over all sweeps and sealing, for each
// byte of scores. Between the rows it is linear.
var moved = []struct{ share, fetched, saved float64 }{
	{0.00, 110, 16},
	{0.15, 61, 12},
	{0.25, 53, 12},
	{0.28, 45, 12},
	{0.50, 22, 9.5},
	{0.60, 18, 8},
	{0.75, 11, 5},
	{0.97, 2, 1.5},
	{1.00, 0.5, 1.5},
}

// movedAt returns the bytes fetched and saved for each byte of scores.
func movedAt(share float64) (fetched, saved float64) {
	last := moved[0]
	for _, m := range moved[1:] {
		if share < m.share {
			part := (share - last.share) / (m.share - last.share)
			return last.fetched + part*(m.fetched-last.fetched), last.saved + part*(m.saved-last.saved)
		}
		last = m
	}
	return last.fetched, last.saved
}

const (
	// offerLoads is how often offers are read that do not fit beside all scores: the
	// bytes read, for each byte that is stored.
	offerLoads = 12.0
	// wasted is what the disk transfers for each byte that is read: gaps and whole pages.
	wasted = 1.6
	// workSlack is the size of the work file for each byte that is needed: what was
	// replaced since the last checkpoint still takes space.
	workSlack = 1.8

	// The time of processors, for that in memory and in a tight loop.
	sweepFactor  = 1.6 // groups are gone through several times
	sealFactor   = 2   // rows are put together from tiles
	packFactor   = 2   // checksums, places
	unpackFactor = 3   // checksums, places, pages that are given and taken
)

// A score takes more bytes in layers with more seeds, which have more different ones.
// Seen from 14 to 24 seeds, the growth is linear; taken to go on, it is too large rather
// than too small.
const (
	growth     = 0.0044 // bytes a score and seed, in all packed forms
	seenSeeds  = 22     // where the following are seen
	fileBytes  = 0.427  // of a layer file, a position; zstd takes off what does not count
	tileBytes  = 0.525  // a score in the work file
	offerBytes = 0.50   // an offer in the work file
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

// passes returns about the number of sweeps over a layer of n seeds.
func passes(n int) int { return int(math.Round(2.2 * float64(n))) }
