package search_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/search"
	solver "grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// Example searches a board with more seeds than are solved, until its score is proven.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "awari")
	check(err)
	defer os.RemoveAll(dir)
	game, err := awari.New(12, awari.Awari)
	check(err)
	_, err = solver.Solve(ctx, dir, game, solver.Options{Seeds: 6, Job: job.Job{Workers: 1}})
	check(err)
	t, err := tables.Open(ctx, dir)
	check(err)
	defer t.Close()

	blocks := search.NewBlocks(t, 16<<20)
	engine := search.New(blocks, search.Options{Bytes: 16 << 20})
	r, err := engine.Search(ctx, tables.Board{1, 0, 0, 1, 2, 1, 1, 0, 2, 1}, search.Limits{})
	check(err)
	fmt.Printf("%d seeds, %s; play pit %d\n", r.Seeds, r.Text(), r.Best)
	// Output: 9 seeds, value +2; play pit 4
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
