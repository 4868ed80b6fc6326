//go:build unix

package repair_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
	"grenier/pipeline/solve/repair"
)

// TestLongRandomDamage damages a run in several places at once. After a repair it is whole
// again, up to the last layer that left a trace, and nothing foreign is lost.
func TestLongRandomDamage(t *testing.T) {
	whole, random := small(t), tries.Rand(t)
	for round := range tries.Runs(120) {
		dir := testrun.Copy(t, whole)
		var damages []string
		for range 1 + random.IntN(4) {
			damages = append(damages, damageAtRandom(t, random, dir))
		}
		r, err := repair.Run(t.Context(), dir, options())
		must.Hold(t, err == nil, "round %d, %v: %v", round, damages, err)
		for n := range r.Layers {
			name := rundir.LayerName(n)
			should.Hold(t, read(t, dir, name) == read(t, whole, name), "%s differs", name)
		}
		should.Not(t, len(r.Layers) < 8 && !(r.Manifest != "" && lostLast(damages)) || len(r.Layers) > 8, "%d layers", len(r.Layers))
		clean(t, dir, len(r.Layers))
		must.Not(t, t.Failed(), "round %d, %v: %+v", round, damages, r)
	}
}

// damageAtRandom damages a file and says how.
func damageAtRandom(t *testing.T, random *rand.Rand, dir string) string {
	name := rundir.LayerName(random.IntN(8))
	if random.IntN(4) == 0 {
		name = rundir.ManifestName
	}
	bytes, _ := os.ReadFile(filepath.Join(dir, name)) // it may be gone
	text, how := string(bytes), ""
	switch at := random.IntN(len(text) + 1); random.IntN(6) {
	case 0, 1:
		how = "changed"
		if at < len(bytes) {
			bytes[at] ^= 1 << random.IntN(8)
			text = string(bytes)
		}
	case 2:
		how, text = "cut", text[:at]
	case 3:
		how, text = "longer", text+"x"
	case 4:
		how, text = "foreign", strings.Repeat("Dear diary ", at)
	case 5:
		how = "removed"
	}
	must.OK(t, os.RemoveAll(filepath.Join(dir, name)))
	if how != "removed" {
		replace(t, dir, name, text)
	}
	return name + " " + how
}

// lostLast reports whether the last layer may have left no trace.
func lostLast(damages []string) bool {
	for _, d := range damages {
		if strings.HasPrefix(d, rundir.LayerName(7)) {
			return true
		}
	}
	return false
}
