package processors

import (
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/should"
	"grenier/io/cgroup"
)

// TestLeastQuota: both versions, and the least of all groups above.
func TestLeastQuota(t *testing.T) {
	files := map[string]string{
		"/ cpu.max": "max 100000\n", "/a cpu.max": "150000 100000\n", "/a/b cpu.max": "400000 100000\n", "/odd cpu.max": "x 0", "/zero cpu.max": "1 0",
		"/v cpu.cfs_quota_us": "50000\n", "/v cpu.cfs_period_us": "100000\n", "/w cpu.cfs_quota_us": "-1\n", "/w cpu.cfs_period_us": "100000\n",
	}
	read := func(g *cgroup.Group, file string) []string { return strings.Fields(files[g.Path+" "+file]) }
	for want, groups := range map[Quota][]cgroup.Group{
		{1.5, "the cgroup /a"}: {{Path: "/a/b", Version: 2}, {Path: "/a", Version: 2}, {Path: "/", Version: 2}},
		{4, "the cgroup /a/b"}: {{Path: "/a/b", Version: 2}},
		{0.5, "the cgroup /v"}: {{Path: "/v", Version: 1}, {Path: "/w", Version: 1}},
		{}:                     {{Path: "/w", Version: 1}, {Path: "/odd", Version: 2}, {Path: "/zero", Version: 2}, {Path: "/gone", Version: 1}},
	} {
		should.Equal(t, leastQuota(groups, read), want, "%v", groups)
	}
}

// TestMeter: an unknown figure is not told.
func TestMeter(t *testing.T) {
	_, _, known := Start().Others()
	should.Not(t, known, "others are known after no time")
	m := Start()
	m.start = m.start.Add(-time.Second)
	taken, processors, known := m.Others()
	should.Not(t, known && (taken < 0 || processors < 1), "%v of %d", taken, processors)
}

// TestHad: the time of others is all time but ours; the share of a process counts only if they took a tenth of the machine.
func TestHad(t *testing.T) {
	used := func(all, ours int) usage {
		return usage{2, time.Duration(all) * time.Second, time.Duration(ours) * time.Second}
	}
	for seconds, want := range map[[2]int]float64{{0, 0}: 0, {10, 10}: 0, {20, 10}: 1, {9, 10}: 0} { // all, and ours
		should.Equal(t, othersOf(used(100, 10), used(100+seconds[0], 10+seconds[1]), 10*time.Second), want, "%v", seconds)
	}
	for c, want := range map[[3]int]float64{ // seconds of all and ours, of 10 on a machine of 2 processors, and workers
		{9, 8, 1}:   1,   // it waited for the disk
		{20, 10, 1}: 1,   // enough for both
		{20, 6, 1}:  0.6, // others took 14
		{20, 12, 2}: 0.6, {20, 19, 2}: 1,
		{14, 14, 1}: 1, // more threads than workers
	} {
		should.Equal(t, hadOf(usage{}, used(c[0], c[1]), 10*time.Second, c[2]), want, "%v", c)
	}
}
