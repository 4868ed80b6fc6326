package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// Lines of /proc/self/mountinfo, of version 1, version 2 and a container.
const (
	mountV1 = "31 30 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n" +
		"32 30 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
	mountV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountIn = "31 30 0:26 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
)

func TestHierarchies(t *testing.T) {
	for _, tt := range []struct {
		controller, groups, mounts string
		want                       []hierarchy
	}{
		{"memory", "4:memory:/a/b\n1:cpu:/\n", mountV1, []hierarchy{{"/sys/fs/cgroup/memory", "/a/b", 1}}},
		{"cpu", "4:memory:/a/b\n1:cpu,cpuacct:/c\n", mountV1, []hierarchy{{"/sys/fs/cgroup/cpu", "/c", 1}}},
		{"memory", "0::/user.slice/x\n", mountV2, []hierarchy{{"/sys/fs/cgroup", "/user.slice/x", 2}}},
		{"memory", "4:cpu,memory:/docker/ab\n0::/\n", mountIn, []hierarchy{{"/sys/fs/cgroup/memory", "", 1}}},
		{"memory", "4:memory:/a\n0::/c:d\n", mountV2 + mountV1, []hierarchy{{"/sys/fs/cgroup", "/c:d", 2}, {"/sys/fs/cgroup/memory", "/a", 1}}},
		{"memory", "", mountV1 + mountV2, nil},
		{"memory", "4:memory:/a\n", "nonsense\n - \n", nil},
	} {
		should.List(t, hierarchies(tt.controller, tt.groups, tt.mounts), tt.want, "%s, %q", tt.controller, tt.groups)
	}
}

// TestGroups: the groups above count, each with its own files.
func TestGroups(t *testing.T) {
	root := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(root, "a", "b"), 0o755))
	must.Write(t, filepath.Join(root, "a", "cpu.max"), []byte("150000 100000\n"))
	h := hierarchy{root, "/a/b", 2}
	var names []string
	for _, g := range h.groups() {
		names = append(names, g.String())
		should.List(t, g.Read("cpu.max"), map[string][]string{"/a": {"150000", "100000"}}[g.Path], "%v", &g)
		should.Equal(t, g.Version, 2, "version")
	}
	should.List(t, names, []string{"the cgroup /a/b", "the cgroup /a", "the cgroup /"})
}
