package verify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"grenier/kernels/fault"
	"grenier/pipeline/job"
)

// MaxDifferences is how many of the differences of a layer are described.
const MaxDifferences = 10

// ErrDifferences reports files that are intact but hold wrong scores or distances.
var ErrDifferences = fault.New(fault.Difference, "scores differ from what the moves give")

// Result is the outcome of a verification.
type Result struct {
	// OK says that nothing is wrong with the layers below.
	OK bool `json:"ok"`
	// Sample and Seed are copied from the Options.
	Sample uint64 `json:"sample"`
	Seed   uint64 `json:"seed"`
	// Part says that this is one part of several, as job.Part has it, "" if it is the whole.
	Part string `json:"part,omitempty"`
	// Restarted says why not all that an interrupted run noted is believed, "" if it is.
	Restarted string `json:"restarted,omitempty"`
	// Layers holds the outcomes by increasing number of seeds.
	Layers  []Layer `json:"layers"`
	Seconds float64 `json:"seconds"`

	parts int // that were added up
}

// Layer is the outcome for one layer.
type Layer struct {
	Seeds     int    `json:"seeds"`
	Positions uint64 `json:"positions"`
	// Checked is the number of positions compared; it is smaller than asked for
	// when files are damaged.
	Checked uint64 `json:"checked"`
	// Mismatches is the number of positions, of those compared, whose score is
	// wrong.
	Mismatches uint64 `json:"mismatches"`
	// Plies says that the distance of each position was compared too.
	Plies bool `json:"-"`
	// Missing lists the parts, from 1 on, that nobody has verified, or only with other files.
	Missing []int `json:"missing,omitempty"`
	// Before is when a verification that was interrupted has found all of this; nil if
	// it was found now.
	Before *time.Time `json:"before,omitempty"`
	// Problems describes everything found damaged, and the first mismatches in
	// rank order, MaxDifferences at most.
	Problems []Problem `json:"problems"`
}

// Problem is something wrong with a layer: either damage or a difference.
type Problem struct {
	// Text describes the problem in one line.
	Text string `json:"text"`
	// Difference is the position with a wrong score, nil in the case of damage.
	Difference *Difference `json:"difference,omitempty"`
	// Damage names the file that cannot be used; it matches corrupt.ErrCorrupt. It is nil
	// in the case of a difference.
	Damage error `json:"-"`
}

// Difference is a position whose score does not follow from its moves.
type Difference struct {
	Rank     uint64 `json:"rank"`
	Board    string `json:"board"`    // as awari.Game.Text writes it
	Stored   int    `json:"stored"`   // the score in the file
	Expected int    `json:"expected"` // by the moves
	// Plies says that these are distances, not scores.
	Plies bool `json:"plies,omitempty"`
}

// add appends the outcome for a layer, elapsed after the start.
func (r *Result) add(l Layer, elapsed time.Duration) {
	r.Layers = append(r.Layers, l)
	r.OK = r.OK && len(l.Problems) == 0 && len(l.Missing) == 0
	r.Seconds = elapsed.Seconds()
}

// Err returns nil if nothing is wrong, otherwise the first damage, which matches
// corrupt.ErrCorrupt, or ErrDifferences if there is none, or job.ErrMissing if parts are missing.
func (r *Result) Err() error {
	var mismatches, checked uint64
	missing := map[int][]int{}
	for i := range r.Layers {
		l := &r.Layers[i]
		for _, p := range l.Problems {
			if p.Damage != nil {
				return fmt.Errorf("layer %d: %w", l.Seeds, p.Damage)
			}
		}
		mismatches += l.Mismatches
		checked += l.Checked
		missing[l.Seeds] = l.Missing
	}
	if mismatches > 0 {
		return fmt.Errorf("%w: %d of %d positions", ErrDifferences, mismatches, checked)
	}
	return job.Missing(r.parts, missing)
}

// damaged adds damage.
func (l *Layer) damaged(err error) {
	l.Problems = append(l.Problems, Problem{Text: err.Error(), Damage: err})
}

// found is the outcome of the comparison of some positions.
type found struct {
	checked    uint64
	mismatches uint64
	first      []Difference // by rank
}

// differs adds a difference.
func (f *found) differs(d Difference) {
	f.mismatches++
	f.insert(d)
}

// insert keeps a difference if it is among the first ones.
func (f *found) insert(d Difference) {
	i, _ := slices.BinarySearchFunc(f.first, d.Rank, func(e Difference, rank uint64) int { return cmp.Compare(e.Rank, rank) })
	if i < MaxDifferences {
		f.first = slices.Insert(f.first, i, d)
		f.first = f.first[:min(len(f.first), MaxDifferences)]
	}
}

// add adds the findings of another part.
func (f *found) add(g *found) {
	f.checked += g.checked
	f.mismatches += g.mismatches
	for _, d := range g.first {
		f.insert(d)
	}
}

// compared adds the findings of the comparison of all positions.
func (l *Layer) compared(f *found) {
	l.Checked, l.Mismatches = f.checked, f.mismatches
	for i := range f.first {
		d := &f.first[i]
		l.Problems = append(l.Problems, Problem{Text: d.String(), Difference: d})
	}
}

// isDamaged reports whether a file cannot be used.
func (l *Layer) isDamaged() bool {
	return slices.ContainsFunc(l.Problems, func(p Problem) bool { return p.Difference == nil })
}

// String describes the difference in one line.
func (d *Difference) String() string {
	if d.Plies {
		return fmt.Sprintf("board %s, rank %d: the distance is %d plies, but its moves give %d", d.Board, d.Rank, d.Stored, d.Expected)
	}
	return fmt.Sprintf("board %s, rank %d: the score is %d, but its moves give %d", d.Board, d.Rank, d.Stored, d.Expected)
}
