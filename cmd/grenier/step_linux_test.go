//go:build !quick

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/rundir"
)

// stepRun is a directory whose next layer is solved in steps.
type stepRun struct {
	dir, want string
	seeds     int
	rng       *rand.Rand
}

// newStepRun makes a run in a directory, and the plan of a layer.
func newStepRun(t *testing.T, in string, seeds int, plan string) *stepRun {
	x := &stepRun{dir: filepath.Join(in, "run"), want: solved(t, "--seeds", fmt.Sprint(seeds)), seeds: seeds, rng: tries.Rand(t)}
	mustDo(t, fmt.Sprintf("awari solve --progress none --seeds %d --dir %s", seeds-1, x.dir))
	mustRun(t, x.args("--plan "+plan)...)
	return x
}

func (x *stepRun) args(step string) []string {
	return append([]string{"awari", "step", "--progress", "none", "--dir", x.dir, "--layer", fmt.Sprint(x.seeds)}, strings.Fields(step)...)
}

func (x *stepRun) start(t *testing.T, step string) *solver {
	t.Helper()
	return launch(t, append(x.args(step), "--threads", "1", "--checkpoint", "1ms")...)
}

// phases are the steps of a layer, those of a phase at the same time.
func (x *stepRun) phases(windows, seals int) [][]string {
	phase := func(format string, n int) (steps []string) {
		for i := range n {
			steps = append(steps, strings.ReplaceAll(format, "I", fmt.Sprint(i+1)))
		}
		return steps
	}
	return [][]string{phase("--captures I/4", 4), phase("--window I", windows), phase(fmt.Sprintf("--seal I/%d", seals), seals)}
}

// finish publishes the layer and compares its file.
func (x *stepRun) finish(t *testing.T) {
	mustRun(t, x.args("--publish")...)
	sameLayer(t, x.want, x.dir, x.seeds)
	work := namesIn(t, filepath.Join(x.dir, rundir.WorkName), "")
	should.Hold(t, len(work) <= 1, "left in work: %v", work) // the status of solve
}

// TestLongStepProcesses: two processes of each step at once, one of which is killed at any moment and started again.
func TestLongStepProcesses(t *testing.T) {
	tries.NeedsLong(t, "solves a layer by many processes")
	for bits, seeds := range tries.Pick(nil, map[int]int{4: 16}, map[int]int{2: 16, 4: 17}) {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			x := newStepRun(t, t.TempDir(), seeds, fmt.Sprintf("--memory 1GiB --bits %d", bits))
			windows, killed := map[int]int{2: 16, 4: 6}[bits], 0
			for _, step := range slices.Concat(x.phases(windows, 3)...) {
				one, two := x.start(t, step), x.start(t, step)
				if one.killAfter(t, time.Duration(x.rng.IntN(400))*time.Millisecond) {
					killed++
				}
				one = x.start(t, step) // again, or to find it done
				one.wait(t).wants(t, cli.ExitOK)
				two.wait(t).wants(t, cli.ExitOK)
			}
			should.Not(t, killed == 0, "no process was killed")
			x.finish(t)
		})
	}
}

// TestLongStepStopped: a process that is stopped in a step, while another one does that, goes on afterwards, or after
// the layer is published: it changes nothing, and finds its step done.
func TestLongStepStopped(t *testing.T) {
	tries.NeedsLong(t, "solves 16 seeds by many processes")
	x := newStepRun(t, t.TempDir(), 16, "--memory 1GiB --bits 4")
	stop := func(step string) (s *solver) {
		t.Helper()
		s = x.start(t, step)
		time.Sleep(time.Duration(30+x.rng.IntN(200)) * time.Millisecond)
		must.OK(t, s.cmd.Process.Signal(syscall.SIGSTOP))
		return s
	}
	goOn := func(s *solver) {
		t.Helper()
		must.OK(t, s.cmd.Process.Signal(syscall.SIGCONT))
		s.wait(t).wants(t, cli.ExitOK)
	}
	var late []*solver
	for _, phase := range x.phases(6, 3) {
		at, last := x.rng.IntN(len(phase)), x.rng.IntN(len(phase))
		for k, step := range phase {
			if k == last {
				late = append(late, stop(step))
			}
			if k != at {
				mustRun(t, x.args(step)...)
				continue
			}
			s := stop(step)
			mustRun(t, x.args(step)...)
			goOn(s)
		}
	}
	publishing := stop("--publish")
	r := grenier(t.Context(), "", x.args("--publish")...)
	should.Hold(t, r.status == cli.ExitPaused || r.status == cli.ExitOK, "%+v", r) // it may have ended, or not begun
	goOn(publishing)
	for _, s := range late {
		goOn(s)
	}
	mustDo(t, "awari solve --seeds 17 --dir "+x.dir)
	sameLayer(t, x.want, x.dir, 16)
	should.List(t, namesIn(t, filepath.Join(x.dir, rundir.WorkName), "steps-"), nil, "left")
}

// TestLongStepFullDisk: steps on a disk that is full fail with a clear line, and go on when there is room.
func TestLongStepFullDisk(t *testing.T) {
	tries.NeedsFull(t, "solves 16 seeds on small disks")
	disk := smallDisk(t, 200<<10)
	x := newStepRun(t, disk, 16, "--memory 1GiB --bits 4")
	resize := func(room uint64) {
		var s unix.Statfs_t
		must.OK(t, unix.Statfs(disk, &s))
		size := (s.Blocks-s.Bfree)*uint64(s.Bsize) + room
		must.OK(t, unix.Mount("", disk, "", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size)))
	}
	full := 0
	for _, step := range slices.Concat(x.phases(6, 3)...) {
		for room := uint64(4 << 10); ; room *= 8 {
			must.Not(t, room > 200<<20, "%s: never enough room", step)
			resize(room)
			r := grenier(t.Context(), "", x.args(step)...)
			if r.status == cli.ExitOK {
				break
			}
			full++
			r.wants(t, cli.ExitFailure, "no space left")
		}
	}
	should.Not(t, full == 0, "the disk was never full")
	resize(200 << 20)
	x.finish(t)
}

// TestLongStepMemory: no step takes more memory than the plan says.
func TestLongStepMemory(t *testing.T) {
	tries.NeedsLong(t, "solves 17 seeds in a cgroup")
	group := newCgroup(t, 47<<20+slack)
	x := newStepRun(t, t.TempDir(), 17, "--memory 47MiB")
	plan := must.JSON[struct{ Plan struct{ Bits, Windows int } }](t, mustRun(t, x.args("--plan --memory 47MiB --json")...)).Plan
	should.Equal(t, plan.Bits, 2, "bits a score")
	for _, step := range append(slices.Concat(x.phases(plan.Windows, 2)...), "--publish") {
		group.run(t, x.args(step)...).wants(t, cli.ExitOK)
	}
	should.Equal(t, group.number(t, "memory.oom_control", "oom_kill"), 0, "killed")
	sameLayer(t, x.want, x.dir, 17)
}

// slurm is a cluster of two nodes on this machine: its processes, files and ports are the test's own.
type slurm struct {
	dir    string
	env    []string
	slurmd [2]*exec.Cmd
	before map[string]string // jobs of earlier runs
}

// slurmConf is the configuration: state, logs and sockets are in %[1]s, ports are %[2]d to %[4]d.
const slurmConf = `ClusterName=grenier
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%[2]d
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool-%%n
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd-%%n.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd-%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=10
MessageTimeout=20
KillWait=2
MinJobAge=3600
MailProg=/bin/true
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[3]d CPUs=2 RealMemory=100000 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[4]d CPUs=2 RealMemory=100000 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
`

func startSlurm(t *testing.T) *slurm {
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "sacct", "scontrol", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			must.Not(t, os.Getenv("CI") == "true", "%v", err)
			t.Skip(err)
		}
	}
	tries.SkipIf(t, os.Geteuid() != 0, "slurmd runs as root")
	dir := must.Get(os.MkdirTemp("", "grenier-slurm"))(t) // names of sockets are short
	s := &slurm{dir: dir, env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))}
	t.Cleanup(func() {
		if t.Failed() {
			s.logs(t, "*.log")
		}
		must.OK(t, os.RemoveAll(dir))
	})
	ports := freePorts(t, 3)
	must.OK(t, os.Mkdir(filepath.Join(dir, "state"), 0o755))
	must.Write(t, filepath.Join(dir, "slurm.conf"), fmt.Appendf(nil, slurmConf, dir, ports[0], ports[1], ports[2]))
	path := func(name string) string { return filepath.Join(dir, name) }
	must.OK(t, os.WriteFile(path("munge.key"), []byte(strings.Repeat("grenier ", 128)), 0o400))
	s.start(t, "munged", "--foreground", "--force", "--socket="+path("munge.socket"), "--key-file="+path("munge.key"),
		"--log-file="+path("munged.log"), "--pid-file="+path("munged.pid"), "--seed-file="+path("munged.seed"))
	tries.Await(t, "the socket of munged", func() bool { return exists(path("munge.socket")) })
	s.start(t, "slurmctld", "-D")
	for i := range s.slurmd {
		s.node(t, i)
	}
	tries.Await(t, "nodes", func() bool {
		out, _ := s.command("sinfo", "--noheader", "--Node", "--format=%t").Output()
		return strings.Count(string(out), "idle") == len(s.slurmd)
	})
	t.Cleanup(func() {
		must.OK(t, s.command("scancel", "--quiet", "--user=root").Run())
		tries.Await(t, "the last job", func() bool {
			left, err := s.command("squeue", "--noheader").Output()
			return err == nil && len(left) == 0
		})
	})
	return s
}

func (s *slurm) node(t *testing.T, i int) {
	s.slurmd[i] = s.start(t, "slurmd", "-D", "-N", fmt.Sprintf("n%d", i+1))
}

func (s *slurm) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	return cmd
}

func (s *slurm) start(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := s.command(name, args...)
	log := must.Get(os.Create(filepath.Join(s.dir, fmt.Sprintf("%s-%d.out", name, rand.Uint32()))))(t)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

func (s *slurm) logs(t *testing.T, pattern string) {
	paths, _ := filepath.Glob(filepath.Join(s.dir, pattern))
	for _, path := range paths {
		data, _ := os.ReadFile(path)
		t.Logf("%s: %s", filepath.Base(path), data[max(0, len(data)-2000):])
	}
}

// states returns the state of each job and task that the cluster knows, by name.
func (s *slurm) states(t *testing.T) map[string]string {
	out := must.Get(s.command("squeue", "--noheader", "--states=all", "--array", "--format=%i|%j|%T").Output())(t)
	states := map[string]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if name := fields[0] + " " + fields[1]; s.before[name] == "" {
			states[name] = fields[2]
		}
	}
	return states
}

func (s *slurm) submit(t *testing.T, dir string, flags ...string) {
	s.before = nil
	s.before = s.states(t)
	script := must.Get(s.command("grenier", append([]string{"awari", "array", "--dir", dir, "--threads", "1"}, flags...)...).Output())(t)
	sh := s.command("sh")
	sh.Dir, sh.Stdin = s.dir, bytes.NewReader(script)
	out, err := sh.CombinedOutput()
	must.Hold(t, err == nil, "submitting: %v: %s", err, out)
}

// drain waits until no job is left, and fails if one has failed.
func (s *slurm) drain(t *testing.T, disturb func(running []string)) {
	for left := -1; left != 0; {
		before := left
		tries.Await(t, "a job to end", func() bool {
			time.Sleep(200 * time.Millisecond)
			var running []string
			left, running = s.left(t)
			if left > 0 && disturb != nil {
				disturb(running)
			}
			return left != before
		})
	}
}

// left returns how many jobs are left, and which of them are running, and fails if one has failed.
func (s *slurm) left(t *testing.T) (left int, running []string) {
	for job, state := range s.states(t) {
		id := strings.Fields(job)[0]
		switch state {
		case "COMPLETED":
			continue
		case "RUNNING":
			running = append(running, id)
		case "PENDING": // one that is queued again waits for two minutes
			s.command("scontrol", "update", "JobId="+id, "StartTime=now").Run()
		case "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "BOOT_FAIL":
			s.logs(t, "grenier-*.out")
			t.Fatalf("job %s: %s", job, state)
		}
		left++
	}
	return left, running
}

// TestLongSlurm: layers whose steps are tasks of Slurm have the bytes of those that one run solves, also while nodes
// are killed, a task is queued again, and one stands still.
func TestLongSlurm(t *testing.T) {
	tries.NeedsLong(t, "a cluster")
	t.Parallel()
	few, many := tries.Pick(0, 14, 20), tries.Pick(0, 14, 22)
	want := map[int]map[string]string{}
	for _, seeds := range []int{few, many} {
		want[seeds] = withoutSeconds(t, solved(t, "--seeds", strconv.Itoa(seeds)))
	}
	s := startSlurm(t)
	shapes := []struct {
		name    string
		seeds   int
		disturb func(running []string)
	}{{"--bits 2", many, s.disturb(t)}, {"--bits 6", few, nil}, {"--bits 2", many, nil}, {"--bits 4", few, nil}, {"--memory 1GiB", few, nil}}
	for _, shape := range shapes[:tries.Pick(0, 1, len(shapes))] {
		t.Run(fmt.Sprintf("%s, disturbed: %t", shape.name, shape.disturb != nil), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			s.submit(t, dir, append(strings.Fields(shape.name), "--nodes", "2", "--seeds", strconv.Itoa(shape.seeds))...)
			s.drain(t, shape.disturb)
			should.Equal(t, cmp.Diff(want[shape.seeds], withoutSeconds(t, dir)), "", "layers differ")
		})
	}
}

// disturb returns what the cluster suffers while it works, bit by bit. The test fails unless it suffers all.
func (s *slurm) disturb(t *testing.T) func(running []string) {
	r := tries.Rand(t)
	kill := func([]string) bool {
		i := r.IntN(len(s.slurmd))
		s.slurmd[i].Process.Signal(syscall.SIGKILL)
		s.slurmd[i].Wait()
		s.node(t, i)
		return true
	}
	acts := []func(running []string) bool{
		func(running []string) bool {
			return s.command("scontrol", "requeue", running[r.IntN(len(running))]).Run() == nil
		},
		func([]string) bool { return s.standStill() },
	}
	for range tries.Pick(0, 2, 5) {
		acts = append(acts, kill)
	}
	t.Cleanup(func() { should.Not(t, len(acts) > 0, "the run is too short: %d disturbances are left", len(acts)) })
	return func(running []string) {
		if len(running) > 0 && len(acts) > 0 && acts[0](running) {
			acts = acts[1:]
		}
	}
}

// standStill stops what a task runs for a while. It reports whether there was one.
func (s *slurm) standStill() bool {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if line, _ := os.ReadFile(path); !strings.Contains(string(line), filepath.Join(s.dir, "spool-")) {
			continue
		}
		shell := filepath.Dir(path)
		children, _ := os.ReadFile(filepath.Join(shell, "task", filepath.Base(shell), "children"))
		for child := range strings.FieldsSeq(string(children)) {
			pid, err := strconv.Atoi(child)
			if err == nil && syscall.Kill(pid, syscall.SIGSTOP) == nil {
				time.Sleep(tries.Pick(0, time.Second, 5*time.Second))
				return syscall.Kill(pid, syscall.SIGCONT) == nil
			}
		}
	}
	return false
}
