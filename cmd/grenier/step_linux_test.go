package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

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
	t.Helper()
	x := &stepRun{dir: filepath.Join(in, "run"), want: filepath.Join(t.TempDir(), "want"), seeds: seeds, rng: tries.Rand(t)}
	mustRun(t, "awari", "solve", "--seeds", fmt.Sprint(seeds-1), "--dir", x.dir)
	must.OK(t, os.CopyFS(x.want, os.DirFS(x.dir)))
	mustRun(t, "awari", "solve", "--seeds", fmt.Sprint(seeds), "--dir", x.want)
	mustRun(t, x.args("--plan "+plan)...)
	return x
}

// args is the command line of a step.
func (x *stepRun) args(step string) []string {
	return append([]string{"awari", "step", "--progress", "none", "--dir", x.dir, "--layer", fmt.Sprint(x.seeds)}, strings.Fields(step)...)
}

// start starts the process of a step, which makes a checkpoint as often as it can.
func (x *stepRun) start(t *testing.T, step string) *solver {
	t.Helper()
	return launch(t, append(x.args(step), "--threads", "1", "--checkpoint", "1ms")...)
}

// phases are the steps of a layer, those of a phase at the same time.
func (x *stepRun) phases(windows, seals int) (phases [3][]string) {
	for i := range 4 {
		phases[0] = append(phases[0], fmt.Sprintf("--captures %d/4", i+1))
	}
	for j := range windows {
		phases[1] = append(phases[1], fmt.Sprintf("--window %d", j+1))
	}
	for i := range seals {
		phases[2] = append(phases[2], fmt.Sprintf("--seal %d/%d", i+1, seals))
	}
	return phases
}

// finish publishes the layer and compares its file.
func (x *stepRun) finish(t *testing.T) {
	t.Helper()
	mustRun(t, x.args("--publish")...)
	sameLayer(t, x.want, x.dir, x.seeds)
	work, err := os.ReadDir(filepath.Join(x.dir, rundir.WorkName))
	should.Hold(t, err == nil && len(work) <= 1, "left in work: %v, error %v", work, err) // the status of solve
}

// TestLongStepProcesses: two processes of each step at once, one of which is killed at any moment and started again.
func TestLongStepProcesses(t *testing.T) {
	tries.NeedsLong(t, "solves a layer by many processes")
	for bits, seeds := range tries.Pick(nil, map[int]int{4: 16}, map[int]int{2: 16, 4: 17}) {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			x := newStepRun(t, t.TempDir(), seeds, fmt.Sprintf("--memory 1GiB --bits %d", bits))
			windows, killed := map[int]int{2: 16, 4: 6}[bits], 0
			for _, phase := range x.phases(windows, 3) {
				for _, step := range phase {
					one, two := x.start(t, step), x.start(t, step)
					if one.killAfter(t, time.Duration(x.rng.IntN(400))*time.Millisecond) {
						killed++
					}
					one = x.start(t, step) // again, or to find it done
					for _, process := range []*solver{one, two} {
						r := process.wait(t)
						must.Hold(t, r.status == cli.ExitOK, "%s: status %d: %s", step, r.status, r.err)
					}
				}
			}
			t.Logf("%d processes were killed", killed)
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
		r := s.wait(t)
		should.Hold(t, r.status == cli.ExitOK, "stopped, and continued after others: status %d: %s", r.status, r.err)
	}
	var late []*solver
	for i, phase := range x.phases(6, 3) {
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
		t.Logf("phase %d: stopped in %s, and until the layer is published in %s", i, phase[at], phase[last])
	}
	publishing := stop("--publish")
	r := grenier(t.Context(), "", x.args("--publish")...)
	t.Logf("while one is stopped in --publish: status %d %s", r.status, r.err)
	should.Not(t, r.status != cli.ExitPaused && r.status != cli.ExitOK,
		"while one is stopped in --publish: status %d: %s", r.status, r.err) // it may have ended, or not begun
	goOn(publishing)
	for _, s := range late {
		goOn(s)
	}
	mustRun(t, "awari", "solve", "--seeds", "17", "--dir", x.dir)
	sameLayer(t, x.want, x.dir, 16)
	left, err := filepath.Glob(filepath.Join(x.dir, rundir.WorkName, "steps-*"))
	should.Hold(t, err == nil && len(left) == 0, "left: %q, error %v", left, err)
}

// TestLongStepFullDisk: steps on a disk that is full fail with a clear line, and go on when there is room.
func TestLongStepFullDisk(t *testing.T) {
	tries.NeedsFull(t, "solves 16 seeds on small disks")
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=200m"); err != nil {
		t.Skipf("a small disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() { must.OK(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	x := newStepRun(t, disk, 16, "--memory 1GiB --bits 4")
	resize := func(room uint64) {
		t.Helper()
		var s unix.Statfs_t
		must.OK(t, unix.Statfs(disk, &s))
		size := (s.Blocks-s.Bfree)*uint64(s.Bsize) + room
		must.OK(t, unix.Mount("", disk, "", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size)))
	}
	full := 0
	for _, phase := range x.phases(6, 3) {
		for _, step := range phase {
			for room := uint64(4 << 10); ; room *= 8 {
				must.Not(t, room > 200<<20, "%s: never enough room", step)
				resize(room)
				r := grenier(t.Context(), "", x.args(step)...)
				if r.status == cli.ExitOK {
					break
				}
				full++
				must.Hold(t, r.status == cli.ExitFailure && strings.Contains(r.err, "no space left"), "%s with room for %d bytes: status %d: %s", step, room, r.status, r.err)
			}
		}
	}
	t.Logf("the disk was full %d times", full)
	resize(200 << 20)
	x.finish(t)
}

// TestLongStepMemory: no step takes more memory than the plan says.
func TestLongStepMemory(t *testing.T) {
	tries.NeedsLong(t, "solves 17 seeds in a cgroup")
	group := newCgroup(t, 47<<20+slack)
	x := newStepRun(t, t.TempDir(), 17, "--memory 47MiB")
	var plan struct{ Plan struct{ Bits, Windows int } }
	must.OK(t, json.Unmarshal([]byte(mustRun(t, x.args("--plan --memory 47MiB --json")...)), &plan))
	should.Equal(t, plan.Plan.Bits, 2, "bits a score")
	phases := x.phases(plan.Plan.Windows, 2)
	for _, step := range append(slices.Concat(phases[:]...), "--publish") {
		r := group.run(t, x.args(step)...)
		must.Hold(t, r.status == cli.ExitOK, "%s: status %d: %s", step, r.status, r.err)
	}
	t.Logf("%d MiB at most", group.number(t, "memory.max_usage_in_bytes", "")>>20)
	killed := group.number(t, "memory.oom_control", "oom_kill")
	should.Not(t, killed > 0, "%d were killed", killed)
	sameLayer(t, x.want, x.dir, 17)
}
