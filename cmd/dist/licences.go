package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"grenier/io/vfs"
)

// maxText is the largest text that is taken along, in bytes.
const maxText = 1 << 20

// module is one that parts of the program come from.
type module struct {
	path, version, dir string
	packages           []string // directories of those that are in the program
}

// licences returns the licences of Go and of all modules that are in the program on any target.
func licences(ctx context.Context) ([]entry, error) {
	all := map[string]*module{}
	for _, t := range targets {
		if err := t.modules(ctx, all); err != nil {
			return nil, err
		}
	}
	root, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	all["go"] = &module{path: "go", version: runtime.Version(), dir: root}
	return licencesOf(all)
}

// modules adds to all those that the program for t has packages of, but its own.
func (t target) modules(ctx context.Context, all map[string]*module) error {
	const form = "{{$p := .Dir}}{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$p}}{{end}}{{end}}"
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", form, "./cmd/grenier")
	cmd.Env, cmd.Stderr = t.environment(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("listing what the program for %s/%s is made of: %w", t.os, t.arch, err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 4 {
			continue // of the standard library, or ours
		}
		m := all[fields[0]]
		if m == nil {
			m = &module{path: fields[0], version: fields[1], dir: fields[2]}
			all[fields[0]] = m
		}
		m.packages = append(m.packages, fields[3])
	}
	return nil
}

// licencesOf returns the texts that modules have about licences: each in its root, and for
// packages with code of others, in their directories and the ones above. It fails if the root of a
// module has no licence: it must not be given away then.
func licencesOf(modules map[string]*module) (all []entry, err error) {
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		for _, dir := range m.dirs() {
			found, err := m.licencesIn(dir)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 && dir == m.dir {
				return nil, fmt.Errorf("%s %s has no licence in %s", m.path, m.version, m.dir)
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// dirs returns the directories of the packages and all above, up to the root of the module.
func (m *module) dirs() []string {
	dirs := []string{m.dir}
	for _, dir := range m.packages {
		for ; dir != m.dir && strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// licencesIn returns the files in a directory of the module that are about licences.
func (m *module) licencesIn(dir string) (all []entry, err error) {
	d, err := vfs.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.Entries()
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(m.dir, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		stem, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if !e.Mode().IsRegular() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, stem) {
			continue
		}
		data, err := vfs.Read(d, e.Name(), maxText)
		if err == nil && len(data) > maxText {
			err = fmt.Errorf("%s is longer than %d bytes", d.Path(e.Name()), maxText)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: path.Join("licences", m.path+"@"+m.version, filepath.ToSlash(below), e.Name()), data: data})
	}
	return all, nil
}
