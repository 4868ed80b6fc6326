package main

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestSwapKill kills swap bfs at random moments, again and again; one that comes
// through counts the same as a search in memory.
func TestSwapKill(t *testing.T) {
	cols, kills := "5", 6
	if long() {
		cols, kills = "6", 8
	}
	depths := func(text string) []uint64 {
		t.Helper()
		var r swapBFSReport
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return r.Depths
	}
	search := []string{"swap", "bfs", "--json", "--progress", "none", "--rows", "2", "--cols", cols, "--threads", "2"}
	want := depths(mustRun(t, search...))
	start := func(dir string) *solver {
		s := &solver{cmd: exec.CommandContext(t.Context(), "grenier", append(search, "--dir", dir, "--memory", "128MiB")...)}
		s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	begin := time.Now()
	if r := start(filepath.Join(t.TempDir(), "whole")).wait(t); r.status != exitOK {
		t.Fatalf("status %d: %s", r.status, r.err)
	}
	took := time.Since(begin)
	seed := rand.Uint64()
	t.Logf("seed %d; a search takes %v", seed, took)
	random := rand.New(rand.NewPCG(seed, 0))
	for dir, done := filepath.Join(t.TempDir(), "run"), 0; done < kills; done++ {
		s := start(dir)
		if s.killAfter(t, time.Duration(random.Float64()*float64(took)/2)) {
			continue
		}
		if got := depths(s.out.String()); !slices.Equal(got, want) {
			t.Errorf("killed %d times: %v, want %v", done, got, want)
		}
		dir = filepath.Join(t.TempDir(), "run") // begin again
	}
	dir := filepath.Join(t.TempDir(), "last")
	start(dir).killAfter(t, took/2)
	s := start(dir)
	if r := s.wait(t); r.status != exitOK || !slices.Equal(depths(r.out), want) {
		t.Errorf("status %d, %s, %s, want %v", r.status, r.out, r.err, want)
	}
}
