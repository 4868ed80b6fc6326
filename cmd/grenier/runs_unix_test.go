//go:build unix

package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
	"grenier/pipeline/solve/plan"
)

// A night is a run over several processes, with layers on two disks and its work on a third.
type night struct {
	top, run, calls, finishes, metrics string
	seeds                              int
}

func newNight(t *testing.T, seeds int) *night {
	top := t.TempDir()
	path := func(name string) string { return filepath.Join(top, name) }
	return &night{top, path("run"), path("calls"), path("finishes"), path("night.prom"), seeds}
}

// flags are those of a process of the night that puts layers into the given directory. The command that it calls for
// the layer called long takes its time, so that the process is still at work when it is to be killed or stopped.
func (n *night) flags(disk string, long int, more ...string) []string {
	return append([]string{
		"--dir", n.run, "--seeds", strconv.Itoa(n.seeds), "--threads", "2", "--progress", "none", "--checkpoint", "50ms", "--memory", leastMemory(n.seeds),
		"--work", filepath.Join(n.top, "fast"), "--layers-to", filepath.Join(n.top, disk), "--metrics-file", n.metrics,
		"--on-layer", fmt.Sprintf(`test -s "$GRENIER_FILE" && echo "$GRENIER_SEEDS" >> '%s'
			if [ "$GRENIER_SEEDS" = %d ]; then exec > /dev/null 2>&1; sleep 30; fi`, n.calls, long),
		"--on-finish", fmt.Sprintf(`echo "$GRENIER_STATE $GRENIER_STATUS" >> '%s'`, n.finishes),
	}, more...)
}

// lines returns the lines of a file, none if there is no file.
func lines(path string) []string {
	text, _ := os.ReadFile(path)
	return strings.Fields(strings.ReplaceAll(string(text), " ", "_"))
}

func (n *night) awaitCall(t *testing.T, seeds int) {
	tries.Await(t, fmt.Sprint("the call for layer ", seeds), func() bool { return slices.Contains(lines(n.calls), strconv.Itoa(seeds)) })
}

// placeless matches what is different in a manifest when layers are elsewhere.
var placeless = regexp.MustCompile(`"seconds": [^\n]*|"crc32c": [^\n]*|      "directory": [^\n]*\n|"version": [12]`)

// layerFiles returns the contents of the layer files that a manifest lists, and the manifest without times and places.
func layerFiles(t *testing.T, run string) map[string]string {
	text := must.Read(t, filepath.Join(run, rundir.ManifestName))
	m := must.Get(manifest.Parse(run, text))(t)
	files := map[string]string{rundir.ManifestName: placeless.ReplaceAllString(string(text), "")}
	for i := range m.Layers {
		files[m.Layers[i].File] = string(must.Read(t, rundir.LayerFile(run, &m.Layers[i])))
	}
	return files
}

// untilTime starts a process that stops by the clock, and reads its metrics.
func (n *night) untilTime(t *testing.T) {
	address, until := fmt.Sprint("127.0.0.1:", freePorts(t, 1)[0]), time.Now().Add(8*time.Second).Format(time.RFC3339)
	s := startSolving(t, n.flags("two", n.seeds-1, "--metrics", address, "--until", until)...)
	should.Has(t, scrape(t, address), "grenier_run_last_layer "+strconv.Itoa(n.seeds)+"\n")
	s.wait(t).wants(t, cli.ExitPaused, "grenier: paused: stopped for --until ")
}

// TestLongNight kills a run twice and stops it by the clock. Its layers are the same bytes as those of an undisturbed one, every command
// finds them on both disks, and the command of the user was called for each, and again where its call was cut short.
func TestLongNight(t *testing.T) {
	tries.NeedsLong(t, "long")
	t.Parallel()
	n := newNight(t, 17)
	whole := solved(t, "--seeds", strconv.Itoa(n.seeds), "--threads", "2")

	s := startSolving(t, n.flags("one", n.seeds-4)...)
	n.awaitCall(t, n.seeds-5)
	should.Hold(t, s.killAfter(t, 10*time.Millisecond), "it was through before it was killed") // in the next layer
	s = startSolving(t, n.flags("two", n.seeds-3)...)
	n.awaitCall(t, n.seeds-3)
	should.Hold(t, s.killAfter(t, 0), "it was through before it was killed") // in the call
	n.untilTime(t)
	startSolving(t, n.flags("two", -1)...).wait(t).wants(t, cli.ExitOK)

	should.Hold(t, maps.Equal(layerFiles(t, whole), layerFiles(t, n.run)), "the layers differ")
	n.checkCalls(t)
	must.Same(t, "calls at the end", []string{"paused_75", "done_0"}, lines(n.finishes))
	should.Has(t, string(must.Read(t, n.metrics)), "\ngrenier_run_state{state=\"done\"} 1\n")
	n.checkPlaces(t)
	n.checkReaders(t, whole)
}

// checkCalls checks that the command was called for each layer in turn, again for the one in whose call
// a process was killed, and for others only where a process ended in or right after the call.
func (n *night) checkCalls(t *testing.T) {
	var want []string
	for seeds := range n.seeds + 1 {
		want = append(want, strconv.Itoa(seeds))
	}
	got := lines(n.calls)
	must.Same(t, "calls for layers", want, slices.Compact(slices.Clone(got)))
	for seeds := range n.seeds + 1 {
		calls := strings.Count("\n"+strings.Join(got, "\n\n")+"\n", fmt.Sprintf("\n%d\n", seeds))
		killed, maybe := seeds == n.seeds-3, seeds == n.seeds-5 || seeds == n.seeds-1
		should.Not(t, calls != 1 && !(calls == 2 && (killed || maybe)) || calls != 2 && killed, "%d calls for layer %d", calls, seeds)
	}
}

func (n *night) checkPlaces(t *testing.T) {
	should.List(t, namesIn(t, n.run, "layer"), nil, "layers in the run directory")
	one, two := namesIn(t, filepath.Join(n.top, "one"), "layer"), namesIn(t, filepath.Join(n.top, "two"), "layer")
	should.Not(t, len(one) == 0 || len(two) == 0 || len(one)+len(two) < n.seeds+1, "layers on two disks: %v, %v", one, two)
	should.List(t, namesIn(t, filepath.Join(n.top, "fast"), ""), []string{rundir.OwnerName}, "left of the work")
}

func (n *night) checkReaders(t *testing.T, whole string) {
	for _, command := range []string{
		"scrub --dir RUN --progress none", "verify --dir RUN --sample 1000 --progress none", "compare RUN " + whole + " --progress none",
		"stats --dir RUN", "repair --dir RUN --dry-run --progress none", "probe --dir RUN 1 1 1 1 1 2 1 2 1 0 0 0",
		"export --dir RUN --layer 5 --format npy --out " + filepath.Join(n.top, "5.npy") + " --progress none",
	} {
		mustDo(t, "awari "+strings.ReplaceAll(command, "RUN", n.run))
	}
	two := filepath.Join(n.top, "two")
	should.Has(t, mustDo(t, "awari status --dir "+n.run), fmt.Sprintf("-%d in %s\n", n.seeds, two))
	// A damaged layer names the run, and is mended where it was.
	file := filepath.Join(two, rundir.LayerName(n.seeds))
	good := must.Read(t, file)
	must.Write(t, file, good[:len(good)/2])
	do(t, "awari stats --dir "+n.run).wants(t, cli.ExitCorrupt, "grenier awari repair --dir "+n.run+"\n")
	mustDo(t, "awari repair --progress none --threads 2 --dir "+n.run)
	should.Hold(t, string(must.Read(t, file)) == string(good), "the layer was not mended where it was")
	// Without a manifest, and with a disk elsewhere, repair is told where they are.
	moved := filepath.Join(n.top, "moved")
	must.OK(t, os.Rename(two, moved))
	must.OK(t, os.Remove(filepath.Join(n.run, rundir.ManifestName)))
	should.Lacks(t, mustDo(t, "awari repair --progress none --dir "+n.run+" --layers-in "+filepath.Join(n.top, "one")+" --layers-in "+moved), "solved")
	mustDo(t, "awari compare --progress none "+n.run+" "+whole)
}

// freePorts returns free ports below those that a system gives whoever asks for any: no other test can get one before it is used.
func freePorts(t *testing.T, n int) (ports []int) {
	for port := 10_000 + rand.IntN(20_000); len(ports) < n; port++ {
		must.Not(t, port >= 32_768, "no free port")
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			must.OK(t, l.Close())
			ports = append(ports, port)
		}
	}
	return ports
}

// scrape returns the metrics of a process that has just been started, once it tells them.
func scrape(t *testing.T, address string) string {
	var r *http.Response
	var err error
	tries.Await(t, "metrics", func() bool {
		r, err = http.Get("http://" + address + "/metrics")
		return err == nil
	})
	defer r.Body.Close()
	text := string(must.Get(io.ReadAll(r.Body))(t))
	should.Equal(t, r.StatusCode, http.StatusOK)
	should.Has(t, text, "\nprocess_cpu_seconds_total ")
	return text
}

// TestOwedCall: a run that was killed between sealing a layer and the call for it owes that
// call, and so does one whose report is lost. The notes about calls that earlier versions kept are left alone.
func TestOwedCall(t *testing.T) {
	top := t.TempDir()
	dir, calls := filepath.Join(top, "run"), filepath.Join(top, "calls")
	old, status := filepath.Join(dir, "calls.log"), filepath.Join(dir, rundir.WorkName, rundir.StatusName)
	solve := func(seeds int, more ...string) {
		t.Helper()
		mustRun(t, append([]string{"awari", "solve", "--pits", "4", "--seeds", strconv.Itoa(seeds), "--dir", dir, "--progress", "none"}, more...)...)
	}
	// called solves with a command for each layer; made is how many calls the report tells of then.
	called := func(seeds int, want, made string) {
		t.Helper()
		solve(seeds, "--on-layer", "echo $GRENIER_SEEDS >> "+calls)
		should.Equal(t, strings.Join(lines(calls), " "), want)
		text, was := string(must.Read(t, status)), fmt.Sprintf(`"called_layers": %d`, seeds+1)
		should.Has(t, text, was)
		must.Write(t, status, []byte(strings.Replace(text, was, `"called_layers": `+made, 1)))
	}
	solve(1)
	must.Write(t, old, []byte("layer 0 wanted\n"))
	called(4, "2 3 4", "3") // killed
	called(4, "2 3 4 3 4", "5")
	called(4, "2 3 4 3 4", "") // damaged
	called(4, "2 3 4 3 4 4", "3")
	solve(4) // has nothing to call
	called(5, "2 3 4 3 4 4 5", "6")
	should.Equal(t, string(must.Read(t, old)), "layer 0 wanted\n")
}

// TestCommandFails: what a command of the user does is no matter of life and death for the run.
func TestCommandFails(t *testing.T) {
	r := grenier(t.Context(), "", "awari", "solve", "--pits", "4", "--seeds", "1", "--dir", filepath.Join(t.TempDir(), "run"), "--progress", "none",
		"--on-layer", "echo from layer $GRENIER_SEEDS; exit 3", "--on-finish", "kill -9 $$")
	r.wants(t, cli.ExitOK,
		"from layer 0\n", "from layer 1\n", "grenier: warning: --on-layer for layer 1: exit status 3\n", "grenier: warning: --on-finish: signal: killed\n")
	should.Lacks(t, r.out, "from layer")
}

// TestStop asks a run from another process to stop.
func TestStop(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	s := startSolver(t, dir)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(7)))
	for _, flag := range []string{" --cancel", " --json"} {
		should.Has(t, mustDo(t, "awari stop --dir "+dir+flag), strconv.Itoa(s.cmd.Process.Pid))
	}
	s.wait(t).wants(t, cli.ExitPaused, "grenier: paused: stopped on request, after a layer; ")
	should.List(t, namesIn(t, filepath.Join(dir, rundir.WorkName), ""), []string{rundir.StatusName}, "left")
	sealed := len(layersOf(t, dir))
	s = startSolver(t, dir)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(sealed+1)))
	do(t, "awari stop --now --dir "+dir).wants(t, cli.ExitOK)
	s.wait(t).wants(t, cli.ExitPaused, "grenier: paused: stopped on request; ")
	should.Has(t, mustDo(t, "awari stop --dir "+dir), "nothing to stop: no solver runs in ")
}

// TestAsk sends the signal USR1 to a run, again and again: it tells how far it is
// each time, and the files are those of a run that nobody asked.
func TestAsk(t *testing.T) {
	t.Parallel()
	want := withoutSeconds(t, solved(t, "--seeds", "10"))
	for _, progress := range []string{"none", "bar"} {
		for told := 0; told == 0; { // it may have been through before it was asked
			told = ask(t, progress, want)
		}
	}
}

// ask asks a run whose files should be those wanted, and returns how often it told something.
func ask(t *testing.T, progress string, want map[string]string) (told int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	s := startSolving(t, "--seeds", "10", "--threads", "1", "--dir", dir, "--progress", progress)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(7)))
	asked := 0
	for range 10 {
		if err := s.cmd.Process.Signal(syscall.SIGUSR1); err == nil {
			asked++
		}
		time.Sleep(2 * time.Millisecond)
	}
	r := s.wait(t).wants(t, cli.ExitOK)
	told = strings.Count(r.err, dir+": game awari, rules awari, 12 pits\nsolver   process ")
	must.Hold(t, told <= asked, "%s: told %d times:\n%s", progress, told, r.err)
	for _, part := range []string{"\nsealed   layers 0 to ", "\ndoing    layer ", "\nrun      ", "\nreport   "} {
		should.Not(t, strings.Count(r.err, part) < told, "%s: %d answers lack %q:\n%s", progress, told, part, r.err)
	}
	should.Equal(t, strings.Count(r.out, "\n"), 1+11+1, "%s: lines of the table", progress)
	must.Same(t, progress+": a run that was asked differs", want, withoutSeconds(t, dir))
	return told
}

// statusReport is a part of what status says.
type statusReport struct {
	State         rundir.State
	Locked, Alive bool
	PID           int
	Layers        []any
	Report        *struct {
		PID int
		ETA *float64 `json:"eta_seconds"`
	}
}

func statusOfDir(t *testing.T, dir string) statusReport {
	return must.JSON[statusReport](t, mustDo(t, "awari status --json --dir "+dir))
}

// TestStatusOfKilled kills a run with a signal that it cannot notice, looks, and continues it.
func TestStatusOfKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	s := startSolver(t, dir)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(7)))
	pid := s.cmd.Process.Pid
	r := statusOfDir(t, dir)
	should.Not(t, r.State != rundir.Running || !r.Locked || !r.Alive || r.PID != pid, "running: %+v", r)
	must.OK(t, s.cmd.Process.Kill())
	s.wait(t)
	r = statusOfDir(t, dir)
	should.Hold(t, r.State == rundir.Killed && !r.Locked && !r.Alive && r.PID == pid && r.Report != nil && r.Report.PID == pid &&
		r.Report.ETA == nil && len(r.Layers) == len(layersOf(t, dir)), "killed: %+v", r)
	should.Has(t, mustDo(t, "awari status --dir "+dir), " was killed after 20", "; the same command resumes\n")
	mustDo(t, "awari solve --seeds 10 --progress none --dir "+dir)
	r = statusOfDir(t, dir)
	should.Hold(t, r.State == rundir.Done && r.PID == 0, "continued: %+v", r)
	log := must.Tree(t, dir)[rundir.LogName]
	should.Hold(t, strings.Count(log, " msg=start ") == 2 && strings.Count(log, " msg=done ") == 1 && !strings.Contains(log, "interrupted"),
		"log:\n%s", log)
}

// TestWatch watches a directory before a run begins there, until the run is interrupted.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	begun := make(chan struct{})
	out := &firstWrite{do: func() { close(begun) }}
	var errs strings.Builder
	ended := make(chan int)
	go func() {
		ended <- run(t.Context(), []string{"awari", "status", "--watch", "--json", "--dir", dir}, strings.NewReader(""), out, &errs)
	}()
	s := startSolver(t, dir)
	awaitFile(t, filepath.Join(dir, rundir.LayerName(7)))
	s.signal(t, syscall.SIGSTOP) // it takes no time while it is watched
	<-begun
	s.signal(t, syscall.SIGCONT)
	s.signal(t, syscall.SIGINT)
	status := <-ended
	must.Hold(t, status == cli.ExitOK && errs.Len() == 0, "status %d, %s", status, &errs)
	s.wait(t).wants(t, cli.ExitInterrupted)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	should.Not(t, len(lines) < 2, "watched: %s", out)
	for i, line := range lines {
		want := rundir.Running
		if i == len(lines)-1 {
			want = rundir.Interrupted
		}
		should.Equal(t, must.JSON[statusReport](t, line).State, want, "line %d of %d", i+1, len(lines))
	}
	log := must.Tree(t, dir)[rundir.LogName]
	should.Hold(t, strings.Count(log, " level=WARN msg=interrupted layer=") == 1 && strings.Count(log, "msg=sealed") == len(layersOf(t, dir)),
		"log:\n%s", log)
}

// rehearsal is the run of 12 pits and 48 seeds in small: 8 pits have every score, window and lower layer of it in a
// 6,900th of the positions. docs/rehearsal.md has its figures.
type rehearsal struct {
	seeds  int
	dir    string            // solved in memory
	layers map[string]string // of it
}

// TestLongRehearsal solves 8 pits in every way, with the same files each time, and hands them to whoever reads layers.
func TestLongRehearsal(t *testing.T) {
	tries.NeedsFull(t, "a run in every way")
	t.Parallel()
	r := &rehearsal{seeds: awari.MaxSeeds, dir: filepath.Join(t.TempDir(), "run")}
	mustRun(t, r.solve(r.dir)...)
	r.layers = withoutSeconds(t, r.dir)
	for _, bits := range plan.Widths() {
		t.Run(fmt.Sprintf("%d bits", bits), func(t *testing.T) { r.solveForced(t, bits) })
	}
	t.Run("little memory", r.narrow)
	t.Run("killed", r.solveKilled)
	t.Run("retrograde", r.solveRetrograde)
	t.Run("readers", r.readers)
}

func (r *rehearsal) solve(dir string, more ...string) []string {
	return append([]string{"awari", "solve", "--pits", "8", "--seeds", strconv.Itoa(r.seeds), "--dir", dir, "--progress", "none", "--json"}, more...)
}

// same fails unless a directory has the layers of the run in memory up to a last one, and nothing else.
func (r *rehearsal) same(t *testing.T, dir string, last int) {
	t.Helper()
	got, want := withoutSeconds(t, dir), maps.Clone(r.layers)
	if last < r.seeds {
		delete(got, rundir.ManifestName) // it differs
		delete(want, rundir.ManifestName)
	}
	for n := last + 1; n <= r.seeds; n++ {
		delete(want, rundir.LayerName(n))
	}
	for name := range got { // without printing what is in the files
		should.Hold(t, got[name] == want[name] && want[name] != "", "%s is left, or differs from that of a run in memory", name)
	}
	should.Equal(t, len(got), len(want), "files")
}

func (r *rehearsal) solveForced(t *testing.T, bits int) {
	dir := filepath.Join(t.TempDir(), "run")
	o := solve.Options{Seeds: r.seeds, Bits: bits, Job: job.Job{Workers: 2}}
	must.OK(t, must.Err(solve.Solve(t.Context(), dir, awaritest.Game(t, 8, awari.Awari), o)))
	r.same(t, dir, r.seeds)
}

// little is memory that is too little for the last layers in one piece.
const little = "100MiB"

func (r *rehearsal) narrow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := summaryOf(t, mustRun(t, r.solve(dir, "--memory", little, "--threads", "2")...))
	last := s.Layers[len(s.Layers)-1]
	should.Not(t, last.Windows < 2, "%d windows within %s", last.Windows, little)
	r.same(t, dir, r.seeds)
}

// solveKilled kills a run again and again, at moments that may be in any layer.
func (r *rehearsal) solveKilled(t *testing.T) {
	const kills, patience = 12, 6 * time.Second
	dir, rng := filepath.Join(t.TempDir(), "run"), tries.Rand(t)
	for killed := 0; killed < kills; killed++ {
		s := launch(t, r.solve(dir, "--memory", little, "--threads", "2", "--checkpoint", "1s")...)
		if !s.killAfter(t, time.Duration((0.5+rng.Float64())*float64(patience))) {
			break
		}
	}
	mustRun(t, r.solve(dir, "--memory", little, "--threads", "2")...)
	r.same(t, dir, r.seeds)
}

// solveRetrograde solves with the other engine as many layers as there is memory for.
func (r *rehearsal) solveRetrograde(t *testing.T) {
	const last = 36
	dir := filepath.Join(t.TempDir(), "run")
	mustDo(t, fmt.Sprintf("awari solve --pits 8 --seeds %d --dir %s --engine retrograde --progress none --json", last, dir))
	r.same(t, dir, last)
}

func (r *rehearsal) readers(t *testing.T) {
	last := strconv.Itoa(r.seeds)
	mustDo(t, "awari verify --prove --json --progress none --dir "+r.dir)
	mustDo(t, "awari publish --json --progress none --dir "+r.dir+" --out "+filepath.Join(t.TempDir(), "site"))
	scores := filepath.Join(t.TempDir(), "scores")
	mustDo(t, "awari export --format colex --json --progress none --dir "+r.dir+" --layer "+last+" --out "+scores)
	r.probe(t, must.Get(awari.NewSpace(awaritest.Game(t, 8, awari.Awari), r.seeds))(t), string(must.Read(t, scores)))
}

// probe compares scores of the last layer with those that were exported.
func (r *rehearsal) probe(t *testing.T, space *awari.Space, exported string) {
	rng := tries.Rand(t)
	var boards strings.Builder
	var want, values []string
	for range 200 {
		rank := rng.Uint64N(uint64(len(exported)))
		pits := space.Unrank(r.seeds, rank)
		fmt.Fprintln(&boards, strings.Trim(fmt.Sprint(pits[:8]), "[]"))
		want = append(want, strconv.Itoa(int(int8(exported[rank]))))
	}
	got := grenier(t.Context(), boards.String(), "awari", "probe", "--dir", r.dir, "-").wants(t, cli.ExitOK)
	for line := range strings.Lines(got.out) {
		value, _, _ := strings.Cut(strings.TrimPrefix(line, "value "), ";")
		values = append(values, value)
	}
	should.List(t, values, want)
}
