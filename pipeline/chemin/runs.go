package chemin

import "grenier/pipeline/internal/runs"

// run is a sorted list of records (package runs).
type run struct {
	layout
	runs.Run
}

// writer makes runs.
type writer struct {
	*runs.Writer
	layout
}

func newWriter(s *runs.Store, l layout) *writer { return &writer{runs.NewWriter(s, l.stride()), l} }

// finish returns the run and begins another one.
func (w *writer) finish() (*run, error) {
	r, err := w.Finish()
	if err != nil {
		return nil, err
	}
	return &run{w.layout, *r}, nil
}

// openAll returns a merge of runs.
func openAll(s *runs.Store, all []*run) (*runs.Merge, error) {
	list := make([]*runs.Run, len(all))
	for i, r := range all {
		list[i] = &r.Run
	}
	return s.OpenAll(list)
}
