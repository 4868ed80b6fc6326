package tables_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

// solveSix solves the boards of up to six seeds into a directory, as "grenier awari solve --seeds 6" does.
func solveSix() (dir string) {
	dir, err := os.MkdirTemp("", "awari")
	check(err)
	game, err := awari.New(12, awari.Awari)
	check(err)
	_, err = solve.Solve(context.Background(), dir, game, solve.Options{Seeds: 6, Job: job.Job{Workers: 1}})
	check(err)
	return dir
}

// openSix opens the tables of such a directory.
func openSix() (t *tables.Tables, done func()) {
	dir := solveSix()
	t, err := tables.Open(context.Background(), dir)
	check(err)
	return t, func() { t.Close(); os.RemoveAll(dir) }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Example opens a run directory and asks for the score of a board that somebody has typed.
func Example() {
	dir := solveSix()
	defer os.RemoveAll(dir)
	ctx := context.Background()

	t, err := tables.Open(ctx, dir)
	check(err)
	defer t.Close()
	board, err := t.Game().Parse(strings.Fields("0 0 0 0 0 1 1 0 0 0 0 0"))
	check(err)
	score, err := t.Score(ctx, board)
	check(err)
	fmt.Println(t.Game().Name(), "up to", t.MaxSeeds(), "seeds")
	fmt.Println("score", score)
	// Output:
	// awari, 12 pits, rules awari up to 6 seeds
	// score 2
}

// ExampleOpen_remote opens a run directory that a web server hands out as plain files.
func ExampleOpen_remote() {
	dir := solveSix()
	defer os.RemoveAll(dir)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	ctx := context.Background()

	t, err := tables.Open(ctx, server.URL, tables.CacheBytes(64<<20))
	check(err)
	defer t.Close()
	score, err := t.Score(ctx, tables.Board{0, 0, 0, 0, 0, 1, 1})
	check(err)
	fmt.Println(score)
	// Output: 2
}

// ExampleTables_Probe prints what each move of a board leads to.
func ExampleTables_Probe() {
	ctx := context.Background()
	t, done := openSix()
	defer done()

	p, err := t.Probe(ctx, tables.Board{2, 0, 0, 0, 1, 1, 1, 0, 1})
	check(err)
	fmt.Println("value", p.Value)
	for _, m := range p.Moves[:t.Game().Half()] {
		if m.Legal {
			fmt.Printf("pit %d: value %d, captures %d, then %s\n", m.Pit, m.Value, m.Captured, t.Game().Text(m.Child))
		}
	}
	// Output:
	// value 6
	// pit 0: value 2, captures 0, then 1 0 1 0 0 0 0 1 1 0 1 1
	// pit 4: value 2, captures 0, then 1 0 1 0 0 0 2 0 0 0 0 2
	// pit 5: value 6, captures 2, then 0 0 1 0 0 0 2 0 0 0 1 0
}

// ExampleTables_Scores looks up many boards: each block is read once, in the order of the files.
func ExampleTables_Scores() {
	ctx := context.Background()
	t, done := openSix()
	defer done()

	boards := []tables.Board{{1, 1, 1, 1, 1, 1}, {0, 1}, {6: 5}, {0, 1}}
	scores := make([]int8, len(boards))
	check(t.Scores(ctx, boards, scores))
	fmt.Println(scores)
	// Output: [6 1 -5 1]
}

// ExampleTables_Boards counts the draws among all boards with five seeds.
func ExampleTables_Boards() {
	ctx := context.Background()
	t, done := openSix()
	defer done()

	all, draws := 0, 0
	for e, err := range t.Boards(ctx, 5) {
		check(err)
		if all++; e.Score == 0 {
			draws++
		}
	}
	fmt.Println(draws, "of", all, "boards; the manifest says", t.Layers()[5].Draw)
	// Output: 0 of 4368 boards; the manifest says 0
}
