package swapbfs_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"grenier/layers/swap"
	"grenier/pipeline/swapbfs"
)

func mustGrid(t testing.TB, rows, cols int) *swap.Grid {
	t.Helper()
	g, err := swap.NewGrid(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func search(t testing.TB, rows, cols, workers int) *swapbfs.Result {
	t.Helper()
	r, err := swapbfs.Search(t.Context(), mustGrid(t, rows, cols), swapbfs.Options{Memory: math.MaxUint64, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reference returns the depths of testdata/depths.csv by "rows x cols", which
// were computed by a program independent of this one.
func reference(t *testing.T) map[string][]uint64 {
	t.Helper()
	f, err := os.Open("testdata/depths.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	depths := map[string][]uint64{}
	for _, r := range records[1:] {
		size := r[0] + " x " + r[1]
		if r[2] != strconv.Itoa(len(depths[size])) {
			t.Fatalf("%s: depth %s comes after %d others", size, r[2], len(depths[size]))
		}
		n, err := strconv.ParseUint(r[3], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		depths[size] = append(depths[size], n)
	}
	return depths
}

// TestReference compares all grids of the reference values.
func TestReference(t *testing.T) {
	all := reference(t)
	if len(all) != 14 {
		t.Errorf("%d grids, want 14", len(all))
	}
	for size, want := range all {
		var rows, cols int
		if _, err := fmt.Sscanf(size, "%d x %d", &rows, &cols); err != nil {
			t.Fatal(err)
		}
		for workers := 1; workers <= 3; workers++ {
			if got := search(t, rows, cols, workers).Depths; !slices.Equal(got, want) {
				t.Errorf("%s, %d workers: %v, want %v", size, workers, got, want)
			}
		}
	}
}
