package prove

import (
	"sync"

	"grenier/io/manifest"
	"grenier/pipeline/check/verify"
)

// Progress says how far a proof is.
type Progress struct {
	Seeds int // of the layer in progress
	// Level and Pass say what is done when the comparison of all scores is over:
	// the pass over the layer that grounds scores of Level and -Level. Both are 0
	// before. Level is 0 for passes that ground scores of all levels.
	Level, Pass int
	// Looked is how many of Positions were looked at in this pass; both are 0 if that is not counted.
	Looked, Positions uint64
	// Done and Total count the positions, of all layers together: each once when
	// its score is compared, and once more when it is grounded if it is not 0. Begun is
	// what was done before this run began.
	Begun, Done, Total uint64
}

// work returns what a layer adds to Total.
func work(l *manifest.Layer) uint64 { return l.Positions + l.Win + l.Loss }

// meter adds up progress.
type meter struct {
	mu       sync.Mutex
	report   func(Progress) // may be nil
	total    uint64
	before   uint64 // done of the layers before
	begun    uint64
	progress Progress
}

// verified reports how far the comparison of a layer is.
func (m *meter) verified(p verify.Progress) {
	m.set(func() { m.progress = Progress{Seeds: p.Seeds, Done: m.before + p.Done} })
}

// skip takes in that so much was done before this run.
func (m *meter) skip(work uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun += work
}

// compared reports that all positions of the layer of n seeds were compared.
func (m *meter) compared(n int, positions uint64) {
	m.set(func() { m.progress = Progress{Seeds: n, Done: m.before + positions} })
}

// pass reports that a pass begins.
func (m *meter) pass(level, pass int) {
	m.set(func() {
		m.progress.Level, m.progress.Pass = level, pass
		m.progress.Looked, m.progress.Positions = 0, 0
	})
}

// passing reports how far a pass in the order of the ranks is.
func (m *meter) passing(p verify.Progress) {
	m.set(func() { m.progress.Looked, m.progress.Positions = p.Done, p.Total })
}

// grounded reports that more positions are grounded.
func (m *meter) grounded(positions uint64) {
	m.set(func() { m.progress.Done += positions })
}

// layerDone reports that a layer is done.
func (m *meter) layerDone(work uint64) {
	m.set(func() {
		m.before += work
		m.progress.Done = m.before
	})
}

func (m *meter) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	if m.report != nil {
		m.progress.Begun, m.progress.Total = m.begun, m.total
		m.report(m.progress)
	}
}
