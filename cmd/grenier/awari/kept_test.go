package awari

import (
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/cpu"
	"grenier/pipeline/solve/plan"
)

// TestKept: a calibration that is kept is found again for the same processors, kernels and threads; a damaged file, or
// a user without a directory for it, is as if there were none.
func TestKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	c := keptCalibration(cpu.BMI2, 2)
	must.Hold(t, c == nil, "%+v before anything was kept", c)
	want := plan.Typical(cpu.BMI2, 2)
	want.Capture = 4.5
	must.OK(t, keep(want))
	must.Same(t, "another calibration", want, keptCalibration(cpu.BMI2, 2))
	should.Hold(t, keptCalibration(cpu.Generic, 2) == nil && keptCalibration(cpu.BMI2, 3) == nil, "it serves other kernels, or threads")
	must.OK(t, os.WriteFile(filepath.Join(cache, keptIn, keptName), []byte("{}"), 0o600))
	c = keptCalibration(cpu.BMI2, 2)
	should.Hold(t, c == nil, "%+v from a damaged file", c)
	missing := filepath.Join(cache, "missing")
	t.Setenv("XDG_CACHE_HOME", missing)
	t.Setenv("HOME", missing)
	must.OK(t, keep(want))
	_, err := os.Stat(missing)
	should.Hold(t, os.IsNotExist(err), "a directory for the user was made: %v", err)
}
