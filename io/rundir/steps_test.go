package rundir

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/vfs"
)

// TestSteps: a plan has a directory of its own; who still works there when it is cleared changes nothing of the next one.
func TestSteps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := mustLock(t, dir)
	defer l.Unlock()
	should.Be(t, must.Err(l.Plan(100)), fs.ErrNotExist, "no plan")
	should.Be(t, must.Err(l.Steps(7)), fs.ErrNotExist, "no steps")
	must.OK(t, l.SavePlan(7, []byte("seven")))
	seven := must.Get(l.Steps(7))(t)
	defer seven.Close()
	must.OK(t, vfs.Write(seven, PieceName(3), []byte("a piece")))
	must.OK(t, l.ClearWork()) // leaves them
	data, err := l.Plan(100)
	should.Hold(t, err == nil && string(data) == "seven", "plan %q, %v", data, err)
	must.OK(t, l.ClearSteps())
	must.OK(t, l.SavePlan(8, []byte("eight")))
	should.Equal(t, names(t, filepath.Join(dir, WorkName)), "plan.json steps-00000008", "names")
	should.Be(t, vfs.Write(seven, PieceName(3), []byte("late")), fs.ErrNotExist, "a late piece")
}

// TestClearSteps: what is not ours stays, and so does a file that is being written; the plan is gone in any case.
func TestClearSteps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := mustLock(t, dir)
	defer l.Unlock()
	must.OK(t, l.SavePlan(1, nil))
	must.OK(t, l.SavePlan(2, nil))
	must.OK(t, l.SavePlan(0xabcdef01, nil))
	two := must.Get(l.Steps(2))(t)
	defer two.Close()
	late := must.Get(vfs.NewPending(two, WindowName(0, 1)))(t)
	work := filepath.Join(dir, WorkName)
	fill(t, filepath.Join(work, "steps-00000001"), map[string]string{
		"captures-0001-open": "", "window-00-3": "", "found-04": "", "piece-00": "", "piece-63.0123456789abcdef.tmp": "", "piece-100": "", "thesis.tex": "",
	})
	must.OK(t, os.Mkdir(filepath.Join(work, "steps-2"), 0o755))
	must.OK(t, l.ClearSteps())
	should.Equal(t, names(t, work), "steps-00000001 steps-00000002 steps-2", "names")
	should.Equal(t, names(t, filepath.Join(work, "steps-00000001")), "piece-100 thesis.tex", "names")
	must.OK(t, late.Publish())
	must.OK(t, l.ClearSteps())
	should.Equal(t, names(t, work), "steps-00000001 steps-2", "names")
}
