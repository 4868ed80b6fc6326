// Package cpu decides which family of kernels runs: the portable Go code or one of its
// faster twins for amd64 or arm64.
//
// Every kernel package (bitset, boards, compress, fnv, planes, ranks, rice, transpose, window) has a function
// For, or several, that takes a Family and returns the kernel of that family. A program picks the family
// once, at start, with Select(os.Getenv("GRENIER_KERNEL")), and hands the value down:
// no kernel looks at CPU features by itself, so a test or a comparison runs any family
// by asking for it.
//
// A family is a promise about instructions, not a name of a product:
//
//	Generic  any CPU: plain Go, the definition of what a kernel computes
//	BMI2     amd64 with BMI1, BMI2, POPCNT and AVX2 (Haswell, Zen and later)
//	AVX512   BMI2 plus AVX-512 F, BW, DQ, VL, VBMI and VBMI2, and GFNI (Ice Lake, Zen 4)
//	NEON     arm64 with vectors (ASIMD), which every one has
//
// BMI2 includes AVX2 because no amd64 CPU has the former without the latter, and
// kernels want both: compressing lays out by PEXT what vectors shuffle then, and
// transposing needs vectors alone. The vector families also need an operating system
// that saves the registers, which the detection takes into account.
//
// A package that has no code of its own for a family runs the generic code: of those above,
// compress and transpose alone have NEON.
//
// Builds for another architecture, or with the build tag purego, hold the generic code
// only; there Generic is the only supported family.
package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"grenier/kernels/fault"
)

// Family names a set of kernels. Those of one architecture are ordered: each one may use
// every instruction of those below it.
type Family uint8

// The families; those of one architecture slowest first.
const (
	Generic Family = iota // portable Go
	BMI2                  // PEXT, POPCNT and AVX2
	AVX512                // AVX-512 with byte compress and byte permute
	NEON                  // the vectors of arm64
)

// zen3 is the first AMD CPU family that runs PEXT and PDEP in hardware; the
// microcode of the earlier ones needs up to hundreds of cycles for one.
const zen3 = 0x19

var (
	names = [...]string{Generic: "generic", BMI2: "bmi2", AVX512: "avx512", NEON: "neon"}

	needs = [...][]cpuid.FeatureID{
		Generic: nil,
		BMI2:    bmi2Needs,
		AVX512: append(slices.Clone(bmi2Needs),
			cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL,
			cpuid.AVX512VBMI, cpuid.AVX512VBMI2, cpuid.GFNI),
		NEON: {cpuid.ASIMD},
	}

	bmi2Needs = []cpuid.FeatureID{cpuid.BMI1, cpuid.BMI2, cpuid.POPCNT, cpuid.AVX2}

	here = detect(&cpuid.CPU, runtime.GOARCH, compiled)
)

// UnknownError reports a name that belongs to no family.
type UnknownError struct {
	Name string // as given
}

// Error says which name was given and which are allowed.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown kernel family %q: must be %s", e.Name, strings.Join(names[:], ", "))
}

// Is makes it bad usage.
func (e *UnknownError) Is(target error) bool { return target == fault.Usage }

// UnsupportedError reports a family that cannot run here.
type UnsupportedError struct {
	Family  Family
	Missing []string // CPU features it lacks; empty if the build does not have the family
	Build   []string // families of the build
}

// Error says what is missing.
func (e *UnsupportedError) Error() string {
	if len(e.Missing) == 0 {
		return fmt.Sprintf("kernel family %s: this build does not have it (it has: %s)", e.Family, strings.Join(e.Build, ", "))
	}
	return fmt.Sprintf("kernel family %s: the CPU lacks %s", e.Family, strings.Join(e.Missing, ", "))
}

// Is makes it bad usage.
func (e *UnsupportedError) Is(target error) bool { return target == fault.Usage }

// String returns the name of f as ParseFamily accepts it.
func (f Family) String() string {
	if int(f) < len(names) {
		return names[f]
	}
	return fmt.Sprintf("Family(%d)", uint8(f))
}

// ParseFamily is the inverse of String. It fails with an *UnknownError and does
// not ask whether the CPU supports the family.
func ParseFamily(name string) (Family, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Family(i), nil
	}
	return 0, &UnknownError{Name: name}
}

// Available returns the families that can run here, in order; Generic is
// always the first.
func Available() []Family {
	var fs []Family
	for f := range Family(len(names)) {
		if Supported(f) {
			fs = append(fs, f)
		}
	}
	return fs
}

// Check fails with an *UnsupportedError unless f can run here.
func Check(f Family) error { return here.check(f) }

// Supported reports whether f can run here.
func Supported(f Family) bool {
	return int(f) < len(names) && here.check(f) == nil
}

// Best returns the family that is fastest here. It is the last one of
// Available, but for AMD CPUs before Zen 3, whose slow PEXT would make the
// BMI2 family lose against portable code.
func Best() Family { return here.best() }

// Select returns the family that a user asked for by name, usually the value
// of the environment variable GRENIER_KERNEL; the empty name stands for Best.
// It fails with an *UnknownError or an *UnsupportedError.
func Select(name string) (Family, error) {
	if name == "" {
		return Best(), nil
	}
	f, err := ParseFamily(name)
	if err != nil {
		return 0, err
	}
	if err := here.check(f); err != nil {
		return 0, err
	}
	return f, nil
}

// Name returns what the CPU calls itself, "unknown" if it does not say.
func Name() string {
	if cpuid.CPU.BrandName == "" {
		return "unknown"
	}
	return cpuid.CPU.BrandName
}

// Features returns the names of the CPU features that decide about families
// and that this CPU has, whatever the build can make of them.
func Features() []string {
	var fs []string
	for _, id := range slices.Concat(needs[AVX512], needs[NEON]) {
		if cpuid.CPU.Has(id) {
			fs = append(fs, id.String())
		}
	}
	return fs
}

// machine is what is known about the CPU and the build.
type machine struct {
	compiled []Family             // that the build has besides the generic one
	slowPEXT bool                 // PEXT and PDEP are microcoded
	missing  [len(needs)][]string // per family, the features that the CPU lacks
}

// detect reads the features of c once. Those that every CPU of an architecture has are set:
// not every operating system tells.
func detect(c *cpuid.CPUInfo, architecture string, compiled []Family) machine {
	if architecture == "arm64" {
		c.Enable(cpuid.ASIMD)
	}
	m := machine{compiled: compiled}
	m.slowPEXT = c.IsVendor(cpuid.AMD) && c.Family < zen3 || c.IsVendor(cpuid.Hygon)
	for f, ids := range needs {
		for _, id := range ids {
			if !c.Has(id) {
				m.missing[f] = append(m.missing[f], id.String())
			}
		}
	}
	return m
}

// check returns nil if f can run on m, an *UnsupportedError otherwise.
func (m *machine) check(f Family) error {
	switch {
	case f == Generic:
		return nil
	case !slices.Contains(m.compiled, f):
		return &UnsupportedError{Family: f, Build: m.build()}
	case len(m.missing[f]) > 0:
		return &UnsupportedError{Family: f, Missing: m.missing[f], Build: m.build()}
	}
	return nil
}

// build returns the names of the families of the build.
func (m *machine) build() []string {
	fs := []string{Generic.String()}
	for _, f := range m.compiled {
		fs = append(fs, f.String())
	}
	return fs
}

func (m *machine) best() Family {
	switch {
	case m.check(AVX512) == nil:
		return AVX512
	case m.check(BMI2) == nil && !m.slowPEXT:
		return BMI2
	case m.check(NEON) == nil:
		return NEON
	}
	return Generic
}
