package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// TestInterruptedExchange: commands that are interrupted say so and leave nothing.
func TestInterruptedExchange(t *testing.T) {
	dir := solved(t, "--pits", "12", "--seeds", "3")
	t.Chdir(t.TempDir())
	mustRun(t, "awari", "export", "--dir", dir, "--layer", "0", "--format", "vu", "--out", "scores.0", "--progress", "none")
	before := must.Tree(t, ".")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range []string{
		"export --dir DIR --layer 3 --format csv --codec zstd --out file",
		"export --dir DIR --layer 3 --format vu --out -",
		"compare DIR DIR",
		"import --dir new --layer 0 --format vu scores.0",
	} {
		args := strings.Fields("awari " + strings.ReplaceAll(command, "DIR", dir))
		r := grenier(ctx, "", args...)
		should.Hold(t, r.status == cli.ExitInterrupted && strings.HasPrefix(r.err, "grenier: interrupted"),
			"%s: status %d, %s", command, r.status, r.err)
	}
	must.OK(t, os.RemoveAll("new")) // made for layer 0, without a layer
	after := must.Tree(t, ".")
	should.Hold(t, len(after) == len(before), "there were %d files, and are %d", len(before), len(after))
}

// TestLongExportMemory: an export stays within --memory, all in all.
func TestLongExportMemory(t *testing.T) {
	if !tries.Long() || cli.PeakRSS() == 0 {
		t.Skip("solves 16 layers, where memory can be measured; set GRENIER_LONG=1")
	}
	dir := solved(t, "--seeds", "16")
	for i, format := range []string{"colex", "vu", "npy", "csv", "wdl"} {
		for j, codec := range []string{"none", "lz4", "zstd"} {
			if !tries.Full() && (i+j)%3 != 2 { // each format and each codec, csv with zstd
				continue
			}
			out := must.Get(exec.CommandContext(t.Context(), "grenier", "awari", "export", "--dir", dir, "--layer", "16", "--format", format,
				"--codec", codec, "--threads", "2", "--memory", "64MiB", "--json", "--out", filepath.Join(t.TempDir(), "file")).Output())(t)
			var e exported
			must.OK(t, json.Unmarshal(out, &e))
			should.Not(t, e.PeakRSS > 64<<20, "%s, %s: %d bytes of memory", format, codec, e.PeakRSS)
			t.Logf("%s, %s: %d MiB", format, codec, e.PeakRSS>>20)
		}
	}
}
