package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Of returns the groups that may limit the resource of a controller, "memory" or "cpu", from the
// group of the process up to the root, tree after tree. It returns none if the system does not tell.
func Of(controller string) (all []Group) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	for _, h := range hierarchies(controller, string(groups), string(mounts)) {
		all = append(all, h.groups()...)
	}
	return all
}

// Read returns the fields of a file of the group, none if there is no such file.
func (g *Group) Read(file string) []string {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// hierarchies finds the trees that may limit the resource of a controller, from
// /proc/self/cgroup and /proc/self/mountinfo (proc(5), cgroups(7)).
func hierarchies(controller, groups, mounts string) (all []hierarchy) {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		mount, system := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(system) < 3 {
			continue
		}
		h := hierarchy{mount: mount[4]}
		name := ""
		switch {
		case system[0] == "cgroup2":
			h.version = 2
		case system[0] == "cgroup" && slices.Contains(strings.Split(system[2], ","), controller):
			name, h.version = controller, 1
		default:
			continue
		}
		if path, ok := groupOf(groups, name); ok {
			// In a container the mount may begin below the root of the tree.
			h.path = strings.TrimPrefix(path, strings.TrimSuffix(mount[3], "/"))
			all = append(all, h)
		}
	}
	return all
}

// groupOf returns the path of the process in the tree of a controller of version 1, or
// in the tree of version 2, which has the name "".
func groupOf(groups, controller string) (path string, ok bool) {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), controller) {
			return fields[2], true
		}
	}
	return "", false
}
