// Package runstest tests searches that keep checkpoint and blocks in run directories (package resume): it
// interrupts them, compares their files with golden ones, and damages and forges them.
package runstest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"grenier/internal/testkit/golden"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/io/sealed"
	"grenier/pipeline/job"
)

// checkpoint is the name of a checkpoint in the directory of a search.
var checkpoint = filepath.Join(rundir.WorkName, rundir.CheckpointName)

// Files are the files in the directory of a search that was stopped.
var Files = []string{rundir.ManifestName, checkpoint, filepath.Join(rundir.WorkName, rundir.BlocksName)}

// Copy copies the files of a search to another directory, which need not be there.
func Copy(t testing.TB, from, to string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Join(to, rundir.WorkName), 0o755))
	for _, name := range Files {
		must.Write(t, filepath.Join(to, name), must.Read(t, filepath.Join(from, name)))
	}
}

// Golden compares the files of a search with golden ones.
func Golden(t testing.TB, dir, in string) {
	t.Helper()
	for _, name := range Files {
		path, got := filepath.Join(in, name), must.Read(t, filepath.Join(dir, name))
		if filepath.Base(name) == rundir.BlocksName { // a search that was stopped may have written more, which its checkpoint does not list
			golden.Begins(t, path, got)
		} else {
			golden.Check(t, path, got)
		}
	}
}

// Stopped stops a search in a new directory as soon as a step of its job is as at wants it, compares its files with golden ones, and returns
// a directory with a copy of these, where it can go on.
func Stopped(t testing.TB, made string, j *job.Job, at func(job.Step) bool, search func(ctx context.Context, dir string) error) string {
	t.Helper()
	dir, other := t.TempDir(), t.TempDir()
	Interrupt(t, j, at, func(ctx context.Context) error { return search(ctx, dir) })
	Golden(t, dir, made)
	Copy(t, made, other)
	return other
}

// Contradicts changes copies of the checkpoint in the directory of a search; the search must find each corrupt.
func Contradicts[C any](t testing.TB, from, kind string, version int, changes map[string]func(*C), search func(dir string) error) {
	t.Helper()
	for name, change := range changes {
		dir := t.TempDir()
		Copy(t, from, dir)
		ChangeCheckpoint(t, dir, kind, version, change)
		should.Be(t, search(dir), corrupt.ErrCorrupt, "%s", name)
	}
}

// First has a job tell what its first step does.
func First(j *job.Job) *string {
	first := new(string)
	j.Progress = func(s job.Step) {
		if *first == "" {
			*first = s.Doing
		}
	}
	return first
}

// Damage changes a byte of a file in the directory of a search, or cuts the file there. File and byte
// are numbered modulo what there is.
func Damage(t testing.TB, dir string, file uint8, at uint32, flip uint8, cut bool) {
	t.Helper()
	path := filepath.Join(dir, Files[int(file)%len(Files)])
	data := must.Read(t, path)
	i := int(at) % len(data)
	data[i] ^= flip
	if cut {
		data = data[:i]
	}
	must.Write(t, path, data)
}

// Damages changes and cuts checkpoint and blocks of a search that was stopped in a directory, at places all
// over them, in copies. Damage of the checkpoint is found. That of blocks is found too, but where nobody needs
// what is there, and then the result is right.
func Damages[A any](t *testing.T, dir string, search func(dir string) (A, error), want A) {
	t.Helper()
	for file := 1; file < len(Files); file++ {
		size, found := len(must.Read(t, filepath.Join(dir, Files[file]))), 0
		try := func(at int, flip uint8, cut bool) {
			copied := t.TempDir()
			Copy(t, dir, copied)
			Damage(t, copied, uint8(file), uint32(at), flip, cut)
			got, err := search(copied)
			switch {
			case errors.Is(err, corrupt.ErrCorrupt):
				found++
			case err != nil || Files[file] == checkpoint || !cmp.Equal(got, want):
				t.Fatalf("%s, byte %d, cut %v: %v, %v", Files[file], at, cut, got, err)
			}
		}
		for at := 0; at < size; at += 1 + size/12 {
			try(at, 0x10, false)
		}
		try(size/2, 0, true)
		if try(0, 0, true); found == 0 {
			t.Errorf("%s: no damage was found in %d bytes", Files[file], size)
		}
	}
}

// Interrupt ends a run as soon as a step of its job is as at wants it, and the test if it goes on.
func Interrupt(t testing.TB, j *job.Job, at func(job.Step) bool, run func(ctx context.Context) error) {
	t.Helper()
	must.Not(t, Ends(t, j, at, run), "not interrupted")
}

// Ends ends a run as soon as a step of its job is as at wants it, and reports whether it came to its own end. If it fails, so does the test.
func Ends(t testing.TB, j *job.Job, at func(job.Step) bool, run func(ctx context.Context) error) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j.Progress = func(s job.Step) {
		if at(s) {
			cancel()
		}
	}
	err := run(ctx)
	must.Hold(t, err == nil || errors.Is(err, context.Canceled), "%v", err)
	j.Progress = nil
	return err == nil
}

// Checkpoint returns the contents of the checkpoint in the directory of a search.
func Checkpoint(t testing.TB, dir, kind string, version int) []byte {
	t.Helper()
	path := filepath.Join(dir, checkpoint)
	_, payload, err := sealed.Unseal(path, kind, version, must.Read(t, path))
	must.OK(t, err)
	return payload
}

// SetCheckpoint replaces the contents of the checkpoint in the directory of a search; its checksum is right.
func SetCheckpoint(t testing.TB, dir, kind string, version int, payload []byte) {
	t.Helper()
	must.Write(t, filepath.Join(dir, checkpoint), sealed.Seal(kind, version, payload))
}

// ChangeCheckpoint changes the checkpoint in the directory of a search; its checksum is right.
func ChangeCheckpoint[C any](t testing.TB, dir, kind string, version int, change func(*C)) {
	t.Helper()
	c := must.JSON[C](t, Checkpoint(t, dir, kind, version))
	change(&c)
	payload := must.Get(json.Marshal(c))(t)
	SetCheckpoint(t, dir, kind, version, payload)
}
