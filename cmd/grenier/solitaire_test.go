package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pegBoard returns a file with a small board of peg solitaire.
func pegBoard(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "board.txt")
	if err := os.WriteFile(path, []byte("o.oo\noooo\noooo\noooo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// pegResult is what solitaire solve has printed, without what differs from run to run.
func pegResult(t *testing.T, out string) map[string]any {
	t.Helper()
	r := map[string]any{}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	delete(r, "seconds")
	delete(r, "peak_rss_bytes")
	return r
}

// TestSolitaireKill kills a search on disk at random moments, again and again, until it is through: it
// finds the same as one that nobody disturbs.
func TestSolitaireKill(t *testing.T) {
	kills := 3
	if long() {
		kills = 20
	}
	args := []string{"solitaire", "solve", "--board", pegBoard(t), "--end", "any", "--progress", "none", "--json", "--threads", "2"}
	start := time.Now()
	want := pegResult(t, startChemin(t, args...).mustEnd(t))
	took := time.Since(start)
	if want["solvable"] != true {
		t.Fatalf("%v", want)
	}
	seed := rand.Uint64()
	t.Logf("seed %d; a search takes %v", seed, took)
	random := rand.New(rand.NewPCG(seed, 0))
	args = append(args, "--dir", filepath.Join(t.TempDir(), "run"))
	for range kills {
		startChemin(t, args...).killAfter(t, time.Duration(random.Float64()*float64(took)))
	}
	if diff := cmp.Diff(want, pegResult(t, startChemin(t, args...).mustEnd(t))); diff != "" {
		t.Errorf("a search that was killed %d times differs (-undisturbed +killed):\n%s", kills, diff)
	}
}
