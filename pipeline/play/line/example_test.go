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
	fmt.Println("value", l.Value)
	for i, m := range l.Moves {
		fmt.Printf("%d. pit %d takes %d\n", i+1, m.Pit, m.Captured)
	}
	fmt.Println(l.End)
	// Output:
	// value 6
	// 1. pit 5 takes 2
	// 2. pit 2 takes 0
	// 3. pit 0 takes 0
	// 4. pit 3 takes 0
	// 5. pit 2 takes 0
	// 6. pit 4 takes 0
	// 7. pit 1 takes 0
	// 8. pit 5 takes 0
	// 9. pit 0 takes 4
	// finished
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
