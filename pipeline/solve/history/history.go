// Package history tells from the log of a run directory what has happened there since the first run: when runs began, how and why
// they ended, which layers they sealed, and what took long. Lines that it does not know, as those of repairs, are left out.
package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"grenier/io/rundir"
)

// History is all runs of a directory, the oldest first.
type History struct {
	Runs []Run `json:"runs"`
	// Sums over all runs.
	Seconds   float64              `json:"seconds"`
	Layers    int                  `json:"layers"`
	Positions uint64               `json:"positions"`
	States    map[rundir.State]int `json:"states"` // how many runs ended so
	// Slowest are the stages that took longest, the slowest first.
	Slowest []Stage `json:"slowest_stages"`
}

// Run is a run of the solver.
type Run struct {
	Started time.Time    `json:"started"`
	Ended   time.Time    `json:"ended"` // or when the log last heard of it
	State   rundir.State `json:"state"`
	Why     string       `json:"why,omitempty"` // it was paused, or failed
	Seconds float64      `json:"seconds"`
	Seeds   int          `json:"last_layer"` // wanted
	Memory  string       `json:"memory"`     // as asked for
	Threads int          `json:"threads"`
	Layers  []Layer      `json:"layers"` // that it sealed
}

// Layer is a layer that was sealed.
type Layer struct {
	Seeds     int                `json:"seeds"`
	Sealed    time.Time          `json:"sealed"`
	Seconds   float64            `json:"seconds"` // over all runs that worked on it
	Positions uint64             `json:"positions"`
	Bytes     uint64             `json:"bytes"`
	RSS       uint64             `json:"rss_bytes"` // memory of the process, 0 if not known
	Stages    map[string]float64 `json:"stage_seconds"`
}

// Stage is a stage of a layer.
type Stage struct {
	Seeds   int     `json:"seeds"`
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`
}

// mostStages is the length of Slowest.
const mostStages = 5

// Read returns the history of a run directory, which a solver holds or not. It fails with an error of the operating system;
// without a log there are no runs.
func Read(d *rundir.Dir, running bool) (*History, error) {
	log, err := d.Log()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return parse(log, running), nil
}

// parse reads a log.
func parse(log []byte, running bool) *History {
	h := &History{Runs: []Run{}, States: map[rundir.State]int{}, Slowest: []Stage{}}
	var run *Run // whose end has not been read
	for line := range bytes.Lines(log) {
		e, ok := parseEvent(string(line))
		switch {
		case !ok:
		case e.name == "start":
			h.Runs = append(h.Runs, Run{Started: e.at, State: rundir.Killed, Seeds: int(e.number("seeds")), Memory: e.fields["memory"], Threads: int(e.number("threads"))})
			run = &h.Runs[len(h.Runs)-1]
			run.reach(e.at)
		case run == nil:
		case e.end() != "":
			run.reach(e.at)
			run.State, run.Why = e.end(), cmp.Or(e.fields["why"], e.fields["error"])
			if e.bug() {
				run.Why = e.name
			}
			run = nil
		default:
			run.reach(e.at)
			if e.name == "sealed" {
				run.Layers = append(run.Layers, e.layer())
			}
		}
	}
	if run != nil && running {
		run.State = rundir.Running
	}
	h.sum()
	return h
}

// reach extends a run to a moment, unless a clock was put back.
func (r *Run) reach(at time.Time) {
	if at.After(r.Ended) {
		r.Ended, r.Seconds = at, at.Sub(r.Started).Seconds()
	}
}

// sum sums up the runs.
func (h *History) sum() {
	for _, r := range h.Runs {
		h.Seconds += r.Seconds
		h.States[r.State]++
		for _, l := range r.Layers {
			h.Layers++
			h.Positions += l.Positions
			for name, seconds := range l.Stages {
				h.Slowest = append(h.Slowest, Stage{l.Seeds, name, seconds})
			}
		}
	}
	slices.SortFunc(h.Slowest, func(a, b Stage) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(b.Seeds, a.Seeds), cmp.Compare(a.Stage, b.Stage))
	})
	h.Slowest = h.Slowest[:min(len(h.Slowest), mostStages)]
}

// Last returns the last run, nil if there is none.
func (h *History) Last() *Run {
	if len(h.Runs) == 0 {
		return nil
	}
	return &h.Runs[len(h.Runs)-1]
}

// InWords returns how many runs ended how, "1 done, 2 paused".
func (h *History) InWords() string {
	var parts []string
	for _, s := range []rundir.State{rundir.Running, rundir.Done, rundir.Paused, rundir.Interrupted, rundir.Killed, rundir.Failed} {
		if n := h.States[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

// event is a line of the log.
type event struct {
	at     time.Time
	level  string
	name   string
	fields map[string]string
}

// parseEvent reads a line as package slog writes it: names and values, which may be quoted.
func parseEvent(line string) (e event, ok bool) {
	e.fields = map[string]string{}
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		name, rest, found := strings.Cut(line, "=")
		if !found {
			return e, false
		}
		value := rest
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return e, false // cut short by a crash
			}
			value, _ = strconv.Unquote(quoted)
			rest = rest[len(quoted):]
		} else {
			value, _, _ = strings.Cut(rest, " ")
			rest = rest[len(value):]
		}
		e.fields[name], line = value, rest
	}
	var err error
	e.at, err = time.Parse(time.RFC3339, e.fields["time"])
	e.level, e.name = e.fields["level"], e.fields["msg"]
	return e, err == nil && e.name != ""
}

// end returns the state of a run that ends with the event, "" if it does not end.
func (e *event) end() rundir.State {
	switch s := rundir.State(e.name); {
	case s == "finished": // of earlier versions
		return rundir.Done
	case s == rundir.Done, s == rundir.Paused, s == rundir.Interrupted, s == rundir.Failed:
		return s
	case e.bug():
		return rundir.Failed
	}
	return ""
}

// bug reports whether the event is a panic.
func (e *event) bug() bool { return e.level == "ERROR" && e.fields["stack"] != "" }

// number returns a value, 0 if there is none.
func (e *event) number(name string) float64 {
	n, _ := strconv.ParseFloat(e.fields[name], 64)
	return n
}

// layer returns the layer that was sealed.
func (e *event) layer() Layer {
	l := Layer{
		Seeds: int(e.number("layer")), Sealed: e.at, Seconds: e.number("seconds"), Positions: uint64(e.number("positions")),
		Bytes: uint64(e.number("bytes")), RSS: uint64(e.number("rss_bytes")), Stages: map[string]float64{},
	}
	for name := range e.fields {
		if stage, ok := strings.CutPrefix(name, "seconds_of."); ok {
			l.Stages[stage] = e.number(name)
		}
	}
	return l
}
