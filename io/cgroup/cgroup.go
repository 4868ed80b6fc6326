// Package cgroup finds the control groups of Linux that this process is in, and reads the limits
// that they set: the share of a machine that a container may use. Elsewhere there are none.
//
// A process is in one group of each tree of version 1, which has some controllers each, and in
// one of the tree of version 2, which has all others (cgroups(7)). A group above may have a lower
// limit than the group of the process, so all groups up to the roots count.
package cgroup

import "path"

// Group is a control group.
type Group struct {
	Path    string // as messages name it: below the root of its tree, or of the visible part of that
	Version int    // of its tree, 1 or 2

	dir string // with its files
}

// String names the group.
func (g *Group) String() string { return "the cgroup " + g.Path }

// hierarchy is where a process is in a tree of groups.
type hierarchy struct {
	mount   string // directory of the tree, or of the part of it that is seen from here
	path    string // of the process, below mount
	version int
}

// groups returns the group of the process and those above it.
func (h *hierarchy) groups() (all []Group) {
	for at := path.Join("/", h.path); ; at = path.Dir(at) {
		all = append(all, Group{Path: at, Version: h.version, dir: path.Join(h.mount, at)})
		if at == "/" {
			return all
		}
	}
}
