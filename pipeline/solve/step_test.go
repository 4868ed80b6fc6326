package solve_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"grenier/internal/testkit/awaritest"
	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/testrun"
	"grenier/internal/testkit/tries"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/memory"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/layers/awari"
	"grenier/pipeline/job"
	"grenier/pipeline/solve"
)

// stepSeeds is a layer of two blocks and some segments.
const stepSeeds = 13

var publishTask = solve.Task{Name: solve.PublishTask}

func windowTask(window int) solve.Task { return solve.Task{Name: solve.WindowTask, Part: window} }

// stepRuns are the run that lacks it, the whole run, and one with a layer more.
var stepRuns struct{ below, want, above testrun.Fixture }

type stepper struct {
	dir, want string
	game      awari.Game
	options   solve.StepOptions
	plan      solve.StepPlan
	rng       *rand.Rand
	notes     []string
}

func newStepper(t *testing.T) *stepper {
	t.Helper()
	s := &stepper{game: awaritest.Game(t, 8, awari.Awari), rng: tries.Rand(t)}
	s.dir = stepRuns.below.Copy(t, func(dir string) { mustSolve(t, dir, s.game, options(stepSeeds-1)) })
	s.want = stepRuns.want.Copy(t, solveAbove(t, s.dir, s.game, stepSeeds))
	s.options = solve.StepOptions{
		Job:   job.Job{Workers: 2, Family: cpu.Best(), Memory: 1 << 30, Note: func(note string) { s.notes = append(s.notes, note) }},
		Seeds: stepSeeds, Program: "test", Interval: 1,
	}
	return s
}

// above returns a run with the layer above too.
func (s *stepper) above(t *testing.T) string {
	t.Helper()
	return stepRuns.above.Copy(t, solveAbove(t, s.want, s.game, stepSeeds+1))
}

// solveAbove returns what makes a directory of another one and solves the next layer in it.
func solveAbove(t *testing.T, below string, game awari.Game, seeds int) func(dir string) {
	return func(dir string) {
		must.OK(t, os.CopyFS(dir, os.DirFS(below)))
		mustSolve(t, dir, game, options(seeds))
	}
}

func (s *stepper) mustPlan(t *testing.T, bits int) {
	t.Helper()
	s.options.Bits = bits
	report := must.Get(solve.Task{Name: solve.PlanTask}.Do(t.Context(), s.dir, s.options))(t)
	plan := *report.Plan
	must.Not(t, report.Before || plan.Bits != bits || plan.Segments < 4 || plan.Pieces < 2,
		"plan %+v, there before: %v", plan, report.Before)
	s.plan = plan
}

// tasks are all steps but the last: the shares of captures, windows, and shares to seal.
func (s *stepper) tasks(captures, seal int) (tasks []solve.Task) {
	for i := range captures {
		tasks = append(tasks, solve.Task{Name: solve.CaptureTask, Part: i + 1, Of: captures})
	}
	for j := range s.plan.Windows {
		tasks = append(tasks, windowTask(j+1))
	}
	for i := range seal {
		tasks = append(tasks, solve.Task{Name: solve.SealTask, Part: i + 1, Of: seal})
	}
	return tasks
}

// all does the tasks in order, with the plan of the directory.
func (s *stepper) all(t *testing.T, captures, seal int) (errs []error) {
	t.Helper()
	s.plan = must.Get(solve.PlanOf(s.dir))(t)
	for _, task := range s.tasks(captures, seal) {
		_, err := s.do(t.Context(), task)
		errs = append(errs, err)
	}
	return errs
}

func (s *stepper) do(ctx context.Context, task solve.Task) (before bool, err error) {
	report, err := task.Do(ctx, s.dir, s.options)
	return report.Before, err
}

// must does steps.
func (s *stepper) must(t *testing.T, tasks []solve.Task) {
	t.Helper()
	for _, task := range tasks {
		must.OK(t, must.Err(s.do(t.Context(), task)))
	}
}

// publish does the last step, and compares the run.
func (s *stepper) publish(t *testing.T) {
	t.Helper()
	should.Not(t, must.Get(s.do(t.Context(), publishTask))(t), "published before")
	sameRun(t, s.want, s.dir)
	for _, task := range append(s.tasks(1, 1), publishTask) {
		before, err := s.do(t.Context(), task)
		should.Hold(t, before && err == nil, "%+v after all: done before: %v, error %v", task, before, err)
	}
}

func (s *stepper) doOn(ctx context.Context, disk *crashfs.FS, task solve.Task) error {
	defer disk.Intercept(s.dir)()
	_, err := s.do(ctx, task)
	return err
}

// breaking does a step on a disk that ends its context, or fails from then on as for a killed process, at one of its operations. It
// reports whether there were so many.
func (s *stepper) breaking(t *testing.T, task solve.Task, at int, kill bool) (broken bool) {
	t.Helper()
	disk := crashfs.New()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ops := 0
	if kill {
		disk.CrashAt(at)
	} else {
		disk.Fail(func(crashfs.Op, string) error {
			if ops++; ops == at {
				cancel()
			}
			return nil
		})
	}
	err := s.doOn(ctx, disk, task)
	must.Not(t, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, crashfs.ErrCrashed) && !errors.Is(err, fault.Pause),
		"%+v, broken at operation %d: %v", task, at, err)
	return disk.Ops() >= at
}

// TestLongSteps does the steps of a layer in any order, some too early, some twice, some killed or interrupted before: the
// file is the one that solve makes. A short run has one width.
func TestLongSteps(t *testing.T) {
	one := tries.Rand(t).IntN(4)
	for i, bits := range []int{6, 4, 3, 2} {
		if i != one && !tries.Long() {
			continue
		}
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			s := newStepper(t)
			s.mustPlan(t, bits)
			tasks := s.tasks(1+s.rng.IntN(tries.More(4, 20)), []int{1, 3, 16, 2}[i])
			left := append(tasks[len(tasks)-1:], awaritest.Shuffled(s.rng, tasks[:len(tasks)-1])...) // the first one is too early
			early, broken := 0, 0
			for len(left) > 0 {
				task := left[0]
				if (broken == 0 || s.rng.IntN(3) == 0) && s.breaking(t, task, 1+s.rng.IntN(30), s.rng.IntN(2) == 0) {
					broken++
				}
				_, err := s.do(t.Context(), task)
				if errors.Is(err, fault.Pause) {
					early++
					left = append(left[1:], task)
					continue
				}
				must.OK(t, err)
				if s.rng.IntN(2) == 0 {
					before, err := s.do(t.Context(), task)
					must.Hold(t, err == nil && before, "%+v a second time: done before: %v, error %v", task, before, err)
				}
				left = left[1:]
			}
			should.Not(t, early == 0 || broken == 0 || len(s.notes) > 0,
				"%d steps were too early, %d broken, notes %q", early, broken, s.notes)
			s.publish(t)
		})
	}
}

// TestStepNeeds: a step that comes too early says what it waits for, and which step is next.
func TestStepNeeds(t *testing.T) {
	s := newStepper(t)
	notYet := func(task solve.Task, says string) {
		t.Helper()
		_, err := s.do(t.Context(), task)
		e := must.As[*solve.NotYetError](t, err, "%+v", task)
		should.Hold(t, errors.Is(err, fault.Pause) && strings.Contains(err.Error(), says) && e.Seeds == stepSeeds, "%+v: error %v", task, err)
	}
	captures, seal := solve.Task{Name: solve.CaptureTask, Part: 1, Of: 1}, solve.Task{Name: solve.SealTask, Part: 1, Of: 1}
	notYet(captures, "no plan")
	s.mustPlan(t, 4)
	n, m := s.plan.Segments, s.plan.Windows
	notYet(windowTask(1), fmt.Sprintf("%d of %d segments of capture values are missing, --captures 1/%d first", n, n, n))
	tasks := s.tasks(3, 2)
	s.must(t, tasks[1:3])
	notYet(windowTask(2), fmt.Sprintf("%d of %d segments", (n+2)/3, n))
	s.must(t, tasks[:1])
	s.must(t, tasks[4:3+m])
	notYet(seal, fmt.Sprintf("1 of %d windows are missing, --window 1 first", m))
	notYet(publishTask, fmt.Sprintf("1 of %d windows", m))
	s.must(t, tasks[3:4])
	s.must(t, tasks[3+m:4+m])
	notYet(publishTask, "1 of 2 pieces of the encoded layer are missing, --seal 2/2 first")
	should.Be(t, must.Err(s.do(t.Context(), windowTask(m+1))), fault.Usage, "a window too many")
	dir := must.Get(rundir.Lock(s.dir, solve.Identity(s.game)))(t)
	notYet(publishTask, "in use by")
	s.must(t, tasks[4+m:]) // other steps take no lock
	must.OK(t, dir.Unlock())
	s.publish(t)
	s.options.Seeds += 2
	_, err := s.do(t.Context(), captures)
	should.Says(t, err, fault.Pause, fmt.Sprintf("lacks layer %d", stepSeeds+1))
	s.dir = s.above(t)
	testrun.EditManifest(t, s.dir, func(m *manifest.Manifest) {
		top := m.Layers[stepSeeds+1]
		m.Layers = m.Layers[:stepSeeds]
		*m = *m.With(top)
	})
	should.Says(t, must.Err(s.do(t.Context(), captures)), fault.Pause, fmt.Sprintf("lacks layer %d", stepSeeds))
}

// TestStepPlans: steps of another program, and with more workers than the plan has memory for, are refused; so is another
// plan, once there are streams, and a solver.
func TestStepPlans(t *testing.T) {
	s := newStepper(t)
	replan := func(o solve.StepOptions) (bool, error) {
		report, err := solve.Task{Name: solve.PlanTask}.Do(t.Context(), s.dir, o)
		return report.Before, err
	}
	task, solver := solve.Task{Name: solve.CaptureTask, Part: 1, Of: 2}, options(stepSeeds)
	s.mustPlan(t, 6)
	s.mustPlan(t, 3) // there is nothing of the other one
	should.Hold(t, must.Get(replan(s.options))(t), "the same plan is made again")
	must.OK(t, must.Err(s.do(t.Context(), task)))
	should.Hold(t, must.Get(replan(s.options))(t), "the same plan is made again, after a step")
	bits, memoryOf, program, workers := s.options, s.options, s.options, s.options
	bits.Bits, memoryOf.Memory, program.Program, workers.Workers = 2, s.options.Memory+1, "tested", 1000
	change := func(m *manifest.Manifest) { m.Layers[stepSeeds-2].Hash ^= 1 }
	testrun.EditManifest(t, s.dir, change)
	other := must.Err(task.Do(t.Context(), s.dir, s.options))
	testrun.EditManifest(t, s.dir, change)
	for what, c := range map[string]struct{ err, want error }{
		"other bits":                {must.Err(replan(bits)), solve.ErrPlan},
		"other memory":              {must.Err(replan(memoryOf)), solve.ErrPlan},
		"another program":           {must.Err(replan(program)), solve.ErrPlan},
		"a step of another program": {must.Err(task.Do(t.Context(), s.dir, program)), solve.ErrPlan},
		"a step over other layers":  {other, solve.ErrPlan},
		"a solver":                  {must.Err(solve.Solve(t.Context(), s.dir, s.game, solver)), solve.ErrSteps},
		"admission of a solver":     {solver.Admit(s.dir, s.game), solve.ErrSteps},
	} {
		should.Hold(t, errors.Is(c.err, c.want) && errors.Is(c.err, fault.Usage), "%s: error %v", what, c.err)
	}
	must.As[*memory.Error](t, must.Err(task.Do(t.Context(), s.dir, workers)), "a step of many workers")
	must.OK(t, os.Remove(filepath.Join(s.dir, rundir.WorkName, rundir.PlanName)))
	mustSolve(t, s.dir, s.game, options(stepSeeds))
	sameRun(t, s.want, s.dir)
}

// TestStepDamage: a stream that was damaged ends the step that reads it, and the step that made it makes it again.
func TestStepDamage(t *testing.T) {
	s := newStepper(t)
	s.mustPlan(t, 4)
	tasks := s.tasks(1, 1)
	find := func(name string) []string {
		found := must.Get(filepath.Glob(filepath.Join(s.dir, rundir.WorkName, "steps-*", name)))(t)
		must.Not(t, len(found) == 0, "no %s", name)
		return found
	}
	again := func(what string, makes, reads solve.Task) {
		t.Helper()
		testrun.Flip(t, find(what)[0], -40)
		should.Be(t, must.Err(s.do(t.Context(), reads)), corrupt.ErrCorrupt, "%s damaged: %+v", what, reads)
		s.notes = nil
		before := must.Get(s.do(t.Context(), makes))(t)
		should.Hold(t, !before && len(s.notes) == 1, "%s damaged: %+v: done before %v, notes %q", what, makes, before, s.notes)
	}
	must.OK(t, must.Err(s.do(t.Context(), tasks[0])))
	again("captures-0001-open", tasks[0], windowTask(2))
	disk := crashfs.New()
	disk.Fail(func(op crashfs.Op, name string) error {
		if op == crashfs.Rename && strings.Contains(name, "window-") {
			return syscall.EIO
		}
		return nil
	})
	should.Be(t, s.doOn(t.Context(), disk, windowTask(1)), syscall.EIO, "a window that cannot be stored")
	s.must(t, tasks[1:len(tasks)-1])
	seal := tasks[len(tasks)-1]
	for _, path := range find("window-00-*") {
		must.Write(t, strings.Replace(path, "window-00", "window-03", 1), must.Read(t, path))
	}
	must.As[*solve.NotYetError](t, must.Err(s.do(t.Context(), seal)), "what the first window has found passes for the second one")
	should.Not(t, must.Get(s.do(t.Context(), windowTask(2)))(t), "what the first window has found passes for the second one")
	again("window-03-1", windowTask(2), seal)
	must.OK(t, must.Err(s.do(t.Context(), seal)))
	again("piece-01", seal, publishTask)
	s.publish(t)
	should.Be(t, must.Err(os.Stat(filepath.Join(s.dir, rundir.WorkName, rundir.PlanName))), fs.ErrNotExist, "the plan is still there")
}

// TestStepCheckpointGone: a checkpoint goes away while it is looked at, as when another process has stored the window; the step does without.
func TestStepCheckpointGone(t *testing.T) {
	s := newStepper(t)
	s.mustPlan(t, 4)
	must.OK(t, must.Err(s.do(t.Context(), s.tasks(1, 1)[0])))
	kept := func() []string {
		return must.Get(filepath.Glob(filepath.Join(s.dir, rundir.WorkName, "steps-*", rundir.FoundInName(0))))(t)
	}
	for at := 1; len(kept()) == 0; at++ {
		must.Hold(t, s.breaking(t, windowTask(1), at, false), "no checkpoint, broken at any operation")
	}
	opened := 0
	watch := func(then func(path string) error) (end func()) {
		return vfs.Intercept(func(d vfs.Dir) vfs.Dir { return watched{d, rundir.FoundInName(0), then} })
	}
	end := watch(func(string) error {
		if opened++; opened == 2 { // it was looked at first
			return syscall.EIO
		}
		return nil
	})
	should.Be(t, must.Err(s.do(t.Context(), windowTask(1))), syscall.EIO, "the checkpoint cannot be opened again")
	end()
	opened = 0
	defer watch(func(path string) error { opened++; return os.Remove(path) })()
	must.OK(t, must.Err(s.do(t.Context(), windowTask(1))))
	should.Hold(t, opened == 1 && len(kept()) == 0, "the checkpoint is opened %d times, %q", opened, kept())
}

// watched is a directory in which, or below, a file is opened: that fails like opened.
type watched struct {
	vfs.Dir
	name   string
	opened func(path string) error
}

func (d watched) Sub(name string) (vfs.Dir, error) {
	sub, err := d.Dir.Sub(name)
	return watched{sub, d.name, d.opened}, err
}

func (d watched) Open(name string) (vfs.File, error) {
	f, err := d.Dir.Open(name)
	if name == d.name && err == nil {
		if err = d.opened(d.Path(name)); err != nil {
			f.Close()
		}
	}
	return f, err
}

// TestStepBelow: of the shares of captures one looks at the scores of a layer below.
func TestStepBelow(t *testing.T) {
	s := stepper{game: awaritest.Game(t, 8, awari.Awari), options: solve.StepOptions{Job: job.Job{Workers: 2, Memory: 1 << 30}, Seeds: 10, Program: "test", Bits: 4}}
	layers := testrun.Solve(t, s.game, 9)
	for i, score := range layers[9] {
		layers[9][i] = testrun.Other(score)
	}
	s.dir = testrun.Write(t, s.game, layers, 1<<16)
	_, err := s.do(t.Context(), solve.Task{Name: solve.PlanTask})
	must.OK(t, err)
	damaged := 0
	for _, err := range s.all(t, 2, 0)[:2] {
		if errors.Is(err, corrupt.ErrCorrupt) {
			damaged++
		}
	}
	should.Hold(t, damaged == 1, "%d shares of captures find that layer 9 is wrong", damaged)
}

// TestLongStepCrash: a plan, or a publication, that is killed at any of its operations leaves what the same step, and then a solver,
// makes whole. Short runs try few operations.
func TestLongStepCrash(t *testing.T) {
	s := newStepper(t)
	every := tries.Pick(90, 15, 1)
	plan := solve.Task{Name: solve.PlanTask}
	s.options.Bits = 4
	below := s.dir
	broken := 0
	crashes := func(from string, task solve.Task, then func()) {
		t.Helper()
		for at := 1 + s.rng.IntN(every); ; at += every {
			s.dir = testrun.Copy(t, from)
			if !s.breaking(t, task, at, true) {
				break
			}
			broken++
			must.OK(t, must.Err(s.do(t.Context(), task)))
			then()
		}
	}
	crashes(below, plan, func() { must.OK(t, errors.Join(s.all(t, 1, 1)...)); s.publish(t) })
	s.dir = testrun.Copy(t, below)
	s.mustPlan(t, 4)
	must.OK(t, errors.Join(s.all(t, 1, 1)...))
	crashes(s.dir, publishTask, func() {
		mustSolve(t, s.dir, s.game, options(stepSeeds))
		sameRun(t, s.want, s.dir)
	})
	t.Logf("%d crashes", broken)
}
