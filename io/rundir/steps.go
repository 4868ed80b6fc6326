package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	"grenier/io/vfs"
)

// A layer may be solved in steps, by many processes on several machines at the same time. They take no lock: a plan in
// work/ keeps solvers out, and each plan has a directory for its streams alone, which are written under names that nobody
// else has and renamed. So a process that wakes up after its plan was given up, or its layer published, finds
// no directory in which it could replace anything.

// stepsName returns the name of that directory in work/, for the number of a plan.
func stepsName(plan uint32) string { return fmt.Sprintf("steps-%08x", plan) }

var steps = regexp.MustCompile(`^steps-[0-9a-f]{8}$`)

// Plan returns the plan in work/ of a layer that is solved in steps, of a longer one than limit bytes limit+1. It fails with
// fs.ErrNotExist if there is none.
func (d *Dir) Plan(limit int64) ([]byte, error) {
	work, err := d.openWork()
	if err != nil {
		return nil, err
	}
	defer work.Close()
	return vfs.Read(work, PlanName, limit)
}

// PlanPath returns the path of the plan.
func (d *Dir) PlanPath() string { return filepath.Join(d.path, WorkName, PlanName) }

// Steps opens the directory of the steps of a plan, which the caller closes. It fails with fs.ErrNotExist if there is none.
func (d *Dir) Steps(plan uint32) (vfs.Dir, error) {
	work, err := d.openWork()
	if err != nil {
		return nil, err
	}
	defer work.Close()
	return work.Sub(stepsName(plan))
}

// SavePlan makes the directory of the steps of a plan, and then replaces the plan. It fails like vfs.Write, or with a *LostError.
func (l *Locked) SavePlan(plan uint32, data []byte) error {
	dir, err := vfs.MakeSub(l.own, stepsName(plan))
	if err == nil {
		err = dir.Close()
	}
	if err != nil {
		return err
	}
	return vfs.Write(l.own, PlanName, data)
}

// ClearSteps removes the plan and the directories of all plans, but for what is not ours or still being written. It
// fails with an error of the operating system, or a *LostError.
func (l *Locked) ClearSteps() error {
	if err := vfs.RemoveIfThere(l.own, PlanName); err != nil {
		return err
	}
	entries, err := l.own.Entries()
	for _, e := range entries {
		if !steps.MatchString(e.Name()) || !e.IsDir() {
			continue
		}
		if failed := l.clearSub(l.own, e.Name()); !errors.Is(failed, fs.ErrExist) { // it is not empty
			err = errors.Join(err, failed)
		}
	}
	return err
}
