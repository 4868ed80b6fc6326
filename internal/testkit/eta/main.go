// Command eta compares the ends that runs predicted with their true ends: it reads the lines of --progress json from
// stdin and prints a table for docs/runs.md. A run ends with its last line.
//
//	grenier awari solve --seeds 24 --dir data --progress json 2>&1 >/dev/null | go run ./internal/testkit/eta
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// report is a line of progress.
type report struct {
	Type    string   `json:"type"`
	Seconds float64  `json:"seconds"`
	Share   float64  `json:"progress"`
	ETA     *float64 `json:"run_eta_seconds"`
	Doing   string   `json:"doing"`
}

// Limits of a run that tells the truth.
const (
	settled  = 10   // seconds from which on reports count
	allowed  = 0.25 // of the time that is left
	slack    = 5    // seconds
	rows     = 12   // of the table
	standing = 0.0001
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "eta:", err)
		os.Exit(1)
	}
}

// run reads reports and prints the table.
func run(in io.Reader, out io.Writer) error {
	all, err := read(in)
	if err != nil {
		return err
	}
	if len(all) < 2 {
		return fmt.Errorf("%d reports: want two at least", len(all))
	}
	print(out, all)
	return nil
}

// read returns the reports of a run.
func read(in io.Reader) (all []report, err error) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Type == "progress" {
			all = append(all, r)
		}
	}
	return all, lines.Err()
}

// verdict adds up how far reports were from the truth.
type verdict struct {
	counted, off int
	share, pause float64
}

// off reports whether an ETA is too far from the time that was left.
func off(eta *float64, left float64) bool {
	return eta == nil || math.Abs(*eta-left) > max(allowed*left, slack)
}

// begun returns the first report of a run that knows what earlier runs had done: those before tell that it is checked.
func begun(all []report) report {
	for _, r := range all {
		if !strings.HasSuffix(r.Doing, ", check") {
			return r
		}
	}
	return all[0]
}

func judge(all []report) (v verdict) {
	first, end := begun(all), all[len(all)-1].Seconds
	changed := all[0]
	for _, r := range all {
		if r.Share-changed.Share > standing || r.Doing != changed.Doing {
			changed = r
		}
		v.pause = max(v.pause, r.Seconds-changed.Seconds)
		if r.Seconds < settled {
			continue
		}
		v.counted++
		if off(r.ETA, end-r.Seconds) {
			v.off++
		}
		if r.Seconds < first.Seconds {
			continue
		}
		truth := first.Share + (1-first.Share)*(r.Seconds-first.Seconds)/(end-first.Seconds)
		v.share = max(v.share, math.Abs(r.Share-truth))
	}
	return v
}

func print(out io.Writer, all []report) {
	end := all[len(all)-1].Seconds
	fmt.Fprintf(out, "| s | doing | share | ETA, s | left, s |\n|---|---|---|---|---|\n")
	for i := range rows {
		r := all[i*(len(all)-1)/(rows-1)]
		eta := "?"
		if r.ETA != nil {
			eta = fmt.Sprintf("%.0f", *r.ETA)
		}
		fmt.Fprintf(out, "| %.0f | %s | %.1f %% | %s | %.0f |\n", r.Seconds, r.Doing, 100*r.Share, eta, end-r.Seconds)
	}
	v := judge(all)
	fmt.Fprintf(out, "\n%d reports from the tenth second on, %d off by more than a quarter and %d s; share off by %.1f points at most; %.1f s without a change at most\n",
		v.counted, v.off, slack, 100*v.share, v.pause)
}
