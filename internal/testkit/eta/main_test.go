//go:build !quick

package main

import (
	"fmt"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// lines returns the reports of a run of 100 s that says what eta does, and stands still for a while.
func lines(eta func(left int) int) string {
	var text strings.Builder
	for s := 0; s <= 100; s++ {
		share := float64(s) / 100
		if s > 40 && s < 48 {
			share = 0.4
		}
		fmt.Fprintf(&text, `{"type":"progress","seconds":%d,"progress":%v,"run_eta_seconds":%d,"doing":"layer 20, seal"}`+"\n", s, share, eta(100-s))
	}
	return text.String() + `{"type":"layer","seeds":20}` + "\n"
}

// TestLongRun: what is off is counted, from the tenth second on, and the longest time without a change is told.
func TestLongRun(t *testing.T) {
	for want, eta := range map[string]func(int) int{
		"91 reports from the tenth second on, 0 off":  func(left int) int { return left + 5 },
		"91 reports from the tenth second on, 79 off": func(left int) int { return 3 * left / 2 },
	} {
		var out strings.Builder
		must.OK(t, run(strings.NewReader(lines(eta)), &out))
		should.Has(t, out.String(), want, "share off by 7.0 points at most; 7.0 s without a change")
		should.Equal(t, strings.Count(out.String(), "\n| "), rows, "rows")
	}
	should.Not(t, run(strings.NewReader(`{"type":"summary"}`), &strings.Builder{}) == nil, "a run without reports is no error")
}
