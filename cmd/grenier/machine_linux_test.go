package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// slack is what a memory cgroup has beyond --memory: pages of code and of files that are
// in use at the moment, page tables, see docs/memory.md.
const slack = 8 << 20

// cgroup is a memory cgroup (version 1) below that of the test.
type cgroup struct{ path string }

// newCgroup makes a cgroup with a limit, and skips the test where that cannot be.
func newCgroup(t *testing.T, limit uint64) *cgroup {
	t.Helper()
	path, err := os.MkdirTemp("/sys/fs/cgroup/memory", "grenier-test-")
	if err != nil {
		t.Skipf("no memory cgroup can be made: %v", err)
	}
	g := &cgroup{path}
	t.Cleanup(func() { // once what was in it is gone
		for range 100 {
			if err := os.Remove(g.path); err == nil || errors.Is(err, os.ErrNotExist) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	if err := os.WriteFile(filepath.Join(path, "memory.limit_in_bytes"), strconv.AppendUint(nil, limit, 10), 0); err != nil {
		t.Skipf("no limit can be set: %v", err)
	}
	return g
}

// number returns what a file of the cgroup says; key is the first word of the line, "" if there is nothing but the number.
func (g *cgroup) number(t *testing.T, file, key string) (n uint64) {
	text := must.Read(t, filepath.Join(g.path, file))
	for line := range bytes.Lines(text) {
		if _, err := fmt.Sscanf(string(line), strings.TrimSpace(key+" %d"), &n); err == nil {
			return n
		}
	}
	t.Fatalf("%s has no %q:\n%s", file, key, text)
	return 0
}

// run runs the program in the cgroup: a shell enters it and becomes the program.
func (g *cgroup) run(t *testing.T, args ...string) result {
	t.Helper()
	enter := []string{"-c", `echo $$ > "$0"/cgroup.procs && exec grenier "$@"`, g.path}
	return command(t, "sh", append(enter, args...)...).start(t).wait(t)
}

// memoryRow is a command that is run within some memory.
type memoryRow struct {
	memory string
	ends   int // its status: cli.ExitUsage if it is to refuse
	args   string
	full   bool // takes long: for make test-full
}

func memoryRows(t *testing.T) (rows []memoryRow) {
	for line := range strings.Lines(string(must.Read(t, "testdata/memory.txt"))) {
		about, args, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if words := strings.Fields(about); ok && words[0] != "#" {
			ends, known := map[string]int{"ends": cli.ExitOK, "refuses": cli.ExitUsage}[words[1]]
			must.Hold(t, known, "%s", line)
			rows = append(rows, memoryRow{words[0], ends, args, len(words) == 3})
		}
	}
	should.Not(t, len(rows) < 50, "only %d", len(rows))
	return rows
}

// Boards with 27 and 30 holes; the usual one has 33.
const (
	memoryBoard  = "  ooo\n  ooo\noooooo\nooo.oo\noooooo\n  ooo\n"
	memoryLarger = "  ooo\n  ooo\nooooooo\nooo.ooo\nooooooo\n  ooo\n"
)

// TestLongMemory runs every command with --memory in a cgroup of that much and some slack:
// it ends as it should, or refuses at once and says what it needs, and is never killed.
func TestLongMemory(t *testing.T) {
	tries.NeedsLong(t, "it takes minutes")
	newCgroup(t, 64<<20) // or skip before anything is solved
	places := memoryPlaces(t)
	for _, row := range memoryRows(t) {
		t.Run(row.memory+" "+row.args, func(t *testing.T) {
			tries.SkipIf(t, row.full && !tries.Full(), "needs GRENIER_LONG=full")
			t.Parallel()
			row.check(t, places)
		})
	}
}

func memoryPlaces(t *testing.T) map[string]string {
	below := solved(t, "--seeds", "16")
	dir := testrun.Copy(t, below)
	mustDo(t, "awari solve --progress none --seeds 17 --dir "+dir)
	files := t.TempDir()
	places := map[string]string{
		"DIR": dir, "BELOW": below, "BOARD": filepath.Join(files, "board"), "LARGER": filepath.Join(files, "larger"),
		"FILE": filepath.Join(files, "colex"), "VU": filepath.Join(files, "vu"), "PACKED": filepath.Join(files, "packed"),
	}
	for name, format := range map[string]string{"FILE": "colex", "VU": "vu", "PACKED": "vu --codec zstd"} {
		mustDo(t, "awari export --progress none --dir "+dir+" --layer 17 --format "+format+" --out "+places[name])
	}
	for name, board := range map[string]string{"BOARD": memoryBoard, "LARGER": memoryLarger} {
		must.Write(t, places[name], []byte(board))
	}
	return places
}

func (r memoryRow) check(t *testing.T, places map[string]string) {
	args := strings.Fields(r.args)
	for i, arg := range args {
		switch path, named := places[arg]; {
		case arg == "BELOW": // rows add to it
			args[i] = testrun.Copy(t, path)
		case named:
			args[i] = path
		case arg == "NEW":
			args[i] = filepath.Join(t.TempDir(), "new")
		}
	}
	args = append(args, "--memory", r.memory)
	if args[1] != "play" {
		args = append(args, "--progress", "none")
	}
	group := newCgroup(t, must.Get(humanize.ParseBytes(r.memory))(t)+slack)
	got := group.run(t, args...)
	killed := group.number(t, "memory.oom_control", "oom_kill")
	should.Hold(t, got.status == r.ends && killed == 0, "status %d, want %d; killed %d times; %s", got.status, r.ends, killed, got.err)
	if r.ends == cli.ExitUsage {
		should.Has(t, got.err, "--memory "+r.memory, "needs")
	}
}

// TestMachine: more than a cgroup allows is refused unless forced, a default is lowered.
func TestMachine(t *testing.T) {
	group := newCgroup(t, 100<<20)
	for _, tt := range []struct {
		flags  string
		status int
		errs   string
	}{
		{"", cli.ExitOK, "has 100 MiB, so --memory is 88 MiB (91750400 bytes)\n"},
		{"--memory 64MiB", cli.ExitOK, ""},
		{"--memory 101MiB", cli.ExitUsage, " has 100 MiB; --force starts anyway\n"},
		{"--memory 101MiB --force", cli.ExitOK, ""},
	} {
		r := group.run(t, strings.Fields("swap solve --rows 2 --cols 2 4 3 2 1 "+tt.flags)...).wants(t, tt.status)
		should.Hold(t, strings.HasSuffix(r.err, tt.errs) && (tt.errs == "") == (r.err == ""), "%v: %q", tt.flags, r.err)
	}
}

// TestLostLock removes the lock while commands work in a directory: they end, with one
// clear line, and the next run is none the worse for it.
func TestLostLock(t *testing.T) {
	for _, args := range []string{
		"awari solve --seeds 8", "swap bfs --rows 3 --cols 3", "chemin solve --rows 3 --cols 3", "solitaire solve --board " + pegBoard(t),
	} {
		t.Run(args, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			args, lock := args+" --progress none --dir "+dir, filepath.Join(dir, rundir.LockName)
			var once sync.Once
			reported = func() { once.Do(func() { should.OK(t, os.Remove(lock)) }) }
			r := do(t, args).wants(t, cli.ExitFailure)
			reported = nil
			last := r.err[strings.LastIndex(strings.TrimSuffix(r.err, "\n"), "\n")+1:]
			should.Has(t, last, "lost the lock of "+dir+": ")
			oneClearLine(t, last)
			should.Be(t, must.Err(os.Stat(lock)), fs.ErrNotExist, "there is a lock again")
			mustDo(t, args+" --json")
		})
	}
}

// TestRepairFullDisk repairs on a disk that is too small, then on a larger one.
func TestRepairFullDisk(t *testing.T) {
	whole := solved(t, "--pits", "8", "--seeds", "12")
	from := testrun.Copy(t, whole)
	loseLayers(t, from, 9, 11, 10, 12)
	disk := smallDisk(t, usedKiB(t, from)+32)
	dir := filepath.Join(disk, "run")
	must.OK(t, os.CopyFS(dir, os.DirFS(from)))
	oneClearLine(t, do(t, "awari repair --progress none --dir "+dir).wants(t, cli.ExitFailure, "no space left on device").err)
	must.OK(t, unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=16m"))
	mustDo(t, "awari repair --progress none --dir "+dir)
	must.Same(t, "repaired", kept(t, whole), kept(t, dir))
	mustDo(t, "awari scrub --progress none --dir "+dir)
}

// TestUnwritable: a user without rights may look, and a file system that is mounted read-only may be looked at; neither lets
// anybody solve or repair there. What may not be read is told.
func TestUnwritable(t *testing.T) {
	base := publicDir(t)
	run, lacking := filepath.Join(base, "run"), filepath.Join(base, "lacking")
	mustDo(t, "awari solve --progress none --pits 4 --seeds 3 --dir "+run)
	must.OK(t, os.CopyFS(lacking, os.DirFS(run)))
	must.OK(t, os.Remove(filepath.Join(lacking, "layer-01.gl")))
	before := must.Tree(t, base)
	check := func(as func(line string) result, cause string) {
		t.Helper()
		for _, c := range []struct {
			args   string
			status int
			words  string // of stdout and stderr
		}{
			{"solve --pits 4 --seeds 4 --dir " + run, cli.ExitFailure, run + ": directory cannot be written: " + cause},
			{"solve --pits 4 --seeds 4 --dir " + run + "/new", cli.ExitFailure, "/new: directory cannot be written"},
			{"verify --dir " + run, cli.ExitOK, "in order"},
			{"probe --dir " + run + " 1 1 1 0", cli.ExitOK, "value"},
			{"repair --dir " + lacking, cli.ExitFailure, lacking + ": directory cannot be written: " + cause},
			{"repair --dry-run --dir " + lacking, cli.ExitOK, ""},
			{"scrub --dir " + lacking, cli.ExitCorrupt, "layer  1: missing\n"},
			{"scrub --dir " + lacking, cli.ExitCorrupt, "note: an interrupted scrub will begin anew: "},
		} {
			r := as("awari "+c.args).wants(t, c.status)
			should.Has(t, r.out+r.err, c.words)
			if c.status == cli.ExitFailure {
				oneClearLine(t, r.err)
			}
		}
		must.Same(t, "changed", before, must.Tree(t, base))
	}
	asNobody := worksAs(t, base, nobody)
	check(asNobody, "permission denied")
	must.OK(t, os.Chmod(run, 0o700))
	oneClearLine(t, asNobody("awari verify --dir "+run).wants(t, cli.ExitFailure, run, "permission denied").err)
	must.OK(t, os.Chmod(run, 0o755))
	mountReadOnly(t, run)
	mountReadOnly(t, lacking)
	check(worksAs(t, base, nil), "read-only file system")
}

// TestNoRoom: a run that has no room on the disk is refused, unless it is forced to begin.
func TestNoRoom(t *testing.T) {
	for _, c := range []struct {
		size        int
		args, needs string
		full        string // said of a disk that is full
	}{
		{64, "awari solve --pits 8 --seeds 16", "needs about", "more needed on the disk of "},
		{300, "swap bfs --rows 2 --cols 5", "the search needs up to 897 KiB", "no space left"},
	} {
		disk := smallDisk(t, c.size)
		dir := filepath.Join(disk, "run")
		args, room := c.args+" --progress none --dir "+dir, fmt.Sprintf(" on the disk of %s; %d KiB free", dir, c.size)
		r := do(t, args).wants(t, cli.ExitFailure, c.needs, room)
		should.Hold(t, strings.HasSuffix(r.err, "; --force starts anyway\n"), "%s", r.err)
		should.Equal(t, len(must.Tree(t, disk)), 1, "left behind")
		do(t, args+" --force").wants(t, cli.ExitFailure, "no space left", c.full)
	}
	dir := filepath.Join(smallDisk(t, 64), "run")
	should.Has(t, mustDo(t, "awari plan --pits 8 --seeds 16 --calibration testdata/machine.json --dir "+dir), " free: too little\n")
}

func mountReadOnly(t *testing.T, dir string) {
	mount := func(from string, flags uintptr) {
		err := unix.Mount(from, dir, "", flags, "")
		tries.SkipIf(t, err != nil, fmt.Sprint("a directory that nobody can write needs a mount: ", err))
	}
	mount(dir, unix.MS_BIND)
	t.Cleanup(func() { must.OK(t, unix.Unmount(dir, 0)) })
	mount("", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY)
}

// nobody is a user without rights.
var nobody = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

// publicDir returns a new directory that every user can read, with this program in it under the name grenier-worker. It skips the test
// where no other user can come to it.
func publicDir(t *testing.T) string {
	tries.SkipIf(t, os.Getuid() != 0, "only the super-user can become another user")
	dir := must.Get(os.MkdirTemp("", "grenier-test-"))(t)
	t.Cleanup(func() { must.OK(t, os.RemoveAll(dir)) })
	must.OK(t, os.Chmod(dir, 0o755))
	look := exec.CommandContext(t.Context(), "test", "-x", dir)
	look.SysProcAttr = nobody
	tries.SkipIf(t, look.Run() != nil, "a directory for temporary files is needed that other users can reach, not "+dir)
	// Were the file open for writing in this process, one that another test starts meanwhile would have it open too, and it could not run.
	must.OK(t, exec.CommandContext(t.Context(), "cp", must.Get(os.Executable())(t), filepath.Join(dir, "grenier-worker")).Run())
	return dir
}

// worksAs returns what runs command lines in a process of a user.
func worksAs(t *testing.T, base string, user *syscall.SysProcAttr) func(line string) result {
	w := &worker{program: filepath.Join(base, "grenier-worker"), attr: user, dir: base}
	t.Cleanup(w.stop)
	return func(line string) result {
		r := must.Get(w.do(order{Args: strings.Fields(line)}, siegePatience))(t)
		return result{r.Status, r.Out, r.Err}
	}
}

// smallDisk mounts a file system of some KiB, and returns its path.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	path := t.TempDir()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%dk", size)); err != nil {
		t.Skipf("a full disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() { must.OK(t, unix.Unmount(path, 0)) })
	return path
}

func usedKiB(t *testing.T, dir string) int {
	pages := 0
	for _, text := range must.Tree(t, dir) {
		pages += len(text)/os.Getpagesize() + 1
	}
	return pages * os.Getpagesize() >> 10
}

// TestNohup: a terminal that hangs up does not end what was told to ignore that.
func TestNohup(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	s := command(t, "sh", "-c", `trap "" HUP; exec "$@"`, "sh",
		"grenier", "awari", "solve", "--progress", "none", "--seeds", "24", "--dir", dir).start(t)
	for layer := 3; layer < 8; layer++ {
		awaitFile(t, filepath.Join(dir, rundir.LayerName(layer)))
		s.signal(t, syscall.SIGHUP)
	}
	awaitFile(t, filepath.Join(dir, rundir.LayerName(11)))
	s.signal(t, syscall.SIGTERM)
	should.Equal(t, s.wait(t).wants(t, cli.ExitInterrupted).err, wordOfSolve)
}

// TestSecondSignal: a server that waits for a request to end, which the first signal lets it do, ends at the second
// signal. On a busy machine the time of the request may be over before that: then it is tried again.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	dir := solved(t, "--seeds", "2")
	for range 10 {
		status := signalServer(t, dir)
		if status.Signaled() && status.Signal() == syscall.SIGTERM {
			return
		}
		must.Not(t, status.ExitStatus() != cli.ExitOK && status.ExitStatus() != cli.ExitInterrupted, "status %d", status)
	}
	t.Error("never ended by the second signal")
}

// signalServer sends signals to a server that waits for the rest of a request, and returns how it ends.
func signalServer(t *testing.T, dir string) syscall.WaitStatus {
	s := startServer(t, "--addr", "localhost:0", "--dir", dir)
	half := must.Get(net.Dial("tcp", s.report.Address))(t)
	defer half.Close()
	must.OK(t, must.Err(io.WriteString(half, "GET / HTTP/1.1\r\n")))
	time.Sleep(100 * time.Millisecond) // so that the server has read that
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	for s.cmd.Process.Signal(syscall.SIGTERM) == nil { // SIGHUP may be ignored, as nohup has it
		time.Sleep(100 * time.Millisecond)
	}
	<-ended
	return s.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// TestLongUnread: commands end when whoever reads their output has gone, and leave things in order.
func TestLongUnread(t *testing.T) {
	tries.NeedsLong(t, "solves until its reader has gone")
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	for _, c := range []struct {
		errs bool // it is stderr that nobody reads
		args string
	}{
		{false, "awari solve --seeds 24 --threads 1 --progress none --dir " + dir},
		{true, "awari solve --seeds 24 --threads 1 --progress bar --dir " + dir},
		{true, "swap bfs --rows 1 --cols 12 --threads 1 --progress bar --dir " + filepath.Join(t.TempDir(), "bfs")},
	} {
		t.Run(fmt.Sprint(c.args[:10], c.errs), func(t *testing.T) {
			s := command(t, "grenier", strings.Fields(c.args)...)
			r, w, err := os.Pipe()
			must.OK(t, err)
			if c.errs {
				s.cmd.Stderr = w
			} else {
				s.cmd.Stdout = w
			}
			s.start(t)
			w.Close()
			must.OK(t, must.Err(r.Read(make([]byte, 1))))
			r.Close()
			got := s.wait(t).wants(t, cli.ExitUnread)
			should.Hold(t, c.errs || got.err == "", "%s", got.err)
		})
	}
	wantNoTemps(t, dir)
	mustDo(t, "awari verify --progress none --sample 1000 --dir "+dir)
	mustDo(t, "awari solve --seeds 1 --dir "+dir)
}
