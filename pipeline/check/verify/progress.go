package verify

import (
	"sync"

	"grenier/pipeline/job"
)

// meter adds up progress: positions, of all layers together. Those in order before this run began
// are done, too.
type meter struct {
	mu     sync.Mutex
	report func(job.Step) // may be nil
	before uint64         // of the layers that are done
	begun  uint64         // done before this run
	total  uint64
}

// reach reports how many positions of layer n are done.
func (m *meter) reach(n int, positions uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell(n, positions)
}

func (m *meter) tell(n int, positions uint64) {
	if m.report != nil {
		m.report(job.OfLayer(n, m.begun, m.before+positions, m.total))
	}
}

// skip takes in positions that were in order before this run.
func (m *meter) skip(positions uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun += positions
}

// finish reports that layer n is done, with all its positions.
func (m *meter) finish(n int, positions uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before += positions
	m.tell(n, 0)
}

// panelMeter tells how far a panel is by the chunks of layers that were read for it.
type panelMeter struct {
	meter       *meter
	seeds       int
	before      uint64 // positions of the panels that are done
	positions   uint64 // of this one
	done, total uint64 // chunks
}

// step reports that one chunk more was read.
func (m *panelMeter) step() {
	m.meter.mu.Lock()
	defer m.meter.mu.Unlock()
	m.done++
	m.meter.tell(m.seeds, m.before+uint64(float64(m.positions)*float64(m.done)/float64(m.total)))
}
