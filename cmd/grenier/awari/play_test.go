package awari

import (
	"testing"

	"grenier/pipeline/play/match"
)

// TestSideNames reads the names that are printed.
func TestSideNames(t *testing.T) {
	for _, s := range []match.Side{match.South, match.North} {
		if got, err := sideOf(s.String()); err != nil || got != s {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
}
