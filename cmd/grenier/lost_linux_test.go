package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
)

// TestLostLock removes the lock while commands work in a directory: they end, with one
// clear line, and the next run is none the worse for it.
func TestLostLock(t *testing.T) {
	for name, args := range map[string][]string{
		"solve":  {"awari", "solve", "--seeds", "8"},
		"bfs":    {"swap", "bfs", "--rows", "3", "--cols", "3"},
		"chemin": {"chemin", "solve", "--rows", "3", "--cols", "3"},
		"pegs":   {"solitaire", "solve", "--board", pegBoard(t)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			args := append(args, "--dir", dir, "--progress", "none")
			lock := filepath.Join(dir, rundir.LockName)
			var once sync.Once
			reported = func() {
				once.Do(func() {
					should.OK(t, os.Remove(lock))
				})
			}
			r := grenier(t.Context(), "", args...)
			reported = nil
			last := r.err[strings.LastIndex(strings.TrimSuffix(r.err, "\n"), "\n")+1:]
			should.Hold(t, r.status == cli.ExitFailure && strings.Contains(last, "lost the lock of "+dir+": "),
				"status %d, %s", r.status, r.err)
			oneClearLine(t, last)
			should.Be(t, must.Err(os.Stat(lock)), fs.ErrNotExist, "there is a lock again")
			mustRun(t, append(args, "--json")...)
		})
	}
}
