package tables_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/layerfiletest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/pythontest"
	"grenier/internal/testkit/remotetest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tabletest"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/layerfile"
	"grenier/io/tally"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// TestLongLibraryPage builds the module of docs/library.md in a workspace, and in the other ways that the page
// names, and runs it: it prints what the page shows.
func TestLongLibraryPage(t *testing.T) {
	tries.NeedsLong(t, "links programs")
	checkout := must.Get(filepath.Abs("../.."))(t)
	page := string(must.Read(t, filepath.Join(checkout, "docs", "library.md")))
	mod, program := fenced(t, page, "module example.org/client"), fenced(t, page, "// Command client")
	_, output, found := strings.Cut(fenced(t, page, "$ go mod tidy"), "data/awari\n")
	must.Hold(t, found, "the page shows no output")
	run := tabletest.Solve(t, testrun.Game(t, 12, awari.Awari), 5)
	server := httptest.NewServer(http.FileServer(http.Dir(run)))
	defer server.Close()

	dir := t.TempDir()
	goRun := func(args ...string) string { // on what this module has fetched already
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOWORK=", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if exit, failed := err.(*exec.ExitError); failed {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
		}
		must.OK(t, err)
		return string(out)
	}
	must.Write(t, filepath.Join(dir, "main.go"), []byte(program))
	must.Write(t, filepath.Join(dir, "go.mod"), []byte("module example.org/client\n\ngo 1.26.0\n"))
	goRun("work", "init", ".", checkout)
	for _, place := range []string{run, server.URL} {
		should.Equal(t, goRun("run", ".", place), output, "%s prints", place)
	}
	must.OK(t, os.Remove(filepath.Join(dir, "go.work")))
	must.Write(t, filepath.Join(dir, "go.mod"), []byte(strings.Replace(mod, "../grenier", checkout, 1)))
	must.Write(t, filepath.Join(dir, "go.sum"), must.Read(t, filepath.Join(checkout, "go.sum"))) // else it asks for the sums
	goRun("mod", "tidy")
	goRun("vet", "./...")
	replaced := goRun("run", ".", run)
	goRun("mod", "vendor")
	vendored := goRun("run", "-mod=vendor", ".", run)
	should.Hold(t, replaced == output && vendored == output, "with replace it prints\n%swith vendor\n%s", replaced, vendored)
}

func fenced(t *testing.T, page, begin string) string {
	t.Helper()
	for i, block := range strings.Split(page, "```") {
		if _, text, _ := strings.Cut(block, "\n"); i%2 == 1 && strings.HasPrefix(text, begin) {
			return text
		}
	}
	t.Fatalf("the page has no block that begins with %q", begin)
	return ""
}

// reader is docs/python, the reader in Python.
const reader = "../../docs/python"

type interpreter struct {
	name, path string
	// before runs first: "" or what hides NumPy.
	before string
}

const hideNumPy = `import sys; sys.modules["numpy"] = None; `

// pythons returns the interpreters in the path, some of which may have NumPy; each that has NumPy a second time without. In short tests it is
// the first one, without NumPy.
func pythons(t *testing.T) []interpreter {
	t.Helper()
	tries.SkipIf(t, len(found()) == 0, "docs/python needs Python 3.8 or newer, which is not installed")
	return found()
}

var found = sync.OnceValue(func() (all []interpreter) {
	for path := range pythontest.Paths() {
		if tries.Long() && pythontest.Has(path, "numpy") {
			all = append(all, interpreter{path + " with NumPy", path, ""})
		}
		if all = append(all, interpreter{path, path, hideNumPy}); !tries.Long() {
			break
		}
	}
	return all
})

func (p interpreter) run(t *testing.T, stdin, program string, args ...string) (out, errs string) {
	t.Helper()
	place := must.Get(filepath.Abs(reader))(t)
	var message strings.Builder
	cmd := exec.Command(p.path, append([]string{"-c", p.before + program}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+place, "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &message
	text, err := cmd.Output()
	must.Not(t, err != nil && message.Len() == 0, "%v", err)
	return string(text), message.String()
}

func (p interpreter) lookUp(t *testing.T, place string, game awari.Game, boards []awari.Board) (scores []int8, message string) {
	t.Helper()
	var in strings.Builder
	for _, b := range boards {
		fmt.Fprintln(&in, game.Text(b))
	}
	out, message := p.run(t, in.String(), `import sys; from grenier.__main__ import main; sys.exit(main())`, place, "-")
	for _, word := range strings.Fields(out) {
		scores = append(scores, int8(must.Get(strconv.ParseInt(word, 10, 8))(t)))
	}
	return scores, message
}

const printBlocks = `
import hashlib, sys, grenier
with grenier.open(sys.argv[1]) as tables:
    for n in range(tables.max_seeds + 1):
        size, scores = int(sys.argv[2]), tables.read(n)
        for i in range(0, len(scores), size):
            print(n, i // size, hashlib.sha256(scores[i:i + size].tobytes()).hexdigest())
`

// drawn returns n random boards of each of the layers 0 to seeds.
func drawn(space *awari.Space, seeds, n int) (boards []awari.Board) {
	random := rand.New(rand.NewPCG(5, 6))
	for i := range n * (seeds + 1) {
		boards = append(boards, space.Unrank(i/n, random.Uint64N(space.Size(i/n))))
	}
	return boards
}

// checkBlocks compares every block of every layer with what the reader in Go reads.
func checkBlocks(t *testing.T, p interpreter, place string, tab *tables.Tables, size int) {
	t.Helper()
	var want strings.Builder
	for n, l := range tab.Layers() {
		scores := make([]int8, l.Positions)
		must.OK(t, tab.Read(t.Context(), n, 0, scores))
		for i := 0; i*size < len(scores); i++ {
			fmt.Fprintf(&want, "%d %d %x\n", n, i, sha256.Sum256(tally.Bytes(scores[i*size:min((i+1)*size, len(scores))])))
		}
	}
	got, message := p.run(t, "", printBlocks, place, strconv.Itoa(size))
	should.Hold(t, message == "" && got == want.String(), "%s\ngot blocks\n%.300s\nwant\n%.300s", message, got, want.String())
}

// printProbes prints what the reader knows about the boards on stdin: the value, those of the moves, the best moves and
// the boards after them.
const printProbes = `
import json, sys, grenier
with grenier.open(sys.argv[1]) as tables:
    for line in sys.stdin:
        print(json.dumps(tables.probe([int(word) for word in line.split()])))
`

// checkProbes compares probes of boards, one after the other, with those of the reader in Go.
func checkProbes(t *testing.T, p interpreter, place string, tab *tables.Tables, boards []awari.Board) {
	game := tab.Game()
	var in, want strings.Builder
	probes := must.Get(tab.Probes(t.Context(), boards))(t)
	for _, probe := range probes {
		fmt.Fprintln(&in, game.Text(probe.Board))
		moves, best, children := make([]*int, game.Half()), []int{}, make([][]int, game.Half())
		for i, m := range probe.Moves[:game.Half()] {
			if !m.Legal {
				continue
			}
			moves[i], children[i] = &m.Value, game.Numbers(m.Child)
			if m.Value == probe.Value {
				best = append(best, m.Pit)
			}
		}
		must.OK(t, json.NewEncoder(&want).Encode([]any{probe.Value, moves, best, children}))
	}
	out, message := p.run(t, in.String(), printProbes, place)
	got := strings.ReplaceAll(out, " ", "")
	should.Hold(t, message == "" && got == want.String(), "%s\ngot probes\n%.500s\nwant\n%.500s", message, got, want.String())
}

// TestLongPython compares the reader in Python with that in Go, with and without NumPy, on disk and on a web server.
func TestLongPython(t *testing.T) {
	runs := []struct {
		pits, seeds, block int // block 0: a run of the fast engine
		rules              awari.Rules
	}{{12, 8, 0, awari.Awari}, {8, 6, 100, awari.Abapa}, {8, 7, 100, awari.Strict}, {4, 20, 5, awari.Awari}, {4, 20, 5, awari.Abapa}}
	interpreters := pythons(t)
	runs[0].seeds = tries.Pick(8, 9, 11)
	if !tries.Long() {
		runs = runs[1:2]
	}
	for _, c := range runs {
		game, block := testrun.Game(t, c.pits, c.rules), cmp.Or(c.block, layerfile.MaxBlockSize)
		dir := tabletest.Solve(t, game, c.seeds)
		if c.block != 0 {
			dir = testrun.Dir(t, c.pits, c.rules, c.seeds, block)
		}
		server := remotetest.Serve(t, dir, false)
		for _, p := range interpreters {
			t.Run(fmt.Sprintf("%d pits, %s", c.pits, p.name), func(t *testing.T) {
				tab, space := tabletest.Open(t, dir), testrun.Space(t, game, c.seeds)
				if tries.Long() {
					checkBlocks(t, p, dir, tab, block)
				}
				checkBlocks(t, p, server.URL, tab, block)
				boards := drawn(space, c.seeds, 60)
				want := make([]int8, len(boards))
				must.OK(t, tab.Scores(t.Context(), boards, want))
				scores, message := p.lookUp(t, server.URL, game, boards)
				should.List(t, scores, want, "scores, %q", message)
				checkProbes(t, p, dir, tab, boards[len(boards)/2:])
			})
		}
	}
}

const printMoves = `
import sys
from grenier import rules
for line in sys.stdin:
    rule_set, *board = line.split()
    moves = rules.plays([int(x) for x in board], rule_set)
    print("".join("%d:%s " % (m.captured, ",".join(map(str, m.child))) if m else "- " for m in moves))
`

// TestPythonRules asks the rules of the reader about random boards.
func TestPythonRules(t *testing.T) {
	p := pythons(t)[0]
	awaritest.AskMoves(t, tries.Rand(t), 600, func(questions string) string {
		got, message := p.run(t, questions, printMoves)
		must.Equal(t, message, "")
		return got
	})
}

// TestLongPythonDamage changes one byte of a file at a time, and wants a clear message about a layer of an earlier version.
func TestLongPythonDamage(t *testing.T) {
	tries.NeedsLong(t, "a Python for each damage")
	p := pythons(t)[0]
	game, _, dir := testrun.Run(t, 8, awari.Awari, 6, 4096)
	boards := drawn(testrun.Space(t, game, 6), 6, 1)
	path := tabletest.Open(t, dir).Path(6)
	intact := must.Read(t, path)
	for name, at := range map[string]int{
		"not a layer file": 3, "version 66": 8, "checksum of the header": 56, "checksum of the model": 90,
		"block 0: checksum of the stored bytes": len(intact) / 2, "checksum of the footer": len(intact) - 40,
		"checksum of the index": len(intact) - 76 - 24 + 9,
	} {
		data := append([]byte{}, intact...)
		data[at] ^= 0x40
		must.Write(t, path, data)
		scores, message := p.lookUp(t, dir, game, boards)
		should.Hold(t, strings.HasPrefix(message, "grenier: "+path) && strings.Contains(message, name) && len(scores) == 0,
			"%s: %d scores, %s", name, len(scores), message)
	}
	must.Write(t, path, intact[:len(intact)-1])
	_, message := p.lookUp(t, dir, game, boards)
	should.Has(t, message, "checksum of the footer")
	must.Write(t, path, intact)
	layerfiletest.MarkZstd(t, path)
	for _, p := range pythons(t) {
		_, message := p.lookUp(t, dir, game, boards)
		should.Has(t, message, "compressed with zstd, which this version does not read")
		should.Lacks(t, message, "Traceback")
	}
}

// TestLongPythonItself runs the tests that the reader has of its own.
func TestLongPythonItself(t *testing.T) {
	tries.NeedsLong(t, "some seconds for each Python")
	for _, p := range pythons(t) {
		t.Run(p.name, func(t *testing.T) {
			program := `import sys, unittest; p = unittest.main(None, argv=["", "discover", "-s", sys.argv[1] + "/tests", "-t", sys.argv[1]], exit=False); sys.exit(not p.result.wasSuccessful())`
			_, report := p.run(t, "", program, reader)
			should.Hold(t, strings.Contains(report, "\nOK"), "%s", report)
		})
	}
}

// TestLongPythonTypes has the types of the reader checked.
func TestLongPythonTypes(t *testing.T) {
	tries.NeedsLong(t, "mypy takes some seconds")
	out, err := exec.Command(pythontest.With(t, "numpy, mypy"), "-m", "mypy", "--strict", "--cache-dir", os.DevNull, filepath.Join(reader, "grenier")).CombinedOutput()
	should.Hold(t, err == nil, "%v: %s", err, out)
}

// TestLongPythonRanks compares the numbers of a million boards of 0 to 48 seeds, and the boards with these numbers.
func TestLongPythonRanks(t *testing.T) {
	tries.NeedsLong(t, "a million boards")
	p := interpreter{path: pythontest.With(t, "numpy")}
	game := testrun.Game(t, 12, awari.Awari)
	space := testrun.Space(t, game, awari.MaxSeeds)
	random := rand.New(rand.NewPCG(7, 8))
	var boards, ranks bytes.Buffer
	for range 1_000_000 {
		n := random.IntN(awari.MaxSeeds + 1)
		rank := random.Uint64N(space.Size(n))
		b := space.Unrank(n, rank)
		boards.Write(b[:game.Pits()])
		must.OK(t, binary.Write(&ranks, binary.LittleEndian, [2]uint64{uint64(n), rank}))
	}
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "boards"), boards.Bytes())
	must.Write(t, filepath.Join(dir, "ranks"), ranks.Bytes())
	out, message := p.run(t, "", `
import math, sys, numpy
from grenier import vectors
boards = numpy.fromfile(sys.argv[1] + "/boards", numpy.uint8).reshape(-1, 12)
seeds, ranks = numpy.fromfile(sys.argv[1] + "/ranks", numpy.int64).reshape(-1, 2).T
binomials = [[math.comb(m, k) for m in range(48 + 12)] for k in range(12)]
print(len(boards), (vectors.seeds(boards, 12, 48) == seeds).all(), (vectors.rank(binomials, boards) == ranks).all(), (vectors.unrank(binomials, 48, seeds, ranks) == boards).all())
`, dir)
	should.Hold(t, out == "1000000 True True True\n", "%s%s", out, message)
}

// TestPythonLicence: the package has the licence of the program.
func TestPythonLicence(t *testing.T) {
	should.Hold(t, bytes.Equal(must.Read(t, filepath.Join(reader, "LICENSE")), must.Read(t, "../../LICENSE")), "other bytes")
}

// TestLongPythonInstalls installs the package and runs the command that comes with it. Nothing is left
// beside the source, and a source archive has tests and licence.
func TestLongPythonInstalls(t *testing.T) {
	tries.NeedsLong(t, "pip takes some seconds")
	python := pythontest.With(t, "setuptools, wheel, pip")
	source, target := t.TempDir(), t.TempDir()
	must.OK(t, os.CopyFS(source, os.DirFS(reader)))
	before := must.Tree(t, source)
	install := exec.Command(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
		"--no-cache-dir", "--target", target, source)
	if text, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	dir := testrun.Dir(t, 4, awari.Awari, 3, 64)
	command := exec.Command(python, filepath.Join(target, "bin", "grenier-scores"), dir, "0", "1", "1", "1")
	command.Env = append(os.Environ(), "PYTHONPATH="+target)
	text, err := command.CombinedOutput()
	score, err2 := tabletest.Open(t, dir).Score(t.Context(), awari.Board{0, 1, 1, 1})
	should.Hold(t, err == nil && err2 == nil && string(text) == fmt.Sprintln(score), "%v, %v: %q, want %d", err, err2, text, score)
	pack := exec.Command(python, "-B", "-c", `import sys, tarfile, backend; print(*tarfile.open(sys.argv[1] + "/" + backend.build_sdist(sys.argv[1])).getnames())`, t.TempDir())
	pack.Dir = source
	packed := must.Get(pack.Output())(t)
	should.Has(t, string(packed), "/LICENSE", "/tests/test_grenier.py", "/backend.py", "/grenier/py.typed")
	after := must.Tree(t, source)
	should.Hold(t, maps.Equal(after, before), "before\n%q, after\n%q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
}
