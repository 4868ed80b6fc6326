package verify

import "sync"

// Progress says how far the comparison of positions is.
type Progress struct {
	Seeds       int    // of the layer in progress
	Done, Total uint64 // positions, of all layers together
}

// meter adds up progress.
type meter struct {
	mu     sync.Mutex
	report func(Progress) // may be nil
	done   uint64
	total  uint64
}

// add reports that the run has finished more positions of layer n.
func (m *meter) add(n int, positions uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += positions
	if m.report != nil {
		m.report(Progress{Seeds: n, Done: m.done, Total: m.total})
	}
}
