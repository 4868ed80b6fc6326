package tables_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// Example solves the boards of up to six seeds, and asks for the score of one of them, for the values of the
// moves of another, and for the scores of many at once.
func Example() {
	dir, err := os.MkdirTemp("", "awari")
	check(err)
	defer os.RemoveAll(dir)
	game, err := awari.New(12, awari.Awari)
	check(err)
	o := solve.Options{Seeds: 6, Job: job.Job{Workers: 1, Family: cpu.Best()}}
	_, err = solve.Solve(context.Background(), dir, game, o)
	check(err)

	t, err := tables.Open(dir, tables.Options{Family: cpu.Best()})
	check(err)
	defer t.Close()
	board, err := t.Game().Parse(strings.Fields("0 0 0 0 0 1 1 0 0 0 0 0"))
	check(err)
	score, err := t.Score(board)
	check(err)
	fmt.Println(t.Game().Name(), "up to", t.MaxSeeds(), "seeds")
	fmt.Println("score", score)

	p, err := t.Probe(awari.Board{2, 0, 0, 0, 1, 1, 1, 0, 1})
	check(err)
	fmt.Println("value", p.Value)
	for _, m := range p.Moves[:t.Game().Half()] {
		if m.Legal {
			fmt.Printf("pit %d: value %d, captures %d, then %s\n", m.Pit, m.Value, m.Captured, t.Game().Text(m.Child))
		}
	}

	boards := []awari.Board{{1, 1, 1, 1, 1, 1}, {0, 1}, {6: 5}, {0, 1}}
	scores := make([]int8, len(boards))
	check(t.Scores(context.Background(), boards, scores)) // each block is read once, in the order of the files
	fmt.Println(scores)
	// Output:
	// awari, 12 pits, rules awari up to 6 seeds
	// score 2
	// value 6
	// pit 0: value 2, captures 0, then 1 0 1 0 0 0 0 1 1 0 1 1
	// pit 4: value 2, captures 0, then 1 0 1 0 0 0 2 0 0 0 0 2
	// pit 5: value 6, captures 2, then 0 0 1 0 0 0 2 0 0 0 1 0
	// [6 1 -5 1]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
