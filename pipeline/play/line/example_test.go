package line_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/play/line"
	solver "grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// ExampleBest plays a board to the end of the game, both players as well as possible.
func ExampleBest() {
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

	l, err := line.Best(ctx, t, tables.Board{2, 0, 0, 0, 1, 1, 1, 0, 1}, line.Options{})
	check(err)
	fmt.Printf("value %d, pits", l.Value)
	for _, m := range l.Moves {
		fmt.Print(" ", m.Pit)
	}
	fmt.Println(",", l.End)
	// Output: value 6, pits 5 2 0 3 2 4 1 5 0, finished
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
