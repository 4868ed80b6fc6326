package memory

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// Lines of /proc/self/mountinfo, of version 1, version 2 and a container.
const (
	mountV1 = "31 30 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n" +
		"32 30 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
	mountV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountIn = "31 30 0:26 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
)

func TestHierarchies(t *testing.T) {
	one, two := []string{"memory.limit_in_bytes"}, []string{"memory.max", "memory.high"}
	for _, tt := range []struct {
		groups, mounts string
		want           []hierarchy
	}{
		{"4:memory:/a/b\n1:cpu:/\n", mountV1, []hierarchy{{"/sys/fs/cgroup/memory", "/a/b", one}}},
		{"0::/user.slice/x\n", mountV2, []hierarchy{{"/sys/fs/cgroup", "/user.slice/x", two}}},
		{"4:cpu,memory:/docker/ab\n0::/\n", mountIn, []hierarchy{{"/sys/fs/cgroup/memory", "", one}}},
		{"4:memory:/a\n0::/c:d\n", mountV2 + mountV1, []hierarchy{{"/sys/fs/cgroup", "/c:d", two}, {"/sys/fs/cgroup/memory", "/a", one}}},
		{"", mountV1 + mountV2, nil},
		{"4:memory:/a\n", "nonsense\n - \n", nil},
	} {
		if got := hierarchies(tt.groups, tt.mounts); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %+v, want %+v", tt.groups, got, tt.want)
		}
	}
}

// TestLeastLimit: a cgroup above may have less than that of the process.
func TestLeastLimit(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"memory.max": "max\n", "a/memory.max": "1000\n", "a/memory.high": "900\n", "a/b/memory.max": "2000\n", "a/b/memory.high": "max\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := hierarchy{root, "/a/b", []string{"memory.max", "memory.high"}}
	if got := leastLimit([]hierarchy{h}); got != (Machine{900, "the cgroup /a"}) {
		t.Errorf("%+v", got)
	}
	h.path = "/gone"
	if got := leastLimit([]hierarchy{h}); got != (Machine{}) {
		t.Errorf("%+v", got)
	}
}

func TestPhysical(t *testing.T) {
	if n := physical(); n < 16<<20 || OfMachine().Bytes > n || OfMachine().Bytes == 0 {
		t.Errorf("%d bytes, of which %v", n, OfMachine())
	}
}
