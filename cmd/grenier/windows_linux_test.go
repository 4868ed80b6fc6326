package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// smallDisk is a file system of its own.
type smallDisk struct{ path string }

// newSmallDisk mounts a file system of some KiB.
func newSmallDisk(t *testing.T, size int) *smallDisk {
	t.Helper()
	d := &smallDisk{t.TempDir()}
	if err := unix.Mount("tmpfs", d.path, "tmpfs", 0, fmt.Sprintf("size=%dk", size)); err != nil {
		t.Skipf("a full disk needs a file system of its own: %v", err)
	}
	t.Cleanup(func() { must.OK(t, unix.Unmount(d.path, 0)) })
	return d
}

func (d *smallDisk) grow(t *testing.T, size int) {
	t.Helper()
	must.OK(t, unix.Mount("tmpfs", d.path, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%dk", size)))
}

// usedKiB returns the KiB that the files below dir take.
func usedKiB(t *testing.T, dir string) int {
	t.Helper()
	pages := 0
	for _, text := range must.Tree(t, dir) {
		pages += len(text)/os.Getpagesize() + 1
	}
	return pages * os.Getpagesize() >> 10
}

// fullStage finds the stage in the message of a full disk, which names the file.
var fullStage = regexp.MustCompile(strings.ReplaceAll(`grenier: (?:solving layer SEEDS, (\w+) stage|(sealing) layer SEEDS): [^\n]*/run/(?:work/(?:captures-[0-9]{4}-(?:open|full)|window-[0-9]{2}-[0-9])\.[0-9a-f]{16}\.tmp|layer-SEEDS\.gl\.[0-9a-f]{16}\.tmp): no space left on device; about [0-9.]+ [KMG]iB more needed on the disk of [^\n]*/run; the same command resumes when there is room, or with --work or --layers-to on another disk\n$`,
	"SEEDS", strconv.Itoa(windowSeeds)))

// testFullDisk solves on a disk that is too small, makes it larger and continues, until it is large enough.
func (p *windowRuns) testFullDisk(t *testing.T) {
	const step = 3 << 10
	size := usedKiB(t, p.below) + 2<<10
	disk := newSmallDisk(t, size)
	dir := filepath.Join(disk.path, "run")
	must.OK(t, os.CopyFS(dir, os.DirFS(p.below)))
	stages := map[string]int{}
	for ; ; size += step {
		disk.grow(t, size)
		r := startSolving(t, windowFlags(dir, "--progress", "none", "--force")...).wait(t)
		if r.status == cli.ExitOK {
			break
		}
		stage := fullStage.FindStringSubmatch(r.err)
		must.Not(t, r.status != cli.ExitFailure || stage == nil || strings.Contains(r.err, "again"),
			"%d KiB: status %d, %s", size, r.status, r.err)
		t.Logf("%d KiB are too few: %s", size, stage[1]+stage[2])
		stages[stage[1]+stage[2]]++
		p.intact(t, dir)
	}
	t.Logf("full in stages %v; %d KiB are enough", stages, size)
	should.Not(t, len(stages) < 2, "the disk was full in stages %v only", stages)
	p.compare(t, dir)
}
