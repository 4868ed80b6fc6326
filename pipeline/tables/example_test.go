package tables_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"

	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// Example solves the boards of up to six seeds and asks for one of them.
func Example() {
	dir, err := os.MkdirTemp("", "awari")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		log.Fatal(err)
	}
	o := solve.Options{Seeds: 6, Job: job.Job{Workers: 1, Family: cpu.Best()}}
	if _, err := solve.Solve(context.Background(), dir, game, o); err != nil {
		log.Fatal(err)
	}

	t, err := tables.Open(dir, tables.Options{Family: cpu.Best()})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	board, err := t.Game().Parse(strings.Fields("0 0 0 0 0 1 1 0 0 0 0 0"))
	if err != nil {
		log.Fatal(err)
	}
	score, err := t.Score(board)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Game().Name(), "up to", t.MaxSeeds(), "seeds")
	fmt.Println("score", score)
	// Output:
	// awari, 12 pits, rules awari up to 6 seeds
	// score 2
}

// sample is a directory for the other examples, solved like that of the first.
// The tests remove it when they end.
var sample = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "awari")
	if err != nil {
		log.Fatal(err)
	}
	game, err := awari.New(12, awari.Awari)
	if err != nil {
		log.Fatal(err)
	}
	o := solve.Options{Seeds: 6, Job: job.Job{Workers: 1, Family: cpu.Best()}}
	if _, err := solve.Solve(context.Background(), dir, game, o); err != nil {
		log.Fatal(err)
	}
	sampleDir = dir
	return dir
})

// sampleDir is the directory to be removed, if there is one.
var sampleDir string

// The value of each move, and the board that the best one leads to.
func ExampleTables_Probe() {
	t, err := tables.Open(sample(), tables.Options{Family: cpu.Best()})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	p, err := t.Probe(awari.Board{2, 0, 0, 0, 1, 1, 1, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("value", p.Value)
	for _, m := range p.Moves[:t.Game().Half()] {
		if !m.Legal {
			continue
		}
		fmt.Printf("pit %d: value %d, captures %d", m.Pit, m.Value, m.Captured)
		if m.Value == p.Value {
			fmt.Printf(", best; then %s", t.Game().Text(m.Child))
		}
		fmt.Println()
	}
	// Output:
	// value 6
	// pit 0: value 2, captures 0
	// pit 4: value 2, captures 0
	// pit 5: value 6, captures 2, best; then 0 0 1 0 0 0 2 0 0 0 1 0
}

// Many boards at once: each block is read once, in the order of the files.
func ExampleTables_Scores() {
	t, err := tables.Open(sample(), tables.Options{Family: cpu.Best()})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	boards := []awari.Board{{1, 1, 1, 1, 1, 1}, {0, 1}, {6: 5}, {0, 1}}
	scores := make([]int8, len(boards))
	if err := t.Scores(context.Background(), boards, scores); err != nil {
		log.Fatal(err)
	}
	fmt.Println(scores)
	// Output:
	// [6 1 -5 1]
}
