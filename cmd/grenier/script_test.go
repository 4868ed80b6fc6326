package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/tries"
	"grenier/io/manifest"
)

// TestScripts runs the scripts of testdata/script that have no long part. Besides the commands of
// testscript they have
//
//	run args... [< file]      grenier succeeds, in a process for many such lines, which takes
//	                          much less time than one for each; a text is its stdin, or none,
//	                          and it has the environment of the test
//	solved dir flags...       awari solve with the flags in a new directory; all scripts share the work
//	status n grenier args...  [< file] too: grenier ends with status n, in the same process
//	status n exec args...     a process of its own ends with status n
//	field path value          the JSON object in stdout has value at path, like
//	                          layers.3.win; value * is any, - none
//	await path                waits until there is such a file
//	[long]                    what follows is for make test-long
//	[full]                    what follows is for make test-full
//	static dir NAME           a web server of the files in dir; its address is $NAME
//	truth n                   stdout is stats --json; it agrees with the reference
//	                          values, which know n of its layers
func TestScripts(t *testing.T) { runScripts(t, false) }

// TestLongScripts runs the scripts that have a long part.
func TestLongScripts(t *testing.T) {
	tries.NeedsLong(t, "runs scripts that solve and export much")
	runScripts(t, true)
}

func runScripts(t *testing.T, withLongPart bool) {
	dir, idle := t.TempDir(), make(chan *worker, 100) // those that scripts share, one after the other
	t.Cleanup(func() {
		for len(idle) > 0 {
			(<-idle).stop()
		}
	})
	testscript.Run(t, testscript.Params{
		Files: scripts(t, withLongPart),
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"run": runLine, "solved": solvedRun(t), "status": status, "field": field, "await": await, "truth": truth, "static": static,
		},
		Condition: func(name string) (bool, error) {
			is, known := map[string]bool{"long": tries.Long(), "full": tries.Full()}[name]
			if !known {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return is, nil
		},
		Setup: func(e *testscript.Env) error {
			w := &worker{program: "grenier-worker"}
			select {
			case w = <-idle:
			default:
			}
			e.Values[workerKey{}] = w
			e.Defer(func() { idle <- w })
			return nil
		},
		WorkdirRoot:         dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// scripts returns the scripts that have a long part, or those that have none.
func scripts(t *testing.T, withLongPart bool) []string {
	files, err := filepath.Glob("testdata/script/*.txtar")
	must.Not(t, err != nil || len(files) == 0, "no scripts: %v", err)
	return slices.DeleteFunc(files, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && withLongPart != strings.Contains(string(text), "long]")
	})
}

type workerKey struct{}

// usage ends a script whose line has other than some arguments, or a negation.
func usage(ts *testscript.TestScript, right bool, want string) {
	if !right {
		ts.Fatalf("usage: %s", want)
	}
}

func runLine(ts *testscript.TestScript, neg bool, args []string) {
	status(ts, neg, append([]string{"0", "grenier"}, args...))
}

// solvedRun puts a new run directory into a place.
func solvedRun(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		usage(ts, !neg && len(args) > 1, "solved dir flags...")
		ts.Check(os.Rename(solved(t, args[1:]...), ts.MkAbs(args[0])))
	}
}

// status runs a command line or a program, and wants it to end with a status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 2 && (args[1] == "grenier" || args[1] == "exec"), "status n grenier args... or status n exec program args...")
	got := "0"
	if args[1] == "grenier" {
		got = statusOfWorker(ts, args[2:])
	} else if err := ts.Exec(args[2], args[3:]...); err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("status %s, want %s", got, args[0])
	}
}

func statusOfWorker(ts *testscript.TestScript, args []string) string {
	o := order{Args: args, Dir: ts.MkAbs(".")}
	if n := len(args) - 2; n >= 0 && args[n] == "<" {
		o.Args, o.In = args[:n], ts.ReadFile(args[n+1])
	}
	r, err := ts.Value(workerKey{}).(*worker).do(o, siegePatience)
	ts.Check(err)
	if r.Bytes != len(r.Out)+len(r.Err) {
		ts.Fatalf("%d bytes of output are too many or no text: use exec", r.Bytes)
	}
	io.WriteString(ts.Stdout(), r.Out)
	io.WriteString(ts.Stderr(), r.Err)
	return strconv.Itoa(r.Status)
}

// field looks up a value in the JSON object that is the last line of stdout.
func field(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "field path value")
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	d := json.NewDecoder(strings.NewReader(lines[len(lines)-1]))
	d.UseNumber()
	var object any
	ts.Check(d.Decode(&object))
	got, found := lookUp(object, strings.Split(args[0], "."))
	if found == (args[1] == "-") || found && args[1] != "*" && fmt.Sprint(got) != args[1] {
		ts.Fatalf("%s is %v, want %s", args[0], got, args[1])
	}
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "await path")
	tries.Await(ts, args[0], func() bool { return exists(ts.MkAbs(args[0])) })
}

func static(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "static dir NAME")
	s := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(s.Close)
	ts.Setenv(args[1], s.URL)
}

func lookUp(object any, path []string) (value any, found bool) {
	for _, key := range path {
		found = false
		switch o := object.(type) {
		case map[string]any:
			object, found = o[key]
		case []any:
			if i, err := strconv.Atoi(key); err == nil && i < len(o) {
				object, found = o[i], true
			}
		}
		if !found {
			return nil, false
		}
	}
	return object, true
}

// truth compares statistics with reference values that were computed by programs independent of this one.
func truth(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "truth n")
	var stats manifest.Summary
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &stats))
	f, err := os.Open("../../layers/awari/testdata/layers.csv")
	ts.Check(err)
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	ts.Check(err)
	reference := map[string]string{} // by rules, pits and seeds
	for _, r := range records {
		reference[strings.Join(r[:3], ",")] = strings.Join(r[3:], ",")
	}
	known := 0
	for _, l := range stats.Layers {
		want, ok := reference[fmt.Sprintf("%s,%d,%d", stats.Rules, stats.Pits, l.Seeds)]
		if !ok {
			continue
		}
		known++
		if got := fmt.Sprintf("%d,%d,%d,%d,%.6f,%s", l.Positions, l.Win, l.Draw, l.Loss, l.Mean, l.Hash); got != want {
			ts.Fatalf("layer %d is %s, want %s", l.Seeds, got, want)
		}
	}
	if strconv.Itoa(known) != args[0] {
		ts.Fatalf("%d layers compared, want %s", known, args[0])
	}
}

type order struct {
	Args []string
	In   string
	Dir  string // to run it in, unless it is ""
}

type reply struct {
	Status   int
	Out, Err string // as far as maxKept
	Bytes    int    // of both, all of them
	Peak     uint64 // resident memory at most since the worker began
}

// maxKept is how much of an output is kept.
const maxKept = 1 << 20

// workerMain is the command grenier-worker: it runs command lines one after the other in one process, which is much
// faster than a process for each. One that panics or hangs takes the process with it, but not the test.
func workerMain() {
	orders, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		err := orders.Decode(&o)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = replies.Encode(o.run())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func (o *order) run() reply {
	if o.Dir != "" {
		if err := os.Chdir(o.Dir); err != nil {
			panic(err)
		}
	}
	var out, errs capped
	status := 0
	if slices.Contains(o.Args, "serve") {
		status = o.serve(&out, &errs)
	} else {
		status = run(context.Background(), o.Args, strings.NewReader(o.In), &out, &errs)
	}
	return reply{status, out.String(), errs.String(), out.all + errs.all, cli.PeakRSS()}
}

// serve runs a server; In has the addresses to get, one a line.
func (o *order) serve(out, errs *capped) int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	from, to := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		status := run(ctx, o.Args, strings.NewReader(""), to, errs)
		to.Close()
		ended <- status
	}()
	lines := bufio.NewReader(from)
	line, _ := lines.ReadString('\n')
	go io.Copy(io.Discard, lines)
	var report serveReport
	if json.Unmarshal([]byte(line), &report) == nil {
		for path := range strings.FieldsSeq(o.In) {
			getInto(out, report.URL, path)
		}
	}
	stop()
	return <-ended
}

func getInto(out io.Writer, url, path string) {
	response, err := http.Get(url + path)
	if err != nil {
		fmt.Fprintln(out, path, "failed:", err)
		return
	}
	defer response.Body.Close()
	fmt.Fprintln(out, path, response.StatusCode)
	if response.StatusCode == http.StatusOK {
		io.Copy(out, response.Body)
	}
}

// capped keeps the beginning of an output.
type capped struct {
	bytes.Buffer
	all int
}

func (k *capped) Write(p []byte) (int, error) {
	k.all += len(p)
	k.Buffer.Write(p[:min(len(p), max(0, maxKept-k.Len()))])
	return len(p), nil
}

// worker is a process that runs command lines.
type worker struct {
	program string // to start; grenier-worker
	attr    *syscall.SysProcAttr
	dir     string
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies *json.Decoder
	errs    *capped
}

func (w *worker) start() error {
	w.errs = &capped{}
	cmd := exec.Command(w.program)
	cmd.SysProcAttr, cmd.Dir, cmd.Stderr = w.attr, w.dir, w.errs
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	w.in, w.replies = in, json.NewDecoder(out)
	if err := cmd.Start(); err != nil {
		return err
	}
	w.cmd = cmd
	return nil
}

// stop ends the process, if there is one.
func (w *worker) stop() {
	if w.cmd != nil {
		w.in.Close()
		w.cmd.Wait()
		w.cmd = nil
	}
}

// siegePatience is how long a command may take. Commands of the tests take a small part of it.
const siegePatience = 3 * time.Minute

// do runs a command line. The error tells of a process that does not start, that died, or that took too long and was killed.
func (w *worker) do(o order, patience time.Duration) (reply, error) {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return reply{}, err
		}
	}
	process := w.cmd.Process
	watchdog := time.AfterFunc(patience, func() { process.Signal(syscall.SIGQUIT) }) // it prints its stacks
	defer watchdog.Stop()
	killer := time.AfterFunc(patience+time.Second, func() { process.Kill() })
	defer killer.Stop()
	var r reply
	err := json.NewEncoder(w.in).Encode(o)
	if err == nil {
		err = w.replies.Decode(&r)
	}
	if err == nil {
		return r, nil
	}
	what := "died"
	if !watchdog.Stop() {
		what = "hung"
	}
	w.cmd.Wait()
	w.cmd = nil
	return r, fmt.Errorf("the process %s: %s", what, firstLines(w.errs.String(), 30))
}

func firstLines(text string, n int) string {
	lines := strings.SplitAfterN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}
