//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// onTerminal runs a command on a terminal with the given columns and returns its output.
func onTerminal(t *testing.T, columns uint16, dir string, env []string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("grenier")
	must.OK(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	f := must.Get(pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: columns}))(t)
	defer f.Close()
	var text bytes.Buffer
	_, err = io.Copy(&text, f)
	must.Not(t, err != nil && !errors.Is(err, syscall.EIO), "%v", err) // EIO: the command has ended
	err = cmd.Wait()
	must.Hold(t, err == nil, "%s: %v\n%s", args, err, &text)
	return text.String()
}

// widest returns how many columns of a terminal the widest line of text takes.
func widest(text string) (columns int, line string) {
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		for part := range strings.SplitSeq(l, "\r") { // written over the one before
			part = control.ReplaceAllString(part, "")
			if n := utf8.RuneCountInString(part); n > columns {
				columns, line = n, part
			}
		}
	}
	return columns, line
}

// control matches control sequences.
var control = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// TestLinesFit: no line that a command prints is too long for its terminal.
func TestLinesFit(t *testing.T) {
	t.Parallel()
	calibration := must.Get(filepath.Abs("testdata/machine.json"))(t)
	for _, columns := range []uint16{80, 50} {
		dir := t.TempDir()
		for _, c := range []struct{ args, part string }{
			{"awari solve --progress auto --seeds 9 --dir run", " positions in "},
			{"awari solve --progress auto --seeds 9 --dir run", "nothing to do"},
			{"awari status --dir run", "solver "},
			{"awari stats --dir run", "167,960"},
			{"awari stats --dir run --layer 8", "%"},
			{"awari plan --progress auto --seeds 48 --memory 64GiB --threads 16 --dir run --calibration " + calibration, "279,871,768,995"},
		} {
			text := onTerminal(t, columns, dir, nil, strings.Fields(c.args)...)
			n, line := widest(text)
			should.Not(t, n >= int(columns), "%d columns: %s has a line of %d: %q", columns, c.args, n, line)
			should.Hold(t, strings.Contains(text, c.part), "%d columns: %s lacks %q:\n%s", columns, c.args, c.part, text)
		}
	}
}

// TestDumbTerminal: a terminal without a cursor gets no control sequences and no bars.
func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dumb := []string{"TERM=dumb"}
	for _, args := range []string{
		"awari solve --progress auto --seeds 9 --dir run", "awari status --dir run", "awari verify --progress auto --dir run", "swap solve --animate --rows 2 --cols 2 1 2 4 3",
	} {
		text := strings.ReplaceAll(onTerminal(t, 80, dir, dumb, strings.Fields(args)...), "\r\n", "\n")
		should.Not(t, strings.ContainsAny(text, "\x1b\r"), "%s: %q", args, text)
	}
	text := onTerminal(t, 80, dir, []string{"TERM=xterm"}, "swap", "solve", "--animate", "--rows", "2", "--cols", "2", "1", "2", "4", "3")
	should.Hold(t, strings.Contains(text, "\x1b"), "no cursor control on a terminal that has it: %q", text)
}

// TestHistogramBars: a histogram has bars on a terminal, the longest for the most frequent score, and none elsewhere.
func TestHistogramBars(t *testing.T) {
	t.Parallel()
	dir := solved(t, "--pits", "4", "--seeds", "3")
	args := []string{"awari", "stats", "--dir", dir, "--layer", "3"}
	should.Not(t, strings.Contains(mustRun(t, args...), "█"), "bars without a terminal")
	text := onTerminal(t, 60, dir, nil, args...)
	most, longest, bars := 0, 0, 0
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
		bar := strings.Count(line, "█")
		if bar == 0 {
			continue
		}
		bars++
		longest = max(longest, bar)
		if n, err := strconv.Atoi(strings.Fields(line)[1]); err != nil || n > most {
			most = n
			should.Hold(t, err == nil && bar == longest, "%v: %s", err, text)
		}
	}
	columns, line := widest(text)
	should.Hold(t, columns <= 60 && longest == 60-33 && bars >= 3, "%d columns, bars up to %d: %s", columns, longest, line)
}
