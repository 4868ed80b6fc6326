package prove

import (
	"fmt"
	"sync"

	"grenier/io/manifest"
	"grenier/pipeline/job"
)

// progress is how far a proof is.
type progress struct {
	seeds int // of the layer in progress
	// level and pass say what is done when the comparison of all scores is over:
	// the pass over the layer that grounds scores of level and -level. Both are 0
	// before. level is 0 for passes that ground scores of all levels.
	level, pass int
	// looked is how many of positions were looked at in this pass; both are 0 if that is not counted.
	looked, positions uint64
	// done and total count the positions, of all layers together: each once when
	// its score is compared, and once more when it is grounded if it is not 0. begun is
	// what was done before this run began.
	begun, done, total uint64
}

// step returns p as the step of a job.
func (p *progress) step() job.Step {
	s := job.OfLayer(p.seeds, p.begun, p.done, p.total)
	switch {
	case p.level > 0:
		s.Doing += fmt.Sprintf(", scores of %d, pass %d", p.level, p.pass)
	case p.positions > 0:
		s.Doing += fmt.Sprintf(", pass %d (%d%%)", p.pass, 100*p.looked/p.positions)
	case p.pass > 0:
		s.Doing += fmt.Sprintf(", pass %d", p.pass)
	}
	return s
}

// work returns what a layer adds to the total.
func work(l *manifest.Layer) uint64 { return l.Positions + l.Win + l.Loss }

// meter adds up progress.
type meter struct {
	mu       sync.Mutex
	report   func(job.Step) // may be nil
	total    uint64
	before   uint64 // done of the layers before
	begun    uint64
	progress progress
}

// verified reports how far the comparison of a layer is.
func (m *meter) verified(s job.Step) {
	m.set(func() { m.progress = progress{seeds: s.Seeds, done: m.before + uint64(s.Done)} })
}

// skip takes in that so much was done before this run.
func (m *meter) skip(work uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun += work
}

// compared reports that all positions of the layer of n seeds were compared.
func (m *meter) compared(n int, positions uint64) {
	m.set(func() { m.progress = progress{seeds: n, done: m.before + positions} })
}

// pass reports that a pass begins.
func (m *meter) pass(level, pass int) {
	m.set(func() {
		m.progress.level, m.progress.pass = level, pass
		m.progress.looked, m.progress.positions = 0, 0
	})
}

// passing reports how far a pass in the order of the ranks is.
func (m *meter) passing(s job.Step) {
	m.set(func() { m.progress.looked, m.progress.positions = uint64(s.Done), uint64(s.Total) })
}

// grounded reports that more positions are grounded.
func (m *meter) grounded(positions uint64) {
	m.set(func() { m.progress.done += positions })
}

// layerDone reports that a layer is done.
func (m *meter) layerDone(work uint64) {
	m.set(func() {
		m.before += work
		m.progress.done = m.before
	})
}

func (m *meter) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	if m.report != nil {
		m.progress.begun, m.progress.total = m.begun, m.total
		m.report(m.progress.step())
	}
}
