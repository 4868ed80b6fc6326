package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"grenier/cmd/grenier/cli"
)

// order is a command line for a worker.
type order struct {
	Args []string
	In   string
	Dir  string // to run it in, unless it is ""
}

// reply is the result of an order.
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
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := replies.Encode(o.run()); err != nil {
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
	env     []string // if not the environment of this process

	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *capped
}

func (w *worker) start() error {
	w.errs = &capped{}
	cmd := exec.Command(w.program)
	cmd.SysProcAttr, cmd.Dir, cmd.Env, cmd.Stderr = w.attr, w.dir, w.env, w.errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.cmd, w.in, w.out = cmd, in, bufio.NewReader(out)
	return nil
}

// stop ends the process, if there is one.
func (w *worker) stop() {
	if w.cmd != nil {
		w.in.Close()
		w.cmd.Process.Kill()
		w.cmd.Wait()
		w.cmd = nil
	}
}

// siegePatience is how long a command may take. Commands of the tests take a small part of it.
const siegePatience = 3 * time.Minute

// do runs a command line. The error tells of a process that does not start, that died, or
// that took too long and was killed.
func (w *worker) do(o order, patience time.Duration) (reply, error) {
	if w.cmd == nil {
		if err := w.start(); err != nil {
			return reply{}, err
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return reply{}, err
	}
	process := w.cmd.Process
	watchdog := time.AfterFunc(patience, func() { process.Signal(syscall.SIGQUIT) }) // it prints its stacks
	defer watchdog.Stop()
	killer := time.AfterFunc(patience+time.Second, func() { process.Kill() })
	defer killer.Stop()
	var r reply
	_, err = w.in.Write(append(text, '\n'))
	if err == nil {
		var line []byte
		if line, err = w.out.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &r)
		}
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
