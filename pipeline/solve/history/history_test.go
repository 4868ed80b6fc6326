package history

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
)

// log is of five runs: paused, killed, interrupted after a repair, failed with a bug, and one that works or was killed.
const log = `time=2026-11-25T01:00:00.000Z level=INFO msg=start version=1 pid=1 seeds=3 memory=8GiB threads=2 layers=0
time=2026-11-25T01:00:10.000Z level=INFO msg=sealed layer=0 positions=1 seconds=4 bytes=100 seconds_of.sweep=3 seconds_of.seal=1 rss_bytes=1000
time=2026-11-25T01:00:30.000Z level=INFO msg=sealed layer=1 positions=12 seconds=6 bytes=200 seconds_of.sweep=5.5 rss_bytes=2000
time=2026-11-25T01:01:00.000Z level=INFO msg=paused why="paused: stopped on \"request\"" layer=2
time=2026-11-25T02:00:00.000Z level=INFO msg=start seeds=4 memory=4GiB threads=1 layers=2
time=2026-11-25T02:00:05.000Z level=WARN msg="the metrics cannot be written" error=x
time=2026-11-25T03:00:00.000Z level=INFO msg=start seeds=4 memory=4GiB threads=1 layers=2
time=2026-11-25T03:00:0
nonsense
time=2026-11-25T03:00:20.000Z level=WARN msg=interrupted layer=2
time=2026-11-25T03:30:00.000Z level=INFO msg=repair pid=3
time=2026-11-25T03:30:01.000Z level=INFO msg=repaired
time=2026-11-25T04:00:00.000Z level=INFO msg=start seeds=4 memory=4GiB threads=1 layers=2
time=2026-11-25T04:00:01.000Z level=ERROR msg="index out of range" version=1 stack="goroutine 1\nmain.go"
time=2026-11-25T05:00:00.000Z level=INFO msg=start seeds=5 memory=4GiB threads=3 layers=2
time=2026-11-25T05:00:30.000Z level=INFO msg=sealed layer=2 positions=78 seconds=30 bytes=300 seconds_of.capture=20 rss_bytes=1500
`

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-25T"+text+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func TestParse(t *testing.T) {
	for _, running := range []bool{false, true} {
		last := map[bool]rundir.State{false: rundir.Killed, true: rundir.Running}[running]
		want := &History{
			Runs: []Run{
				{at("01:00:00"), at("01:01:00"), rundir.Paused, `paused: stopped on "request"`, 60, 3, "8GiB", 2, []Layer{
					{0, at("01:00:10"), 4, 1, 100, 1000, map[string]float64{"sweep": 3, "seal": 1}},
					{1, at("01:00:30"), 6, 12, 200, 2000, map[string]float64{"sweep": 5.5}},
				}},
				{at("02:00:00"), at("02:00:05"), rundir.Killed, "", 5, 4, "4GiB", 1, nil},
				{at("03:00:00"), at("03:00:20"), rundir.Interrupted, "", 20, 4, "4GiB", 1, nil},
				{at("04:00:00"), at("04:00:01"), rundir.Failed, "index out of range", 1, 4, "4GiB", 1, nil},
				{at("05:00:00"), at("05:00:30"), last, "", 30, 5, "4GiB", 3, []Layer{
					{2, at("05:00:30"), 30, 78, 300, 1500, map[string]float64{"capture": 20}},
				}},
			},
			Seconds: 116, Layers: 3, Positions: 91,
			States:  map[rundir.State]int{rundir.Paused: 1, rundir.Interrupted: 1, rundir.Failed: 1},
			Slowest: []Stage{{2, "capture", 20}, {1, "sweep", 5.5}, {0, "sweep", 3}, {0, "seal", 1}},
		}
		want.States[rundir.Killed]++
		want.States[last]++
		should.Equal(t, cmp.Diff(want, parse([]byte(log), running)), "", "running %v (-want +got)", running)
	}
}

// TestOtherLogs reads logs that are empty, of earlier versions, or of repairs alone.
func TestOtherLogs(t *testing.T) {
	h := parse(nil, false)
	should.Hold(t, len(h.Runs) == 0 && h.Last() == nil && h.Charts() == nil && h.InWords() == "", "%+v", h)
	earlier := "time=2026-11-25T01:00:00Z level=INFO msg=start seeds=3\ntime=2026-11-25T01:00:09Z level=INFO msg=finished positions=455\n"
	h = parse([]byte(earlier), true)
	should.Hold(t, len(h.Runs) == 1 && h.Last().State == rundir.Done && h.Seconds == 9 && h.InWords() == "1 done", "%+v", h)
	h = parse([]byte(earlier[strings.Index(earlier, "\n")+1:]), true)
	should.Hold(t, len(h.Runs) == 0, "%+v", h)
}

// TestCharts: what charts show at the end is all that was solved, each layer is marked once, and values never fall that cannot.
func TestCharts(t *testing.T) {
	h := parse([]byte(log), false)
	charts := h.Charts()
	must.Equal(t, len(charts), 4, "charts")
	should.Equal(t, charts[0].Title+", "+charts[0].Y.Label+", "+charts[0].Y.Format(12_345), "Positions solved, positions, 12.3 k")
	should.Equal(t, len((&History{Runs: h.Runs, Layers: 1, Seconds: 0.5}).Charts()), 4, "of a short run")
	all := h.moments()
	end := all[len(all)-1]
	should.Hold(t, end.positions == h.Positions && end.bytes == 600 && end.rss == 1500 && end.rate == 78.0/30 && end.work == h.Seconds,
		"in the end %+v", end)
	marked, before := 0, 0.0
	for i, m := range all {
		marked += len(m.layers)
		last := all[max(i-1, 0)]
		should.Not(t, m.positions < last.positions || m.work < last.work, "moment %d: %+v after %+v", i, m, last)
		if v := charts[0].Series[0].Values[i]; v < before {
			t.Errorf("%v positions after %v", v, before)
		} else if !math.IsNaN(v) {
			before = v
		}
		should.Equal(t, !math.IsNaN(charts[0].Series[1].Values[i]), len(m.layers) > 0, "moment %d is marked", i)
	}
	should.Hold(t, marked == h.Layers, "%d layers marked, want %d", marked, h.Layers)
}
