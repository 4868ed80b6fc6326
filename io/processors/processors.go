// Package processors tells how many processors this process may use, and how much others use them
// meanwhile.
package processors

import (
	"math"
	"strconv"
	"time"

	"grenier/io/cgroup"
)

// Quota is how many processors the control groups of this process allow at a time, on average.
type Quota struct {
	Processors float64 // 0 if there is no limit
	Where      string  // whose limit that is, in words
}

// QuotaHere returns the least quota of the cgroups that this process is in.
func QuotaHere() Quota { return leastQuota(cgroup.Of("cpu"), (*cgroup.Group).Read) }

// leastQuota returns the least quota of some groups; read returns their files.
func leastQuota(groups []cgroup.Group, read func(g *cgroup.Group, file string) []string) (least Quota) {
	for _, g := range groups {
		fields := read(&g, "cpu.max")
		if g.Version == 1 {
			fields = append(read(&g, "cpu.cfs_quota_us"), read(&g, "cpu.cfs_period_us")...)
		}
		if n := quotaIn(fields); n > 0 && (least.Processors == 0 || n < least.Processors) {
			least = Quota{n, g.String()}
		}
	}
	return least
}

// quotaIn returns the processors that a quota and a period in microseconds allow, 0 if there is
// no limit: "max", or below 0.
func quotaIn(fields []string) float64 {
	if len(fields) != 2 {
		return 0
	}
	quota, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || !(quota > 0) || math.IsInf(quota, 0) {
		return 0
	}
	period, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || !(period > 0) || math.IsInf(period, 0) {
		return 0
	}
	return quota / period
}

// Meter measures how much of the processors others take.
type Meter struct {
	start  time.Time
	before usage
	known  bool
}

// leastMeasured is the time from which on anything can be said: the system counts hundredths of a second.
const leastMeasured = time.Second / 10

// usage is time of processors.
type usage struct {
	processors int           // of the machine
	all        time.Duration // in use: by programs, by the system, or by another virtual machine
	ours       time.Duration // of that, by this process
}

// Start begins to measure.
func Start() *Meter {
	now, known := current()
	return &Meter{time.Now(), now, known}
}

// Others returns how many processors others took since Start, on average, and how many the
// machine has. They are not known where the system does not tell, or after less than a tenth of a
// second.
func (m *Meter) Others() (taken float64, processors int, known bool) {
	now, known := current()
	elapsed := time.Since(m.start)
	if !known || !m.known || elapsed < leastMeasured {
		return 0, 0, false
	}
	return othersOf(m.before, now, elapsed), now.processors, true
}

// Had returns the share of the time of the wanted processors that this process had since Start, if others took a
// tenth of the machine: 1 if they did not, or if nobody knows.
func (m *Meter) Had(wanted int) float64 {
	now, known := current()
	elapsed := time.Since(m.start)
	if !known || !m.known || elapsed < leastMeasured {
		return 1
	}
	return hadOf(m.before, now, elapsed, wanted)
}

// hadOf returns the share that a process had between two moments.
func hadOf(before, now usage, elapsed time.Duration, wanted int) float64 {
	const worth = 0.1
	if othersOf(before, now, elapsed) < worth*float64(now.processors) {
		return 1
	}
	return min((now.ours-before.ours).Seconds()/elapsed.Seconds()/float64(wanted), 1)
}

// othersOf returns how many processors others took between two moments.
func othersOf(before, now usage, elapsed time.Duration) float64 {
	others := (now.all - before.all) - (now.ours - before.ours)
	return max(0, others.Seconds()/elapsed.Seconds())
}
