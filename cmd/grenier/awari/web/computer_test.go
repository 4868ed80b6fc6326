package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grenier/cmd/grenier/awari/web"
	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/endgames"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/distance"
	"grenier/pipeline/job"
	"grenier/pipeline/play/serve"
	"grenier/pipeline/solve"
	"grenier/pipeline/tables"
)

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
	tb, url := served(t, tries.Pick(8, 11, 14))
	dir := t.TempDir()
	for name, data := range web.Files() {
		if filepath.Ext(name) == ".js" {
			must.Write(t, filepath.Join(dir, name), data)
		}
	}
	must.Write(t, filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`))
	must.Write(t, filepath.Join(dir, "computer.js"), []byte(computer))
	for _, lines := range []string{"lines", ""} {
		cmd := exec.Command(node, filepath.Join(dir, "computer.js"), url, lines)
		in := must.Get(cmd.StdinPipe())(t)
		out := must.Get(cmd.StdoutPipe())(t)
		var said strings.Builder
		cmd.Stderr = &said
		must.OK(t, cmd.Start())
		answers := bufio.NewScanner(out)
		endgames.Win(t, tb, tries.Rand(t), tries.Pick(5, 50, 200), func(b awari.Board) int {
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

// served solves layers of 12 pits with their distances, and serves them to clients who ask often.
func served(t *testing.T, seeds int) (*tables.Tables, string) {
	t.Helper()
	dir, j := t.TempDir(), job.Job{Workers: 2, Family: cpu.Best()}
	must.OK(t, must.Err(solve.Solve(t.Context(), dir, awaritest.Game(t, 12, awari.Awari), solve.Options{Seeds: seeds, Job: j})))
	must.OK(t, must.Err(distance.Run(t.Context(), dir, distance.Options{Job: j})))
	tb := must.Get(tables.Open(t.Context(), dir))(t)
	t.Cleanup(func() { tb.Close() })
	server := must.Get(serve.New(serve.Options{Tables: tb, Pages: web.Files(), Rate: 1e6, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		must.OK(t, <-ended)
	})
	return tb, "http://" + l.Addr().String()
}
