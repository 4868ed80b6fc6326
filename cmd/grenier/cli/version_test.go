package cli

import (
	"reflect"
	"runtime/debug"
	"testing"

	"grenier/internal/testkit/should"
	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/fnv"
	"grenier/kernels/ranks"
	"grenier/kernels/transpose"
)

// TestOperationsNameTheCodeThatRuns compares the operations that version lists with the code that a
// package returns: the generic one, or another.
func TestOperationsNameTheCodeThatRuns(t *testing.T) {
	code := map[string]func(cpu.Family) any{
		"compress":  func(f cpu.Family) any { return compress.For(f, 8) },
		"transpose": func(f cpu.Family) any { return transpose.For(f, 8) },
		"ranks":     func(f cpu.Family) any { return ranks.For(f).Scores },
		"fnv":       func(f cpu.Family) any { return fnv.For(f) },
	}
	for _, o := range operations {
		of, ok := code[o.name]
		if !ok {
			continue // methods, which cannot be told apart
		}
		generic := reflect.ValueOf(of(cpu.Generic)).Pointer()
		for _, f := range cpu.Available() {
			same := reflect.ValueOf(of(f)).Pointer() == generic
			says := o.kernel(f) == cpu.Generic
			should.Hold(t, says == same, "%s of %v: says generic: %v, is generic: %v", o.name, f, says, same)
		}
	}
}

// TestBuildOf: the commit is told as far as it is known.
func TestBuildOf(t *testing.T) {
	for want, settings := range map[string][]debug.BuildSetting{
		"": {{Key: "GOOS", Value: "linux"}},
		" (commit 0123456789ab of 2026-11-22)": {
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-22T01:02:03Z"}, {Key: "vcs.modified", Value: "false"},
		},
		" (commit 01, modified)": {{Key: "vcs.revision", Value: "01"}, {Key: "vcs.modified", Value: "true"}},
	} {
		should.Equal(t, buildOf(settings).String(), want)
	}
}
