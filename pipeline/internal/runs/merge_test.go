package runs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// numbers returns sorted runs of records of stride words, the first two of them random.
func numbers(t testing.TB, s *Store, runs, records, stride int) (list []*Run, rows [][]uint32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(stride)))
	for range runs {
		var run [][]uint32
		for range records {
			row := make([]uint32, stride)
			for i := range row {
				row[i] = rng.Uint32N(8)
			}
			row[0], row[1] = rng.Uint32N(4), rng.Uint32()>>rng.Uint32N(24)
			run = append(run, row)
		}
		slices.SortFunc(run, slices.Compare)
		w := NewWriter(s, stride)
		for _, row := range run {
			if err := w.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		r, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		list, rows = append(list, r), append(rows, run...)
	}
	slices.SortFunc(rows, slices.Compare)
	return list, rows
}

// TestMerge compares a merge with all records sorted.
func TestMerge(t *testing.T) {
	for _, stride := range []int{2, 3, 6} {
		s := &Store{Most: 1 << 30}
		list, rows := numbers(t, s, 13, 3000, stride)
		m, err := s.openAll(list)
		for i := 0; err == nil && m.Len() > 0; i++ {
			if i >= len(rows) || !slices.Equal(m.Row(), rows[i]) {
				t.Fatalf("%d words, record %d: %x", stride, i, m.Row())
			}
			if err = m.Next(); err == nil && m.Len() == 0 && i < len(rows)-1 {
				t.Errorf("%d words: %d records of %d", stride, i+1, len(rows))
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}
