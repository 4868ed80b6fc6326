//go:build !quick

package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/examples"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// emptyRoot is the variable that makes this program use the one in a directory that is its root.
const emptyRoot = "GRENIER_EMPTY_ROOT"

func TestMain(m *testing.M) {
	root := os.Getenv(emptyRoot)
	if root == "" {
		os.Exit(m.Run())
	}
	useAlone(process{}, root)
}

// process is one that is part of a test.
type process struct{}

func (process) Helper() {}

func (process) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}

// TestLongRelease makes the archive for this machine, installs it as docs/install.md says, and uses the program alone: in a
// root that has nothing else, without a network.
func TestLongRelease(t *testing.T) {
	tries.NeedsLong(t, "builds the program")
	dir, home := t.TempDir(), t.TempDir()
	name := archive(t, dir)
	commands := examples.Read(t, "../../docs/install.md")
	commands = slices.DeleteFunc(commands, func(c examples.Command) bool { return c.Test != t.Name() })
	for i := range commands {
		c := &commands[i]
		for _, text := range []*string{&c.Text, &c.Want} {
			*text = strings.ReplaceAll(*text, "grenier-0.1.0-linux-amd64", name)
		}
	}
	must.Hold(t, len(commands) >= 5 && cli.Release == "0.1.0", "docs/install.md has %d commands for release %s", len(commands), cli.Release)
	examples.Run(t, "docs/install.md", dir, []string{"HOME=" + home}, commands)
	for _, path := range []string{".local/bin/grenier", ".local/share/man/man1/grenier-awari-solve.1"} {
		should.OK(t, must.Err(os.Stat(filepath.Join(home, path))))
	}
	root := t.TempDir()
	must.OK(t, os.Rename(filepath.Join(dir, name, "grenier"), filepath.Join(root, "grenier")))
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{emptyRoot + "=" + root}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("NOT TESTED: the program in an empty root: this system allows no user namespaces (%v)", err)
	}
	should.Hold(t, err == nil, "%v\n%s", err, out)
}

// archive writes the archive for this machine, and the sums, into dir. It returns the name of the directory in it.
func archive(t *testing.T, dir string) string {
	t.Helper()
	t.Chdir("../..")
	defer t.Chdir("cmd/dist")
	here := target{runtime.GOOS, runtime.GOARCH}
	c := commit{time: time.Now()}
	files := must.Get(sharedEntries(t.Context(), &c))(t)
	program := must.Get(here.build(t.Context(), dir))(t)
	name := "grenier-" + cli.Release + "-" + here.os + "-" + here.arch
	data := must.Get(here.pack(name, append(files, entry{name: here.program(), data: program, executable: true}), c.time))(t)
	must.Write(t, filepath.Join(dir, name+here.suffix()), data)
	must.Write(t, filepath.Join(dir, "SHA256SUMS"), fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(data), name+here.suffix()))
	return name
}

// aloneWants are what the program is asked where there is nothing else, and parts of the answers.
var aloneWants = []struct{ args, part string }{
	{"awari solve --seeds 12 --dir run", "2,704,156 positions in "},
	{"awari probe --dir run 1 1 1 1 1 2 2 1 1 1 0 0", "value "},
	{"awari verify --dir run", "everything is in order"},
	{"awari export --dir run --layer 12 --format npy --out 12.npy", "12.npy: layer 12, 1,352,078 scores"},
	{"completion bash", "complete -o default -F __grenier grenier"},
	{"completion zsh", "#compdef grenier"},
	{"completion fish", "complete -c grenier"},
	{"help awari solve", "Usage:\n  grenier awari solve"},
	{"doctor --dir run --quick", "verdict: "},
}

// useAlone uses the program in the directory root as if there was nothing else. The network of this process has no interface but its own.
func useAlone(p process, root string) {
	s := must.Get(unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0))(p)
	defer unix.Close(s)
	loopback := must.Get(unix.NewIfreq("lo"))(p)
	loopback.SetUint16(unix.IFF_UP)
	must.OK(p, unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, loopback))
	for _, w := range aloneWants {
		out, err := inRoot(root, w.args).CombinedOutput()
		must.Hold(p, err == nil && strings.Contains(string(out), w.part), "%s: %v, %q is missing:\n%s", w.args, err, w.part, out)
	}
	serveAlone(p, root)
}

// inRoot returns a command of the program with nothing around it.
func inRoot(root, args string) *exec.Cmd {
	cmd := exec.Command("/grenier", strings.Fields(args)...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{}, &syscall.SysProcAttr{Chroot: root}
	return cmd
}

// serveAlone starts the server, asks for a page and a board, and stops it.
func serveAlone(p process, root string) {
	cmd := inRoot(root, "awari serve --dir run --addr 127.0.0.1:0") // a root without files knows no localhost
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(p)
	must.OK(p, cmd.Start())
	address := must.Get(bufio.NewReader(out).ReadString('\n'))(p)
	for path, part := range map[string]string{"": "<!doctype html>", "api/probe?pits=0,0,0,0,0,2,1,1,0,0,0,1": `"value":5`} {
		answer := must.Get(http.Get(strings.TrimSpace(address) + path))(p)
		text := string(must.Get(io.ReadAll(answer.Body))(p))
		answer.Body.Close()
		must.Hold(p, strings.Contains(strings.ToLower(text), part), "%s lacks %q:\n%s", path, part, text)
	}
	must.OK(p, errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()))
}

// TestLongNewcomer copies the commands of README.md in order in a fresh clone, as somebody does who has installed nothing.
func TestLongNewcomer(t *testing.T) {
	tries.NeedsLong(t, "builds the program")
	source := must.Get(filepath.Abs("../.."))(t)
	dir := filepath.Join(t.TempDir(), "grenier")
	command(t, ".", nil, "git", "clone", "-q", "--no-hardlinks", source, dir)
	commands := slices.DeleteFunc(examples.Read(t, "../../README.md"), func(c examples.Command) bool { return c.Elsewhere })
	should.Not(t, len(commands) < 9, "only %d commands", len(commands))
	examples.Run(t, "README.md", dir, []string{"XDG_CACHE_HOME=" + t.TempDir(), "GOCACHE=" + strings.TrimSpace(command(t, ".", nil, "go", "env", "GOCACHE"))}, commands)
}
