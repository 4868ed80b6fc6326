package scrub

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"

	"grenier/pipeline/job"
)

// MaxProblems is how many problems of a layer are described.
const MaxProblems = 10

// State is the state of a layer.
type State string

// The states.
const (
	Intact  State = "intact"
	Stale   State = "stale" // intact, but computed from other layers than those below it
	Damaged State = "damaged"
	Missing State = "missing"
	// Incomplete is a file in which nothing is known to be wrong, but of which parts were not read.
	Incomplete State = "incomplete"
)

// Result is the outcome of a scrub.
type Result struct {
	// OK says that nothing is damaged or missing.
	OK bool `json:"ok"`
	// Manifest describes the fault of the manifest, "" if it has none.
	Manifest string `json:"manifest_problem"`
	// Part says that this is one part of several, as job.Part has it, "" if it is the whole.
	Part string `json:"part,omitempty"`
	// Restarted says why not all that an interrupted run noted is believed, "" if it is.
	Restarted string `json:"restarted,omitempty"`
	// Layers holds the outcomes by increasing number of seeds.
	Layers []Layer `json:"layers"`
	// Ignored lists files named like a layer above these that do not begin like one.
	Ignored []string `json:"ignored,omitempty"`
	// Bytes is the size of all layer files, and files of distances, including those that an interrupted scrub
	// had read.
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`

	bad   int
	first error
	parts int // that were added up
}

// Layer is the outcome for one layer.
type Layer struct {
	Seeds int    `json:"seeds"`
	File  string `json:"file"`
	State State  `json:"state"`
	// Distances is the state of the file of the distances of the layer, "" if there is none and none is listed; Stale is one of
	// other scores, or another one than is listed.
	Distances State `json:"distances,omitempty"`
	// Bytes is the size of both files.
	Bytes int64 `json:"bytes"`
	// Unlisted says that there is a manifest, but it does not list the layer. A file that it
	// does not list is not part of the run.
	Unlisted bool `json:"unlisted"`
	// Missing lists the parts, from 1 on, that nobody has read, or only of other files.
	Missing []int `json:"missing,omitempty"`
	// Before is the time at which an interrupted scrub read the file, nil if this one did.
	Before *time.Time `json:"read_before,omitempty"`
	// Problems describes the first MaxProblems problems, Count says how many there are.
	Problems []string `json:"problems"`
	Count    int      `json:"problem_count"`

	first error
	again bool // a part has found faults, so that all of it is read
}

// add appends the outcome for a layer, elapsed after the start.
func (r *Result) add(l Layer, elapsed time.Duration) {
	r.OK = r.OK && l.State == Intact
	if l.first != nil {
		r.OK = false
		r.bad++
		if r.first == nil {
			r.first = fmt.Errorf("layer %d: %w", l.Seeds, l.first)
		}
	}
	r.Layers = append(r.Layers, l)
	r.Bytes += l.Bytes
	r.Seconds = elapsed.Seconds()
}

// Err returns nil if nothing is wrong, otherwise the first problem, which matches
// corrupt.ErrCorrupt, and how many layers have problems, or job.ErrMissing if parts are missing.
func (r *Result) Err() error {
	if r.first == nil {
		missing := map[int][]int{}
		for i := range r.Layers {
			missing[r.Layers[i].Seeds] = r.Layers[i].Missing
		}
		return job.Missing(r.parts, missing)
	}
	if r.bad > 1 || r.bad == 1 && r.Manifest != "" {
		return fmt.Errorf("%w (%d of %s damaged or missing)", r.first, r.bad, english.Plural(len(r.Layers), "layer", ""))
	}
	return r.first
}

// problem adds a problem.
func (l *Layer) problem(err error) {
	if l.first == nil {
		l.first = err
	}
	if l.Count++; len(l.Problems) < MaxProblems {
		l.Problems = append(l.Problems, err.Error())
	}
}

// damaged adds damage.
func (l *Layer) damaged(err error) {
	l.State = Damaged
	l.problem(err)
}
