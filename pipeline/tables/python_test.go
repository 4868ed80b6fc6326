package tables_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"grenier/io/layerfile"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/internal/testrun"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

const script = "../../docs/read_layer.py"

// python returns the path of a Python that can run the script.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("docs/read_layer.py needs python3, which is not installed")
	}
	// What is in the path may be a wrapper that takes longer than the script.
	out, err := exec.Command(path, "-c", "import sys; print(sys.executable); sys.exit(sys.version_info < (3, 8))").Output()
	if err != nil {
		t.Skipf("docs/read_layer.py needs Python 3.8 or newer: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// readByScript asks the script for the scores of boards.
func readByScript(t *testing.T, python, dir string, game awari.Game, boards []awari.Board) (scores []int8, message string) {
	t.Helper()
	var in, errs strings.Builder
	for _, b := range boards {
		fmt.Fprintln(&in, game.Text(b))
	}
	cmd := exec.Command(python, script, dir, "-")
	cmd.Stdin, cmd.Stderr = strings.NewReader(in.String()), &errs
	out, _ := cmd.Output() // a failure shows in the message
	for _, word := range strings.Fields(string(out)) {
		score, err := strconv.ParseInt(word, 10, 8)
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, int8(score))
	}
	return scores, errs.String()
}

// randomBoardsOf returns n boards of each layer.
func randomBoardsOf(space *awari.Space, seeds, n int) []awari.Board {
	random := rand.New(rand.NewPCG(5, 6))
	var boards []awari.Board
	for s := range seeds + 1 {
		for range n {
			boards = append(boards, space.Unrank(s, random.Uint64N(space.Size(s))))
		}
	}
	return boards
}

// TestPython shows that docs/format is enough to write a reader in another
// language: the script, which was, gives the scores that Tables gives.
func TestPython(t *testing.T) {
	python := python(t)
	for _, c := range []struct {
		pits, seeds, block int // block 0: a run of the fast engine
		rules              awari.Rules
	}{{12, 8, 0, awari.Awari}, {8, 7, 100, awari.Strict}, {4, 20, 5, awari.Awari}} {
		t.Run(fmt.Sprintf("%d pits", c.pits), func(t *testing.T) {
			game := testrun.Game(t, c.pits, c.rules)
			var dir string
			if c.block == 0 {
				dir = solveRun(t, game, c.seeds)
			} else {
				dir = testrun.Write(t, game, testrun.Solve(t, game, c.seeds), c.block)
			}
			boards := randomBoardsOf(testrun.Space(t, game, c.seeds), c.seeds, 60)
			want := make([]int8, len(boards))
			if err := open(t, dir, tables.Options{}).Scores(t.Context(), boards, want); err != nil {
				t.Fatal(err)
			}
			got, message := readByScript(t, python, dir, game, boards)
			if message != "" || len(got) != len(want) {
				t.Fatalf("%d scores of %d, %s", len(got), len(want), message)
			}
			checkScores(t, game, boards, got, want)
		})
	}
}

// TestPythonDamage changes one byte of a file at a time.
func TestPythonDamage(t *testing.T) {
	python := python(t)
	game := testrun.Game(t, 8, awari.Awari)
	dir := testrun.Write(t, game, testrun.Solve(t, game, 6), 4096)
	boards := randomBoardsOf(testrun.Space(t, game, 6), 6, 1)
	path := open(t, dir, tables.Options{}).Path(6)
	intact := testrun.ReadFile(t, path)
	for name, at := range map[string]int{
		"not a layer file": 3, "unknown version": 8, "checksum of the header": 56, "checksum of the model": 90,
		"block 0: checksum of the stored bytes": len(intact) / 2, "checksum of the footer": len(intact) - 40,
		"block 0: index entry": len(intact) - 76 - 24 + 9,
	} {
		data := append([]byte{}, intact...)
		data[at] ^= 0x40
		testrun.WriteFile(t, path, data)
		scores, message := readByScript(t, python, dir, game, boards)
		if !strings.HasPrefix(message, "read_layer.py: ") || !strings.Contains(message, name) || len(scores) != 6 {
			t.Errorf("%s: %d scores, %s", name, len(scores), message)
		}
	}
	testrun.WriteFile(t, path, intact[:len(intact)-1])
	if _, message := readByScript(t, python, dir, game, boards); !strings.Contains(message, "checksum of the footer") {
		t.Errorf("cut short: %s", message)
	}
}

// TestPythonZstd wants scores from those who have the module, and a clear
// message for all others.
func TestPythonZstd(t *testing.T) {
	python := python(t)
	game := testrun.Game(t, 12, awari.Awari)
	dir := t.TempDir()
	o := solve.Options{Seeds: 6, Codec: layerfile.Zstd, Workers: 1, Family: cpu.Generic}
	if _, err := solve.Solve(t.Context(), dir, game, o); err != nil {
		t.Fatal(err)
	}
	boards := randomBoardsOf(testrun.Space(t, game, 6), 6, 20)
	got, message := readByScript(t, python, dir, game, boards)
	if exec.Command(python, "-c", "import zstandard").Run() != nil {
		if want := "read_layer.py: the layer is in zstd, which takes the module zstandard\n"; message != want {
			t.Errorf("%q, want %q", message, want)
		}
		return
	}
	want := make([]int8, len(boards))
	if err := open(t, dir, tables.Options{}).Scores(t.Context(), boards, want); err != nil {
		t.Fatal(err)
	}
	if message != "" || len(got) != len(want) {
		t.Fatalf("%d scores of %d, %s", len(got), len(want), message)
	}
	checkScores(t, game, boards, got, want)
}

// TestPythonIsShort keeps a promise.
func TestPythonIsShort(t *testing.T) {
	data, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n >= 150 {
		t.Errorf("docs/read_layer.py has %d lines, want fewer than 150", n)
	}
}
