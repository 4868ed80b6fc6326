package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"grenier/io/vfs"
)

// maxText is the largest text that is taken along, in bytes.
const maxText = 1 << 20

// module is one that parts of the program come from.
type module struct{ path, version, dir string }

// licences returns the licences of Go and of all modules that are in the program on any target.
func licences(ctx context.Context) ([]entry, error) {
	all := []module{}
	for _, t := range targets {
		found, err := t.modules(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	root, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	return licencesOf(append(all, module{"go", runtime.Version(), root}))
}

// modules returns those that the program for t has parts of, but its own.
func (t target) modules(ctx context.Context) (all []module, err error) {
	const form = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", form, "./cmd/grenier")
	cmd.Env, cmd.Stderr = t.environment(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing what the program for %s/%s is made of: %w", t.os, t.arch, err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue // of the standard library, or ours
		}
		if m := (module{fields[0], fields[1], fields[2]}); !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all, nil
}

// licencesOf returns the texts that modules have about their licence. It fails if one has none:
// it must not be given away then.
func licencesOf(modules []module) (all []entry, err error) {
	for _, m := range modules {
		names, err := licenceFiles(m.dir)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s %s has no licence in %s", m.path, m.version, m.dir)
		}
		for _, name := range names {
			data, err := vfs.ReadFile(filepath.Join(m.dir, name), maxText)
			if err != nil {
				return nil, err
			}
			all = append(all, entry{name: "licences/" + m.path + "@" + m.version + "/" + name, data: data})
		}
	}
	return all, nil
}

// licenceFiles returns the names of the files in dir that are about licences.
func licenceFiles(dir string) (names []string, err error) {
	d, err := vfs.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.Entries()
	for _, e := range entries {
		stem, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		if e.Mode().IsRegular() && slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, stem) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
