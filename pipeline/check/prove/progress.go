package prove

import (
	"fmt"
	"sync"

	"grenier/io/manifest"
	"grenier/pipeline/job"
)

// work returns the work for a layer, a summand of the total.
func work(l *manifest.Layer) uint64 { return l.Positions + l.Win + l.Loss }

// meter adds up progress.
type meter struct {
	mu     sync.Mutex
	report func(job.Step) // may be nil
	// done and total count the positions, of all layers together: each once when
	// its score is compared, and once more when it is grounded if it is not 0. begun was
	// done before this run, before in the layers that are done.
	begun, before, done, total uint64

	seeds int // of the layer in progress
	// pass says which pass over the layer it is, when the comparison of all scores is over: 0 before.
	pass int
	// looked of the positions were looked at in this pass, or for their moves before it; both are 0 otherwise.
	looked, positions uint64
}

// verified reports how far the comparison of a layer is.
func (m *meter) verified(s job.Step) { m.compared(s.Seeds, uint64(s.Done)) }

// skip takes in work that was done before this run.
func (m *meter) skip(work uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun += work
}

// compared reports how many positions of the layer of n seeds were compared.
func (m *meter) compared(n int, positions uint64) {
	m.set(func() {
		m.seeds, m.done = n, m.before+positions
		m.pass, m.looked, m.positions = 0, 0, 0
	})
}

// begin reports that a pass begins.
func (m *meter) begin(pass int) {
	m.set(func() { m.pass, m.looked, m.positions = pass, 0, 0 })
}

// passing reports how far a pass in the order of the ranks is.
func (m *meter) passing(s job.Step) {
	m.set(func() { m.looked, m.positions = uint64(s.Done), uint64(s.Total) })
}

// grounded reports that more positions are grounded.
func (m *meter) grounded(positions uint64) {
	m.set(func() { m.done += positions })
}

// layerDone reports that a layer is done.
func (m *meter) layerDone(work uint64) {
	m.set(func() {
		m.before += work
		m.done = m.before
	})
}

// set changes the meter and reports the step.
func (m *meter) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	if m.report != nil {
		m.report(m.step())
	}
}

// step says how far the proof is.
func (m *meter) step() job.Step {
	s := job.OfLayer(m.seeds, m.begun, m.done, m.total)
	switch {
	case m.pass > 0 && m.positions > 0:
		s.Doing += fmt.Sprintf(", pass %d (%d%%)", m.pass, 100*m.looked/m.positions)
	case m.pass > 0:
		s.Doing += fmt.Sprintf(", pass %d", m.pass)
	case m.positions > 0:
		s.Doing += fmt.Sprintf(", moves (%d%%)", 100*m.looked/m.positions)
	}
	return s
}
