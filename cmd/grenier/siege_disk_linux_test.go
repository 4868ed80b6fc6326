package main

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// fullDisks are options of small file systems, which grow until a command comes through.
var fullDisks = []string{"size=%dk,nr_inodes=1000", "size=64m,nr_inodes=%d"}

// TestLongSiegeDisk: on disks that are too small, or have too few inodes, commands fail with a clear line and leave
// nothing half done; with more room, the same command comes through. On one that is read-only they change nothing.
func TestLongSiegeDisk(t *testing.T) {
	tries.NeedsLong(t, "long")
	for _, args := range crashing {
		if strings.HasPrefix(args, "awari repair") {
			continue // it begins with files
		}
		if strings.HasPrefix(args, "awari solve") || strings.HasPrefix(args, "swap bfs") {
			args += " --force" // else it does not begin
		}
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			c := newCrashes(t, args)
			for i, options := range fullDisks {
				step := []int{4, 1}[i]
				for k := step; !c.full(t, fmt.Sprintf(options, k)); k += step {
					if k > 1000 {
						t.Fatalf("it does not end with %s", fmt.Sprintf(options, k))
					}
				}
			}
			c.readOnly(t)
			t.Logf("%d full disks", c.count)
		})
	}
}

// mount puts an empty file system into the place of the directory for results.
func (c *crashes) mount(t *testing.T, options string) (unmount func()) {
	t.Helper()
	c.begin(t)
	dir := c.tree.Path(siegeDir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a small disk needs a file system of its own: %v", err)
	}
	return func() { must.OK(t, unix.Unmount(dir, unix.MNT_DETACH)) }
}

// full runs the command on a small disk. It returns true if there is room enough.
func (c *crashes) full(t *testing.T, options string) (ended bool) {
	t.Helper()
	defer c.mount(t, options)()
	first := grenier(t.Context(), "", c.args...)
	if first.status == cli.ExitOK {
		return true
	}
	c.count++
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s (first: status %d, %s)", options, fmt.Sprintf(format, args...), first.status, first.err)
	}
	if first.status != cli.ExitFailure || !clearLines.MatchString(first.err) {
		fail("undocumented status, or no clear line")
	}
	c.whole(t, fail)
	must.OK(t, unix.Mount("", c.tree.Path(siegeDir), "", unix.MS_REMOUNT, "size=64m,nr_inodes=1000"))
	c.again(t, fail)
	return false
}

// readOnly runs the command on a disk that cannot be written.
func (c *crashes) readOnly(t *testing.T) {
	defer c.mount(t, "size=64m")()
	must.OK(t, unix.Mount("", c.tree.Path(siegeDir), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	watched := c.tree.Watch(siegeDir)
	r := grenier(t.Context(), "", c.args...)
	should.Hold(t, r.status == cli.ExitFailure && clearLines.MatchString(r.err), "read-only: status %d, %s", r.status, r.err)
	watched.Check(t)
}
