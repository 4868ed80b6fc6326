package cpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
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
		should.Equal(t, m.best(), tc.want, "%s: best", tc.name)
	}
	m := detect(mock(cpuid.VendorUnknown, 0), "arm64", arm64) // of which the operating system tells nothing
	should.Equal(t, m.best(), NEON, "every arm64 has vectors: best")
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	m := detect(mock(cpuid.AMD, 0x19, needs[BMI2]...), "amd64", amd64)
	err := m.check(AVX512)
	var ue *UnsupportedError
	must.Hold(t, errors.As(err, &ue) && ue.Family == AVX512 && len(ue.Missing) == 7, "got %v", err)
	should.Hold(t, strings.Contains(err.Error(), "AVX512VBMI2"), "message does not name the feature: %v", err)
	m = detect(mock(cpuid.AMD, 0x19, needs[AVX512]...), "amd64", nil)
	if err := m.check(BMI2); err == nil || !strings.HasSuffix(err.Error(), "this build does not have it (it has: generic)") {
		t.Errorf("portable build: got %v", err)
	}
	m = detect(mock(cpuid.ARM, 0), "arm64", arm64)
	err = m.check(AVX512)
	should.Not(t, err == nil || !strings.HasSuffix(err.Error(), "(it has: generic, neon)"), "build for arm64: got %v", err)
}

func TestNames(t *testing.T) {
	for f := Generic; f <= NEON; f++ {
		should.Equal(t, must.Get(ParseFamily(f.String()))(t), f, "ParseFamily(%q)", f.String())
	}
	_, err := ParseFamily("AVX2")
	var ue *UnknownError
	should.Hold(t, errors.As(err, &ue) && ue.Name == "AVX2", "got %v", err)
	should.Hold(t, strings.Contains(err.Error(), "generic, bmi2, avx512, neon"), "message does not list the families: %v", err)
	should.Equal(t, Family(9).String(), "Family(9)")
}

func TestSelect(t *testing.T) {
	should.Equal(t, must.Get(Select(""))(t), Best(), "empty name")
	should.Not(t, must.Err(Select("sse")) == nil, "an unknown family was accepted")
	for f := Generic; f <= NEON; f++ {
		got, err := Select(f.String())
		if Supported(f) != (err == nil) {
			t.Errorf("%v: supported %v, but %v", f, Supported(f), err)
		}
		should.Not(t, err == nil && got != f, "%v: got %v", f, got)
	}
	should.Not(t, Supported(NEON+1), "a family without a name is supported")
}

func TestAvailable(t *testing.T) {
	fs := Available()
	should.Equal(t, fs[0], Generic, "first")
	for _, f := range fs {
		should.Hold(t, Supported(f), "%v is available but not supported", f)
	}
	t.Logf("%s: families %v, best %v, features %v", Name(), fs, Best(), Features())
}
