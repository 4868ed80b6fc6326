package rundir

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/vfs"
)

// aStatus is of a solver in the middle of a run.
func aStatus() *Status {
	started := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	return &Status{
		PID: os.Getpid(), State: Running, Started: started, Reported: started.Add(time.Minute),
		Last: 24, Threads: 2, Kernel: "generic",
		Seeds: 20, Positions: 84672315, Stage: "dense", Sweep: 3, Share: 0.25, Changed: 12345,
		RunDone: 1e8, RunTotal: 1e9, Rate: 5e7, RSS: 1 << 28, PeakRSS: 1 << 29,
	}
}

func encoded(t testing.TB, s *Status) string {
	t.Helper()
	return string(must.Get(s.Encode())(t))
}

func TestStatusRoundTrip(t *testing.T) {
	l, _ := running(t)
	for _, want := range []*Status{
		aStatus(), {PID: 1, State: Running, Started: time.Unix(1, 0).UTC(), Reported: time.Unix(2, 0).UTC(), Calls: new(0)},
		{PID: 1, State: Failed, Error: "disk full", Started: time.Unix(1, 0).UTC(), Reported: time.Unix(2, 0).UTC()},
	} {
		must.OK(t, l.SaveStatus(want))
		must.Same(t, "another result", want, must.Get(l.Status())(t))
	}
	should.Equal(t, names(t, l.Work().Path("")), StatusName, "work/ holds")
	must.OK(t, l.ClearWork())
	should.Equal(t, names(t, l.Work().Path("")), StatusName, "work/ holds")
	s := aStatus()
	s.PID = 4242
	golden.Check(t, "testdata/status-v1.json", []byte(encoded(t, s)))
}

// TestStatusText: whatever an error says, the status can be read and printed. Earlier versions had another word for done.
func TestStatusText(t *testing.T) {
	s := aStatus()
	s.State, s.Error = Failed, "a\x1b[2J\nb\xff"+strings.Repeat("é", 2*maxStatusText)
	got := must.Get(parseStatus([]byte(encoded(t, s))))(t)
	should.Hold(t, strings.HasPrefix(got.Error, "a?[2J?b?éé") && len([]rune(got.Error)) == maxStatusText, "%q", got.Error)
	s.State = "finished"
	should.Equal(t, must.Get(parseStatus([]byte(encoded(t, s))))(t).State, Done, "state")
}

func TestStatusDamaged(t *testing.T) {
	good := encoded(t, aStatus())
	replaced := func(old, by string) string {
		must.Hold(t, strings.Contains(good, old), "no %s in %s", old, good)
		return strings.Replace(good, old, by, 1)
	}
	for text, why := range map[string]string{
		"": "damaged", "null": "damaged", "[1]": "damaged", good[:len(good)/2]: "damaged",
		replaced(statusFormat, "other"):                                         "damaged",
		replaced(`"share": 0.25`, `"share": 1.25`):                              "damaged",
		replaced(`"running"`, `"dancing"`):                                      "damaged",
		replaced(`"dense"`, `"\u001b[2J"`):                                      "damaged",
		replaced(`"sweep": 3`, `"sweep": -3`):                                   "damaged",
		replaced(`"sweep": 3`, `"sweep": 3, "called_layers": -1`):               "damaged",
		replaced(`"sweep": 3`, `"sweep": 3, "called_layers": 100000`):           "damaged",
		replaced(`"run_done": 1`, `"run_done": 11`):                             "damaged",
		replaced(`"seeds": `, `"seeds": 900000`):                                "damaged",
		replaced(`"positions": `, `"positions": 900000000000000000`):            "damaged",
		replaced(`"run_total": `, `"run_total": 1e300, "x": `):                  "damaged",
		replaced(`"rss_bytes": `, `"rss_bytes": 18446744073709551615, "x": `):   "damaged",
		replaced(`"reported": "`, `"reported": "9999-12-31T23:59:59Z", "x": "`): "damaged",
		replaced(`"started": "`, `"started": "0001-12-31T23:59:59Z", "x": "`):   "damaged",
		replaced(`"version": 1`, `"version": 2`):                                "version 2",
		good + strings.Repeat(" ", maxStatusBytes):                              "more than",
	} {
		s, err := parseStatus([]byte(text))
		should.Not(t, s != nil, "%.400s: %v", text, s)
		should.Says(t, err, ErrNoReport, why)
	}
	should.OK(t, must.Err(parseStatus([]byte(replaced(`"pid"`, `"later": [1], "pid"`)))))
}

// FuzzParseStatus: an accepted status can be printed and written again.
func FuzzParseStatus(f *testing.F) {
	good := encoded(f, aStatus())
	f.Add([]byte(good))
	f.Add([]byte(good[:100]))
	f.Add([]byte(strings.Replace(good, "dense", `\ud800`, 1)))
	f.Add([]byte(strings.Replace(good, "2026", "9999", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseStatus(data)
		if err != nil {
			should.Not(t, !errors.Is(err, ErrNoReport) || strings.Contains(err.Error(), "\n"), "%v", err)
			return
		}
		should.Not(t, math.IsInf(s.RunTotal, 0) || s.Share < 0 || s.Share > 1 || printable(s.Stage+s.Kernel) != s.Stage+s.Kernel, "accepted: %+v", s)
		again, err := parseStatus([]byte(encoded(t, s)))
		should.Hold(t, err == nil && again.Reported.Equal(s.Reported), "%v, %+v", err, s)
	})
}

func TestActivityStates(t *testing.T) {
	now := aStatus().Reported.Add(time.Second)
	self, missing := os.Getpid(), noReport("missing")
	held, ended, gone := Holder{Held: true, PID: self}, Holder{}, Holder{PID: self}
	for _, c := range []struct {
		name   string
		h      Holder
		change func(s *Status) // nil for no status
		want   State
		why    string // there is no report
	}{
		{"running", held, func(*Status) {}, Running, ""},
		{"silent", held, func(s *Status) { s.Reported = now.Add(-5 * time.Minute) }, Running, "5m0s old"},
		{"clock set back", held, func(s *Status) { s.Reported = now.Add(time.Hour) }, Running, ""},
		{"just started", held, func(s *Status) { s.PID++ }, Running, "of process"},
		{"same id again", held, func(s *Status) { s.State = Done }, Running, "a run that ended"},
		{"no file", held, nil, Running, "missing"},
		{"done", ended, func(s *Status) { s.State = Done }, Done, ""},
		{"done long ago", ended, func(s *Status) { s.State, s.Reported = Done, now.AddDate(-1, 0, 0) }, Done, ""},
		{"interrupted", ended, func(s *Status) { s.State = Interrupted }, Interrupted, ""},
		{"failed", ended, func(s *Status) { s.State = Failed }, Failed, ""},
		{"killed", gone, func(*Status) {}, Killed, ""},
		{"killed, lock removed", ended, func(*Status) {}, Killed, ""},
		{"killed before a report", gone, func(s *Status) { s.PID++ }, Killed, "of process"},
		{"killed, no file", gone, nil, Killed, "missing"},
		{"nothing known", ended, nil, None, "missing"},
	} {
		s, err := aStatus(), error(nil)
		if c.change == nil {
			s, err = nil, missing
		} else {
			c.change(s)
		}
		a := activity(c.h, s, err, now)
		should.Hold(t, a.State == c.want && (a.Report == nil) == (c.why != "") && (a.NoReport != nil) == (c.why != "") &&
			strings.Contains(fmt.Sprint(a.NoReport), c.why), "%s: %+v, want %q", c.name, a, c.why)
	}
}

func checkActivity(t *testing.T, dir string, want Activity) {
	t.Helper()
	got, err := must.Get(Open(dir))(t).Activity(time.Now())
	should.Hold(t, err == nil && got.State == want.State && got.Holder == want.Holder, "%+v, %v, want %+v", got, err, want)
}

// TestActivity: looking never keeps a solver from starting.
func TestActivity(t *testing.T) {
	l, dir := running(t)
	must.OK(t, l.Unlock())
	d := must.Get(Open(dir))(t)
	var stopped atomic.Bool
	var looking sync.WaitGroup
	looking.Go(func() {
		for !stopped.Load() {
			d.holder()
			time.Sleep(100 * time.Microsecond)
		}
	})
	for range 50 {
		must.OK(t, mustLock(t, dir).Unlock())
	}
	stopped.Store(true)
	looking.Wait()
	checkActivity(t, dir, Activity{State: None})
}

func TestLog(t *testing.T) {
	l, dir := running(t)
	path := filepath.Join(dir, LogName)
	for _, text := range []string{"one\n", "two, cut sh", "three\n"} {
		f := must.Get(l.OpenLog())(t)
		must.OK(t, errors.Join(must.Err(io.WriteString(f, text)), f.Close()))
	}
	should.Equal(t, string(must.Get(os.ReadFile(path))(t)), "one\ntwo, cut sh\nthree\n")
	should.Equal(t, string(must.Get(l.Log())(t)), "one\ntwo, cut sh\nthree\n", "read")
	// A directory with a log and no manifest is a run that did not get far.
	must.OK(t, errors.Join(os.Remove(l.ManifestPath()), l.Unlock()))
	l = mustLock(t, dir)
	defer l.Unlock()
	must.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o755)))
	err := must.Err(l.OpenLog())
	should.Not(t, err == nil || !strings.HasSuffix(err.Error(), "solve.log is a directory, not a file"), "%v", err)
}

// TestSolverComes: a lock without a process is looked at again, for a solver that has just come.
func TestSolverComes(t *testing.T) {
	tries.SkipIf(t, runtime.GOOS == "windows", "who has the lock is alone with its file")
	l, dir := running(t)
	lock := filepath.Join(dir, LockName)
	must.Write(t, lock, nil)
	opened := 0
	defer vfs.Intercept(func(d vfs.Dir) vfs.Dir {
		if opened++; opened == 4 { // after the lock, the report, and the lock
			must.Write(t, lock, fmt.Appendln(nil, os.Getpid()))
		}
		return d
	})()
	a, err := l.Activity(time.Now())
	should.Hold(t, err == nil && a.PID == os.Getpid() && a.Held, "%+v, %v", a, err)
}

// fullLog is a log whose last line is cut short, on a full disk.
type fullLog struct{ vfs.File }

func (fullLog) Size() (int64, error)                   { return 3, nil }
func (fullLog) ReadAt(p []byte, _ int64) (int, error)  { return copy(p, "x"), nil }
func (fullLog) WriteAt(_ []byte, _ int64) (int, error) { return 0, syscall.ENOSPC }

// TestFullLog: a line that cannot be ended is not gone on with.
func TestFullLog(t *testing.T) {
	should.Be(t, (&log{file: fullLog{}}).start(), syscall.ENOSPC)
}

// TestPartCounts: in the order of numbers, not of names.
func TestPartCounts(t *testing.T) {
	l, _ := running(t)
	book := must.Get(l.Notebook())(t)
	defer book.Close()
	for _, of := range []int{9, 10, 9} {
		must.OK(t, book.SaveNote(PartName(VerifyName, 1, of), nil))
	}
	should.List(t, must.Get(book.PartCounts(VerifyName))(t), []int{9, 10})
}
