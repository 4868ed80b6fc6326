package memory

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// physical returns the memory of the machine.
func physical() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

// ofGroup returns the least limit of the cgroups that this process is in.
func ofGroup() Machine {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return Machine{}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Machine{}
	}
	return leastLimit(hierarchies(string(groups), string(mounts)))
}

// hierarchy is where a process is in a tree of cgroups.
type hierarchy struct {
	mount string   // directory of the tree, or of the part of it that is seen from here
	path  string   // of the process, below mount
	files []string // that have a limit, in each directory
}

// hierarchies finds the trees that may limit memory, of cgroups version 1 and 2, from
// /proc/self/cgroup and /proc/self/mountinfo (proc(5), cgroups(7)).
func hierarchies(groups, mounts string) (all []hierarchy) {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		mount, system := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(system) < 3 {
			continue
		}
		h := hierarchy{mount: mount[4]}
		controller := ""
		switch {
		case system[0] == "cgroup2":
			h.files = []string{"memory.max", "memory.high"}
		case system[0] == "cgroup" && slices.Contains(strings.Split(system[2], ","), "memory"):
			controller, h.files = "memory", []string{"memory.limit_in_bytes"}
		default:
			continue
		}
		if path, ok := groupOf(groups, controller); ok {
			// In a container the mount may begin below the root of the tree.
			h.path = strings.TrimPrefix(path, strings.TrimSuffix(mount[3], "/"))
			all = append(all, h)
		}
	}
	return all
}

// groupOf returns the path of the process in the tree of a controller of version 1, or
// in that of version 2, which has the name "".
func groupOf(groups, controller string) (path string, ok bool) {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), controller) {
			return fields[2], true
		}
	}
	return "", false
}

// leastLimit returns the least limit on the way from the process to the roots.
func leastLimit(all []hierarchy) (least Machine) {
	for _, h := range all {
		for path := filepath.Join("/", h.path); ; path = filepath.Dir(path) {
			for _, name := range h.files {
				limit := limitIn(filepath.Join(h.mount, path, name))
				if limit > 0 && (least.Bytes == 0 || limit < least.Bytes) {
					least = Machine{limit, "the cgroup " + path}
				}
			}
			if path == "/" {
				break
			}
		}
	}
	return least
}

// limitIn returns the limit in a file of a cgroup, 0 if there is none.
func limitIn(file string) uint64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil { // "max"
		return 0
	}
	return limit
}
