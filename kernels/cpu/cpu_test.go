package cpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// mock returns a CPU with the given features.
func mock(v cpuid.Vendor, family int, ids ...cpuid.FeatureID) *cpuid.CPUInfo {
	c := &cpuid.CPUInfo{VendorID: v, Family: family}
	c.Enable(ids...)
	return c
}

// amd64 and arm64 are the families of builds.
var amd64, arm64 = []Family{BMI2, AVX512}, []Family{NEON}

func TestBest(t *testing.T) {
	bmi2, all := needs[BMI2], needs[AVX512]
	for _, tc := range []struct {
		name     string
		cpu      *cpuid.CPUInfo
		compiled []Family
		want     Family
	}{
		{"nothing", mock(cpuid.Intel, 6), amd64, Generic},
		{"haswell", mock(cpuid.Intel, 6, bmi2...), amd64, BMI2},
		{"zen 2", mock(cpuid.AMD, 0x17, bmi2...), amd64, Generic},
		{"hygon", mock(cpuid.Hygon, 0x18, bmi2...), amd64, Generic},
		{"zen 3", mock(cpuid.AMD, 0x19, bmi2...), amd64, BMI2},
		{"zen 4", mock(cpuid.AMD, 0x19, all...), amd64, AVX512},
		{"skylake-x", mock(cpuid.Intel, 6, all[:len(all)-2]...), amd64, BMI2},
		{"avx-512 without avx2", mock(cpuid.Intel, 6, all[len(bmi2):]...), amd64, Generic},
		{"zen 4, portable build", mock(cpuid.AMD, 0x19, all...), nil, Generic},
		{"arm64", mock(cpuid.ARM, 0, cpuid.ASIMD), arm64, NEON},
		{"arm64, portable build", mock(cpuid.ARM, 0, cpuid.ASIMD), nil, Generic},
	} {
		m := detect(tc.cpu, "", tc.compiled)
		if got := m.best(); got != tc.want {
			t.Errorf("%s: best is %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestEveryArm64HasVectors says so of one that the operating system tells nothing about.
func TestEveryArm64HasVectors(t *testing.T) {
	m := detect(mock(cpuid.VendorUnknown, 0), "arm64", arm64)
	if got := m.best(); got != NEON {
		t.Errorf("best is %v", got)
	}
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	m := detect(mock(cpuid.AMD, 0x19, needs[BMI2]...), "amd64", amd64)
	err := m.check(AVX512)
	var ue *UnsupportedError
	if !errors.As(err, &ue) || ue.Family != AVX512 || len(ue.Missing) != 6 {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), "AVX512VBMI2") {
		t.Errorf("message does not name the feature: %v", err)
	}
	m = detect(mock(cpuid.AMD, 0x19, needs[AVX512]...), "amd64", nil)
	if err := m.check(BMI2); err == nil || !strings.HasSuffix(err.Error(), "this build does not have it (it has: generic)") {
		t.Errorf("portable build: got %v", err)
	}
	m = detect(mock(cpuid.ARM, 0), "arm64", arm64)
	if err := m.check(AVX512); err == nil || !strings.HasSuffix(err.Error(), "(it has: generic, neon)") {
		t.Errorf("build for arm64: got %v", err)
	}
}

func TestNames(t *testing.T) {
	for f := Generic; f <= NEON; f++ {
		got, err := ParseFamily(f.String())
		if err != nil || got != f {
			t.Errorf("ParseFamily(%q) = %v, %v", f.String(), got, err)
		}
	}
	_, err := ParseFamily("AVX2")
	var ue *UnknownError
	if !errors.As(err, &ue) || ue.Name != "AVX2" {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Error(), "generic, bmi2, avx512, neon") {
		t.Errorf("message does not list the families: %v", err)
	}
	if got := Family(9).String(); got != "Family(9)" {
		t.Errorf("got %q", got)
	}
}

func TestSelect(t *testing.T) {
	if f, err := Select(""); err != nil || f != Best() {
		t.Errorf("empty name: got %v, %v", f, err)
	}
	if _, err := Select("sse"); err == nil {
		t.Error("an unknown family was accepted")
	}
	for f := Generic; f <= NEON; f++ {
		got, err := Select(f.String())
		if Supported(f) != (err == nil) {
			t.Errorf("%v: supported %v, but %v", f, Supported(f), err)
		}
		if err == nil && got != f {
			t.Errorf("%v: got %v", f, got)
		}
	}
	if Supported(NEON + 1) {
		t.Error("a family without a name is supported")
	}
}

func TestAvailable(t *testing.T) {
	fs := Available()
	if fs[0] != Generic {
		t.Errorf("first is %v", fs[0])
	}
	for _, f := range fs {
		if !Supported(f) {
			t.Errorf("%v is available but not supported", f)
		}
	}
	t.Logf("%s: families %v, best %v, features %v", Name(), fs, Best(), Features())
}
