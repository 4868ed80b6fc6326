//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"grenier/internal/testkit/examples"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/pythontest"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// tabs are command lines, with what a shell offers when Tab is pressed at their end.
var tabs = []struct {
	line  string
	offer []string
}{
	{"grenier awari so", []string{"solve"}},
	{"grenier awari solve --", []string{"--checkpoint", "--dir", "--help", "--memory", "--threads"}},
	{"grenier awari solve --seeds 3 --progress ", []string{"auto", "plain", "none"}},
	{"grenier awari solve --progress=pl", []string{"plain"}},
	{"grenier awari stats --dir data/run --layer ", []string{"364 positions"}},
	{"grenier awari verify --dir da", []string{"data/"}},
	{"grenier swap solve gri", []string{"grid.txt"}},
}

// place makes a directory with a run and a file to complete.
func place(t *testing.T) string {
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, "data"), 0o755))
	must.OK(t, os.Rename(solved(t, "--seeds", "3"), filepath.Join(dir, "data", "run")))
	must.Write(t, filepath.Join(dir, "grid.txt"), []byte("1 2\n3 4\n"))
	return dir
}

// TestLongTab presses Tab in shells without any configuration: no package of completions is loaded.
func TestLongTab(t *testing.T) {
	tries.NeedsLong(t, "completions in shells")
	for _, s := range []struct{ shell, args, begin string }{
		{"bash", "--norc --noprofile -i", "bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; source <(grenier completion bash)"},
		{"zsh", "-f -i", "source <(grenier completion zsh)"},
	} {
		t.Run(s.shell, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(s.shell)
			tries.SkipIf(t, err != nil, "NOT TESTED: completions in "+s.shell+", which is not installed")
			c := startShell(t, place(t), program, strings.Fields(s.args)...)
			c.send(s.begin + "; echo rea''dy\r")
			c.await("ready")
			for _, tab := range tabs {
				c.send(tab.line)
				c.await(tab.line)
				start := c.seen - len(tab.line) // it may be completed
				c.send("\t")
				for _, offer := range tab.offer {
					c.seen = start // a list has columns
					c.await(offer)
				}
				c.send("\x15echo do''ne\r") // what is on the line goes
				c.await("done")
			}
			should.Lacks(t, c.all, "command not found", "`", "no such", "--help  (help for")
		})
	}
}

type console struct {
	*testing.T
	f     *os.File
	parts chan string
	all   string // that it has printed, without control sequences
	seen  int    // bytes of all that are known
}

func startShell(t *testing.T, dir, program string, args ...string) *console {
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "PS1=> ", "TERM=xterm", "BASH_SILENCE_DEPRECATION_WARNING=1")
	f := must.Get(pty.StartWithSize(cmd, &pty.Winsize{Rows: 100, Cols: 200}))(t)
	c := &console{T: t, f: f, parts: make(chan string)}
	go func() {
		defer close(c.parts)
		for b := make([]byte, 4096); ; {
			n, err := f.Read(b)
			if n > 0 {
				c.parts <- string(b[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		f.Close()
		for range c.parts {
		}
		cmd.Wait()
	})
	return c
}

func (c *console) send(text string) { c.Helper(); must.OK(c, must.Err(c.f.WriteString(text))) }

// await waits until text comes that was not there before.
func (c *console) await(text string) {
	c.Helper()
	for timeout := time.After(time.Minute); ; {
		if i := strings.Index(c.all[c.seen:], text); i >= 0 {
			c.seen += i + len(text)
			return
		}
		select {
		case part, ok := <-c.parts:
			must.Hold(c, ok, "the shell has ended, without %q:\n%s", text, c.all)
			c.all += control.ReplaceAllString(part, "")
		case <-timeout:
			c.Fatalf("no %q:\n%s", text, c.all)
		}
	}
}

// TestLongTabInFish asks fish what it offers.
func TestLongTabInFish(t *testing.T) {
	tries.NeedsLong(t, "completions in shells")
	t.Parallel()
	fish, err := exec.LookPath("fish")
	tries.SkipIf(t, err != nil, "NOT TESTED: completions in fish, which is not installed")
	dir := place(t)
	script := "grenier completion fish | source\n"
	for _, tab := range tabs {
		script += "echo " + `"# ` + tab.line + `"` + "; complete -C '" + tab.line + "'\n"
	}
	cmd := exec.CommandContext(t.Context(), fish, "--no-config", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
	out := must.Get(cmd.CombinedOutput())(t)
	for i, answer := range strings.Split("\n"+string(out), "\n# ")[1:] {
		_, offers, _ := strings.Cut(answer, "\n")
		should.Has(t, offers, tabs[i].offer...)
		should.Lacks(t, offers, "`") // marks in descriptions
	}
}

// onTerminal runs a command on a terminal with the given columns and returns its output.
func onTerminal(t *testing.T, columns uint16, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "grenier", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	f := must.Get(pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: columns}))(t)
	defer f.Close()
	var text bytes.Buffer
	_, err := io.Copy(&text, f)
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

var control = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// TestLinesFit: no line that a command prints is too long for its terminal.
func TestLinesFit(t *testing.T) {
	t.Parallel()
	calibration := must.Get(filepath.Abs("testdata/machine.json"))(t)
	for _, columns := range []uint16{80, 50} {
		dir := t.TempDir()
		for _, c := range []struct{ args, part string }{
			{"awari solve --progress auto --seeds 8 --dir run", " positions in "},
			{"awari solve --progress auto --seeds 8 --dir run", "nothing to do"},
			{"awari status --dir run", "solver "},
			{"awari stats --dir run", "75,582"},
			{"awari stats --dir run --layer 8", "%"},
			{"awari plan --progress auto --seeds 48 --memory 64GiB --threads 16 --dir run --calibration " + calibration, "279,871,768,995"},
		} {
			text := onTerminal(t, columns, dir, nil, strings.Fields(c.args)...)
			n, line := widest(text)
			should.Not(t, n >= int(columns), "%d columns: %s has a line of %d: %q", columns, c.args, n, line)
			should.Has(t, text, c.part)
		}
	}
}

// TestDumbTerminal: a terminal without a cursor gets no control sequences and no bars.
func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dumb := []string{"TERM=dumb"}
	for _, args := range []string{
		"awari solve --progress auto --seeds 8 --dir run", "awari status --dir run", "awari verify --progress auto --dir run", "swap solve --animate --rows 2 --cols 2 1 2 4 3",
	} {
		text := strings.ReplaceAll(onTerminal(t, 80, dir, dumb, strings.Fields(args)...), "\r\n", "\n")
		should.Not(t, strings.ContainsAny(text, "\x1b\r"), "%s: %q", args, text)
	}
	should.Has(t, onTerminal(t, 80, dir, []string{"TERM=xterm"}, strings.Fields("swap solve --animate --rows 2 --cols 2 1 2 4 3")...), "\x1b")
}

// TestHistogramBars: a histogram has bars on a terminal, the longest for the most frequent score, and none elsewhere.
func TestHistogramBars(t *testing.T) {
	t.Parallel()
	dir := solved(t, "--pits", "4", "--seeds", "3")
	args := "awari stats --layer 3 --dir " + dir
	should.Lacks(t, mustDo(t, args), "█")
	text := onTerminal(t, 60, dir, nil, strings.Fields(args)...)
	bars := map[int]int{} // by number of positions
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
		if bar := strings.Count(line, "█"); bar > 0 {
			bars[must.Get(strconv.Atoi(strings.Fields(line)[1]))(t)] = bar
		}
	}
	longest := bars[slices.Max(slices.Collect(maps.Keys(bars)))]
	should.Equal(t, longest, slices.Max(slices.Collect(maps.Values(bars))), "%s", text)
	columns, line := widest(text)
	should.Hold(t, columns <= 60 && longest == 60-33 && len(bars) >= 3, "%d columns, bars up to %d: %s", columns, longest, line)
}

// TestLongExamples runs the commands that the documents show, each page in a directory of its own: README.md first, whose layers are those
// that other pages need. Those that take longer than a second wait for the full run.
func TestLongExamples(t *testing.T) {
	tries.NeedsLong(t, "runs what all pages show")
	paths, texts := documents(t)
	solved := filepath.Join(t.TempDir(), "solved")
	run := 0
	for i, path := range paths {
		commands := slices.DeleteFunc(examples.Read(t, path), func(c examples.Command) bool {
			return c.Test != "" || c.Elsewhere || c.Clone || c.Long && !tries.Full()
		})
		if len(commands) == 0 {
			continue
		}
		run += len(commands)
		page := strings.TrimPrefix(path, "../../")
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir()
			if i > 0 {
				t.Parallel()
				must.OK(t, os.CopyFS(filepath.Join(dir, "docs"), os.DirFS("../../docs"))) // as a release has them
			}
			if strings.Contains(texts[path], needsLayers) {
				must.OK(t, os.CopyFS(filepath.Join(dir, "data", "awari"), os.DirFS(solved)))
			}
			env := []string{"HOME=" + t.TempDir(), "PYTHONDONTWRITEBYTECODE=1", "TERM=dumb"}
			if slices.ContainsFunc(commands, func(c examples.Command) bool { return strings.Contains(c.Text, "python3") }) {
				env = append(env, "PATH="+filepath.Dir(pythontest.With(t, "numpy"))+":"+os.Getenv("PATH"))
			}
			examples.Run(t, page, dir, env, commands)
			if i == 0 {
				must.OK(t, os.Rename(filepath.Join(dir, "data", "awari"), solved))
			}
		})
	}
	should.Not(t, run < 30, "only %d commands were found", run)
}

// needsLayers is how a page says that it begins with the layers that README.md solves.
const needsLayers = "Needs layers 0 to 16: `grenier awari solve --seeds 16 --dir data/awari`."
