package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"grenier/cmd/grenier/cli"
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
					if err := os.Remove(lock); err != nil {
						t.Error(err)
					}
				})
			}
			r := grenier(t.Context(), "", args...)
			reported = nil
			last := r.err[strings.LastIndex(strings.TrimSuffix(r.err, "\n"), "\n")+1:]
			if r.status != cli.ExitFailure || !strings.Contains(last, "lost the lock of "+dir+": ") {
				t.Errorf("status %d, %s", r.status, r.err)
			}
			oneClearLine(t, last)
			if _, err := os.Stat(lock); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a lock again: %v", err)
			}
			mustRun(t, append(args, "--json")...)
		})
	}
}
