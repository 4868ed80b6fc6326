package cli

import (
	"runtime/debug"
	"testing"
)

// TestBuildOf: the commit is told as far as it is known.
func TestBuildOf(t *testing.T) {
	for want, settings := range map[string][]debug.BuildSetting{
		"": {{Key: "GOOS", Value: "linux"}},
		" (commit 0123456789ab of 2026-11-22)": {
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-22T01:02:03Z"}, {Key: "vcs.modified", Value: "false"},
		},
		" (commit 01, modified)": {{Key: "vcs.revision", Value: "01"}, {Key: "vcs.modified", Value: "true"}},
	} {
		if got := buildOf(settings).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
