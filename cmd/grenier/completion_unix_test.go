//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// tabs are command lines, with what a shell offers when Tab is pressed at their end.
var tabs = []struct {
	line  string
	offer []string
}{
	{"grenier awari so", []string{"solve"}},
	{"grenier help awari ver", []string{"verify"}},
	{"grenier awari solve --", []string{"--checkpoint", "--dir", "--help", "--memory", "--threads"}},
	{"grenier awari solve --seeds 3 --progress ", []string{"auto", "plain", "none"}},
	{"grenier awari solve --progress=pl", []string{"plain"}},
	{"grenier awari stats --dir data/run --layer ", []string{"364 positions"}},
	{"grenier awari verify --dir da", []string{"data/"}},
	{"grenier swap solve gri", []string{"grid.txt"}},
	{"grenier completion po", []string{"powershell"}},
}

// place makes a directory with a run and a file to complete.
func place(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, os.Rename(solved(t, "--seeds", "3"), filepath.Join(mkdir(t, dir, "data"), "run")))
	must.Write(t, filepath.Join(dir, "grid.txt"), []byte("1 2\n3 4\n"))
	return dir
}

// mkdir makes a directory in another one.
func mkdir(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.OK(t, os.Mkdir(path, 0o755))
	return path
}

// TestTab presses Tab in shells without any configuration: no package of completions is loaded.
func TestTab(t *testing.T) {
	for _, s := range []struct {
		shell string
		args  []string
		begin string
	}{
		{"bash", []string{"--norc", "--noprofile", "-i"}, "bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; source <(grenier completion bash)"},
		{"zsh", []string{"-f", "-i"}, "source <(grenier completion zsh)"},
	} {
		t.Run(s.shell, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(s.shell)
			tries.SkipIf(t, err != nil, "NOT TESTED: completions in "+s.shell+", which is not installed")
			c := startShell(t, place(t), program, s.args...)
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
			for _, bad := range []string{"command not found", "`", "no such", "--help  (help for"} {
				should.Not(t, strings.Contains(c.all, bad), "%q is on the screen:\n%s", bad, c.all)
			}
		})
	}
}

// console is a shell on a terminal.
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

// TestTabInFish asks fish what it offers.
func TestTabInFish(t *testing.T) {
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
		for _, offer := range tabs[i].offer {
			should.Hold(t, strings.Contains(offers, offer), "%s: %q is missing:\n%s", tabs[i].line, offer, offers)
		}
		should.Not(t, strings.Contains(offers, "`"), "%s: marks are in descriptions:\n%s", tabs[i].line, offers)
	}
}
