package internal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/workfile"
	"grenier/pipeline/internal/resume"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// oneBlock is a search whose checkpoint is the extent of its only block.
type oneBlock struct {
	resume.Search
	saved []byte
	at    workfile.Extent
}

var errLoad = errors.New("not so")

func newSearch(at workfile.Extent) *oneBlock {
	b := &oneBlock{at: at}
	b.Search = resume.Search{
		Identity: manifest.Identity{Game: "swap", Rules: "1x2", Pits: 2}, Kind: "test", Version: 3,
		Load: func(path string, payload []byte) ([]workfile.Extent, error) {
			if string(payload) == "wrong" {
				return nil, errLoad
			}
			b.saved = payload
			return []workfile.Extent{b.at}, nil
		},
	}
	return b
}

func kept(t *testing.T, path, payload string) workfile.Extent {
	t.Helper()
	b := newSearch(workfile.Extent{})
	d := must.Get(resume.Open(path, b.Search))(t)
	should.Hold(t, b.saved == nil, "a new directory has the checkpoint %q", b.saved)
	at, err := d.Put([]byte("block"))
	must.OK(t, errors.Join(err, d.Checkpoint([]byte(payload)), d.Close()))
	return at
}

// TestResume: the blocks of a checkpoint are there until it is cleared.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	b := newSearch(kept(t, path, "saved"))
	d := must.Get(resume.Open(path, b.Search))(t)
	should.Equal(t, string(must.Get(d.Get(b.at, nil))(t))+string(b.saved), "blocksaved")
	must.As[*rundir.LockedError](t, must.Err(resume.Open(path, b.Search)), "opened twice")
	must.OK(t, errors.Join(d.Clear(), d.Close()))
	must.Empty(t, filepath.Join(path, rundir.WorkName))
	kept(t, path, "again")
}

// TestRefused: a checkpoint that cannot be resumed is refused, and the directory unlocked.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		change  func(work string, s *resume.Search) error
		want    error
	}{
		"another run":  {"saved", func(_ string, s *resume.Search) error { s.Identity.Rules = "2x1"; return nil }, rundir.ErrOtherRun},
		"another kind": {"saved", func(_ string, s *resume.Search) error { s.Kind = "other"; return nil }, corrupt.ErrForeign},
		"older":        {"saved", func(_ string, s *resume.Search) error { s.Version++; return nil }, corrupt.ErrVersion},
		"newer":        {"saved", func(_ string, s *resume.Search) error { s.Version--; return nil }, corrupt.ErrVersion},
		"what it says": {"wrong", func(string, *resume.Search) error { return nil }, errLoad},
		"no blocks":    {"saved", func(work string, _ *resume.Search) error { return os.Remove(filepath.Join(work, rundir.BlocksName)) }, corrupt.ErrCorrupt},
		"too few blocks": {"saved", func(work string, _ *resume.Search) error {
			return os.Truncate(filepath.Join(work, rundir.BlocksName), 1)
		}, corrupt.ErrCorrupt},
		"half checkpoint": {"saved", func(work string, _ *resume.Search) error {
			return os.Truncate(filepath.Join(work, rundir.CheckpointName), 20)
		}, corrupt.ErrCorrupt},
	} {
		path := t.TempDir()
		b := newSearch(kept(t, path, c.payload))
		must.OK(t, c.change(filepath.Join(path, rundir.WorkName), &b.Search))
		for range 2 {
			should.Be(t, must.Err(resume.Open(path, b.Search)), c.want, "%s", name)
		}
	}
}

// TestDamaged: the error names file and block.
func TestDamaged(t *testing.T) {
	path := t.TempDir()
	d := must.Get(resume.Open(path, newSearch(workfile.Extent{}).Search))(t)
	defer d.Close()
	err := d.Damaged("block 7", errLoad)
	want := filepath.Join(path, rundir.WorkName, rundir.BlocksName) + ": block 7: not so"
	should.Hold(t, errors.Is(err, corrupt.ErrCorrupt) && errors.Is(err, errLoad) && err.Error() == want, "%v, want %s", err, want)
}
