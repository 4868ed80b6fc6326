//go:build !quick

package web_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/browsertest"
	"grenier/internal/testkit/endgames"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/kernels/cpu"
	"grenier/kernels/crc32c"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/publish"
	"grenier/pipeline/tables"
)

// foreign serves a file tree as web servers do that let pages of other sites read, and returns its address.
func foreign(t *testing.T, dir string) string {
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodGet { // no preflight is needed
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// example returns a piece of docs/publish.md in a language, with the address of the site at its place.
func example(t *testing.T, language, address string) string {
	t.Helper()
	text := string(must.Read(t, "../../../../docs/publish.md"))
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(text)
	must.Not(t, m == nil, "docs/publish.md has no %s", language)
	return strings.ReplaceAll(m[1], "https://host/awari/", address)
}

// probeAll has a function that returns the values of boards and of their moves.
const probeAll = `async (tables, boards) => (await Promise.all(boards.map((b) => tables.probe(b)))).map(({ value, moves }) => [value, ...moves.map((m) => m.value)])`

// wantProbes compares what probeAll says about boards with the tables.
func wantProbes(t *testing.T, tab *tables.Tables, texts []string, got [][]*int) {
	t.Helper()
	var boards []awari.Board
	for _, text := range texts {
		boards = append(boards, must.Get(tab.Game().Parse(strings.Split(text, ",")))(t))
	}
	probes := must.Get(tab.Probes(t.Context(), boards))(t)
	must.Hold(t, len(got) == len(probes), "%d of %d boards", len(got), len(probes))
	for i, p := range probes {
		want := []*int{&p.Value}
		for _, m := range p.Moves[:tab.Game().Half()] {
			if want = append(want, nil); m.Legal {
				want[len(want)-1] = &m.Value
			}
		}
		must.Same(t, texts[i], want, got[i])
	}
}

// documented is the board of the examples.
var documented = awari.Board{1, 1, 1, 1, 0, 2, 0, 0, 0, 0, 0, 2}

// TestLongModule opens the page of docs/publish.md in a browser: its ten lines read the tables of another origin.
func TestLongModule(t *testing.T) {
	tries.NeedsLong(t, "a browser")
	t.Parallel()
	m := publishSite(t, newSiteOf(t, 12, awari.Awari, 11))
	address := foreign(t, m.out)
	text := example(t, "html", address)
	n := strings.Count(text, "\n")
	should.Hold(t, n == 10, "the page has %d lines", n)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			fmt.Fprint(w, text)
		}
	}))
	defer other.Close()
	page := openAt(t, browsertest.Start(t), m.site, other.URL, 800)
	page.Await("the answer", `document.querySelector("#answer").textContent !== ""`)
	p := must.Get(m.tables.Probe(t.Context(), documented))(t)
	want := fmt.Sprintf("value %d; moves", p.Value)
	for _, move := range p.Moves[:6] {
		want += map[bool]string{true: " " + strconv.Itoa(move.Value), false: " ."}[move.Legal]
	}
	should.Equal(t, page.Text("#answer"), want, "the page")
	boards := m.random(rand.New(rand.NewPCG(34, 1)), 1000, 11)
	got := compute[[][]*int](page, fmt.Sprintf(`const { open } = await import("%sawari.js"); return (%s)(await open(), [[%s]]);`, address, probeAll, strings.Join(boards, "],[")))
	wantProbes(t, m.tables, boards, got)
}

// nodeSite is a published site, and a directory with its module for Node.
type nodeSite struct {
	*site
	node, out, dir, address string
}

// newNodeSite publishes layers, and distances of some, without what pages ask for beside them.
func newNodeSite(t *testing.T, seeds int, distances ...int) *nodeSite {
	t.Helper()
	node, err := exec.LookPath("node")
	tries.SkipIf(t, err != nil, "there is no node")
	s := &nodeSite{site: newSiteOf(t, 12, awari.Awari, seeds), node: node, out: filepath.Join(t.TempDir(), "site"), dir: t.TempDir()}
	if len(distances) > 0 {
		must.OK(t, must.Err(distance.Run(t.Context(), s.site.dir, distance.Options{Layers: distances, Job: job.Job{Family: cpu.Best()}})))
	}
	must.OK(t, must.Err(publish.Run(t.Context(), s.site.dir, s.out, publish.Options{Pages: web.Site(), Job: job.Job{Family: cpu.Best()}})))
	s.address = foreign(t, s.out)
	must.Write(t, filepath.Join(s.dir, "awari.mjs"), must.Read(t, filepath.Join(s.out, "awari.js")))
	return s
}

// run runs a program, whose argument is the address of the site.
func (s *nodeSite) run(t *testing.T, program, stdin string) string {
	t.Helper()
	must.Write(t, filepath.Join(s.dir, "program.mjs"), []byte(program))
	cmd := exec.Command(s.node, filepath.Join(s.dir, "program.mjs"), s.address)
	cmd.Stdin = strings.NewReader(stdin)
	text, err := cmd.CombinedOutput()
	must.Hold(t, err == nil, "%v: %s", err, text)
	return string(text)
}

// TestLongModuleInNode runs the program of docs/publish.md, and reads boards, plies and lines, asks the rules, and reads damaged files and
// nonsense.
func TestLongModuleInNode(t *testing.T) {
	t.Parallel()
	seeds, count := tries.More(8, 11), tries.More(50, 1000)
	s := newNodeSite(t, seeds, 4, 6, 8)
	testNodeExample(t, s)
	boards := s.random(rand.New(rand.NewPCG(34, 2)), count, seeds)
	var got [][]*int
	text := s.run(t, `import { open } from "./awari.mjs"; import { readFileSync } from "node:fs";
const tables = await open(process.argv[2] + "tables"), boards = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await (`+probeAll+`)(tables, boards)));`, "[["+strings.Join(boards, "],[")+"]]")
	must.OK(t, json.Unmarshal([]byte(text), &got))
	wantProbes(t, s.tables, boards, got)
	testNodeRules(t, s)
	testNodeDistances(t, s)
	testNodeFaults(t, s)
}

// testNodeDistances compares plies, those after each move, and lines with the tables, in layers with distances and without; and has
// distances of other scores refused.
func testNodeDistances(t *testing.T, s *nodeSite) {
	boards := s.random(rand.New(rand.NewPCG(34, 5)), tries.Pick(60, 300, 4000), 8)
	const program = `import { open } from "./awari.mjs"; import { readFileSync } from "node:fs";
const tables = await open(process.argv[2] + "tables"), all = [];
for (const b of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    all.push({ plies: await tables.plies(b), after: (await tables.distances(b)).plies, line: (await tables.line(b)).moves.map((m) => m.pit) });
  } catch (error) {
    all.push({ error: error.message });
  }
}
console.log(JSON.stringify(all));`
	type answer struct {
		Plies *int   `json:"plies"`
		After []*int `json:"after"`
		Line  []int  `json:"line"`
		Error string `json:"error"`
	}
	ask := func(boards []string) (got []answer) {
		must.OK(t, json.Unmarshal([]byte(s.run(t, program, "[["+strings.Join(boards, "],[")+"]]")), &got))
		return got
	}
	for i, got := range ask(boards) {
		b := must.Get(s.tables.Game().Parse(strings.Split(boards[i], ",")))(t)
		plies, known, err := s.tables.Distance(t.Context(), b)
		must.OK(t, err)
		n := b.Seeds()
		must.Not(t, got.Error != "" || known != (n == 4 || n == 6 || n == 8) || (got.Plies != nil) != known || known && *got.Plies != plies,
			"%s: %+v, want %d, %v", boards[i], got, plies, known)
		for pit, play := range s.tables.Game().Plays(b) {
			if next, known, err := s.tables.Distance(t.Context(), play.Child); play.Legal && play.Captured == 0 && known && next > 0 {
				must.Hold(t, err == nil && got.After[pit] != nil && *got.After[pit] == next+1,
					"%s, pit %d: %v plies, want %d", boards[i], pit, got.After[pit], next+1)
			}
		}
		best := must.Get(line.Best(t.Context(), s.tables, b, line.Options{}))(t)
		must.Equal(t, len(best.Moves), len(got.Line), "%s: a line of %d moves, want", boards[i], len(got.Line))
		for j, m := range best.Moves {
			must.Not(t, m.Value != 0 && m.Pit != got.Line[j], "%s: the line %v, want %v at %d", boards[i], got.Line, m, j)
		}
	}
	testrun.EditManifest(t, filepath.Join(s.out, publish.TablesName), func(m *manifest.Manifest) { // distances of awari in a layer of strict
		other := newSiteOf(t, 12, awari.Strict, 6)
		must.OK(t, must.Err(distance.Run(t.Context(), other.dir, distance.Options{Layers: []int{6}, Job: job.Job{Family: cpu.Best()}})))
		data := must.Read(t, filepath.Join(other.dir, rundir.DistanceName(6)))
		copy(data[32:48], append([]byte("awari"), make([]byte, 11)...))
		binary.LittleEndian.PutUint32(data[80:], crc32c.Of(data[:80]))
		footer := data[len(data)-76:]
		copy(footer[20:24], data[80:84])
		binary.LittleEndian.PutUint32(footer[64:], crc32c.Of(footer[:64]))
		must.Write(t, filepath.Join(s.out, publish.TablesName, rundir.DistanceName(6)), data)
		m.Layers[6].Distances = manifest.Distances{Hash: 1, Bytes: int64(len(data)), Checksum: manifest.Checksum(binary.LittleEndian.Uint32(footer[64:]))}
	})
	got := ask([]string{"0,0,0,2,0,0,2,0,0,2,0,0"})[0]
	should.Hold(t, strings.Contains(got.Error, "of other scores"), "%+v", got)
}

// testNodeRules asks the rules of the module about random boards.
func testNodeRules(t *testing.T, s *nodeSite) {
	const program = `import { plays } from "./awari.mjs"; import { readFileSync } from "node:fs";
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [rules, ...board] = line.split(" ");
  console.log(plays(board.map(Number), rules).map((m) => (m.legal ? m.captured + ":" + m.child : "-") + " ").join(""));
}`
	awaritest.AskMoves(t, tries.Rand(t), tries.More(600, 1500), func(questions string) string { return s.run(t, program, questions) })
}

// testNodeExample compares what the program of docs/publish.md prints with the tables.
func testNodeExample(t *testing.T, s *nodeSite) {
	score := must.Get(s.tables.Score(t.Context(), documented))(t)
	best := must.Get(line.Best(t.Context(), s.tables, documented, line.Options{Positions: 1 << 16}))(t)
	var pits []string
	for _, m := range best.Moves {
		pits = append(pits, strconv.Itoa(m.Pit))
	}
	got := strings.Join(strings.Fields(s.run(t, example(t, "js", s.address), "")), " ")
	want := fmt.Sprintf("%d [ %s ]", score, strings.Join(pits, ", "))
	should.Hold(t, got == want, "the program says %q, want %q", got, want)
}

// testNodeFaults asks for what there is not.
func testNodeFaults(t *testing.T, s *nodeSite) {
	damaged := must.Read(t, filepath.Join(s.out, "tables", "layer-05.gl"))
	damaged[len(damaged)/2] ^= 1
	must.Write(t, filepath.Join(s.out, "tables", "layer-05.gl"), damaged)
	text := s.run(t, `import { open, Fault } from "./awari.mjs";
const tables = await open(process.argv[2] + "tables/");
for (const board of [[1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "x", [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [-1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [49, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]]) {
  console.log(await tables.score(board).catch((e) => (e instanceof Fault ? e.name : "no Fault: " + e)));
}
console.log(await open(process.argv[2] + "nothing/").catch((e) => e.name + ": " + e.message));`, "")
	want := strings.Repeat("BadBoard\n", 6) + "Unsolved\nDamaged\n-1\nServerError: manifest.json: the server answers 404.\n"
	should.Hold(t, text == want, "got\n%s\nwant\n%s", text, want)
}

// computer answers boards, one a line, with the pit that the computer of the page plays at the level that gives nothing away. Without the
// best line it goes by what the server says of each move.
const computer = `import { createInterface } from "node:readline";
import { root } from "./tree.js"; import { position } from "./game.js"; import { bestMove } from "./values.js";
const [url, lines] = process.argv.slice(2);
const ask = async (path, pits) => { const answer = await fetch(url + path + "?pits=" + pits); if (!answer.ok) throw new Error(await answer.text()); return answer.json(); };
for await (const pits of createInterface({ input: process.stdin })) {
  const node = root(position(pits.split(",").map(Number)));
  node.probe = await ask("/api/probe", pits);
  if (lines) node.best = await ask("/api/line", pits);
  console.log(bestMove(node).pit);
}`

// TestLongComputerWins: the computer of the page wins won endgames, by best lines and by the plies of its moves, and no board comes twice
// as long as it can win anything more.
func TestLongComputerWins(t *testing.T) {
	node, err := exec.LookPath("node")
	tries.SkipIf(t, err != nil, "there is no node")
	s := newSiteOf(t, 12, awari.Awari, tries.Pick(8, 11, 14))
	must.OK(t, must.Err(distance.Run(t.Context(), s.dir, distance.Options{Job: job.Job{Workers: 2, Family: cpu.Best()}})))
	tb, dir := s.tables, t.TempDir()
	for name, data := range web.Files() {
		if filepath.Ext(name) == ".js" {
			must.Write(t, filepath.Join(dir, name), data)
		}
	}
	must.Write(t, filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`))
	must.Write(t, filepath.Join(dir, "computer.js"), []byte(computer))
	for _, lines := range []string{"lines", ""} {
		cmd := exec.Command(node, filepath.Join(dir, "computer.js"), strings.TrimSuffix(s.url, "/"), lines)
		in := must.Get(cmd.StdinPipe())(t)
		out := must.Get(cmd.StdoutPipe())(t)
		var said strings.Builder
		cmd.Stderr = &said
		must.OK(t, cmd.Start())
		answers := bufio.NewScanner(out)
		endgames.Win(t, tb, tries.Rand(t), tries.Pick(5, 15, 200), func(b awari.Board) int {
			fmt.Fprintln(in, strings.ReplaceAll(tb.Game().Text(b), " ", ","))
			if !answers.Scan() {
				must.OK(t, in.Close())
				t.Fatalf("board %s: no answer, %v: %s", tb.Game().Text(b), cmd.Wait(), said.String())
			}
			return must.Get(strconv.Atoi(answers.Text()))(t)
		})
		must.OK(t, in.Close())
		must.OK(t, must.Err(io.Copy(io.Discard, out)))
		must.OK(t, cmd.Wait())
	}
}
