package awari

import (
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/kernels/cpu"
	"grenier/pipeline/solve/plan"
)

// TestKept: a calibration that is kept is found again for the same processors, kernels and threads; a damaged file, or
// a user without a directory for it, is as if there were none.
func TestKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	if c := keptCalibration(cpu.BMI2, 2); c != nil {
		t.Fatalf("%+v before anything was kept", c)
	}
	want := plan.Typical(cpu.BMI2, 2)
	want.Capture = 4.5
	if err := keep(want); err != nil {
		t.Fatal(err)
	}
	must.Same(t, "another calibration", want, keptCalibration(cpu.BMI2, 2))
	if keptCalibration(cpu.Generic, 2) != nil || keptCalibration(cpu.BMI2, 3) != nil {
		t.Error("it serves other kernels, or threads")
	}
	if err := os.WriteFile(filepath.Join(cache, keptIn, keptName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := keptCalibration(cpu.BMI2, 2); c != nil {
		t.Errorf("%+v from a damaged file", c)
	}
	missing := filepath.Join(cache, "missing")
	t.Setenv("XDG_CACHE_HOME", missing)
	t.Setenv("HOME", missing)
	must.OK(t, keep(want))
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Errorf("a directory for the user was made: %v", err)
	}
}
