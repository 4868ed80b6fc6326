package memory

import (
	"strings"
	"testing"

	"grenier/internal/testkit/should"
	"grenier/io/cgroup"
)

// TestLeastLimit: a cgroup above may have a lower limit than the cgroup of the process.
func TestLeastLimit(t *testing.T) {
	files := map[string]string{
		"/ memory.max": "max\n", "/a memory.max": "1000\n", "/a memory.high": "900\n", "/a/b memory.max": "2000\n", "/a/b memory.high": "max\n",
		"/a memory.limit_in_bytes": "5",
	}
	read := func(g *cgroup.Group, file string) []string { return strings.Fields(files[g.Path+" "+file]) }
	groups := []cgroup.Group{{Path: "/a/b", Version: 2}, {Path: "/a", Version: 2}, {Path: "/", Version: 2}}
	should.Equal(t, leastLimit(groups, read), Machine{900, "the cgroup /a"})
	should.Equal(t, leastLimit([]cgroup.Group{{Path: "/gone", Version: 2}}, read), Machine{})
	should.Equal(t, leastLimit([]cgroup.Group{{Path: "/a", Version: 1}}, read), Machine{5, "the cgroup /a"})
}

func TestPhysical(t *testing.T) {
	n := physical()
	should.Not(t, n < 16<<20 || OfMachine().Bytes > n || OfMachine().Bytes == 0, "%d bytes, of which %v", n, OfMachine())
}
