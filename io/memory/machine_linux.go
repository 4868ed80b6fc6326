package memory

import (
	"strconv"

	"golang.org/x/sys/unix"

	"grenier/io/cgroup"
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
func ofGroup() Machine { return leastLimit(cgroup.Of("memory"), (*cgroup.Group).Read) }

// limitFiles are the files with limits, by the version of the group.
var limitFiles = map[int][]string{1: {"memory.limit_in_bytes"}, 2: {"memory.max", "memory.high"}}

// leastLimit returns the least limit of some groups, whose files read returns.
func leastLimit(groups []cgroup.Group, read func(g *cgroup.Group, file string) []string) (least Machine) {
	for _, g := range groups {
		for _, file := range limitFiles[g.Version] {
			limit := limitIn(read(&g, file))
			if limit > 0 && (least.Bytes == 0 || limit < least.Bytes) {
				least = Machine{limit, g.String()}
			}
		}
	}
	return least
}

// limitIn returns the limit that is in a file of a cgroup, 0 if there is none.
func limitIn(fields []string) uint64 {
	if len(fields) != 1 {
		return 0
	}
	limit, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil { // "max"
		return 0
	}
	return limit
}
