package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goPackage is a package as go list describes it.
type goPackage struct {
	ImportPath, Dir, Name                                                          string
	GoFiles, SFiles, TestGoFiles, XTestGoFiles, Imports, TestImports, XTestImports []string
}

// list describes all packages of the module in the working directory.
func list(ctx context.Context) (all []goPackage, err error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Name,GoFiles,SFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// matches reports whether a pattern like ./io/vfs or ./io/... names the package.
func (p *goPackage) matches(pattern string) bool {
	_, path, _ := strings.Cut(p.ImportPath, "/")
	pattern = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(pattern)), "./")
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == below || strings.HasPrefix(path, below+"/")
	}
	return path == pattern
}

// tested reports whether the package has tests.
func (p *goPackage) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// uses reports whether the package, or one of its tests, imports another one.
func (p *goPackage) uses(path string) bool {
	return slices.Contains(p.Imports, path) || slices.Contains(p.TestImports, path) || slices.Contains(p.XTestImports, path)
}

// trial tries changes, and counts what became of them.
type trial struct {
	o                     *options
	all                   []goPackage
	temp                  string
	killed, lived, broken int
}

func newTrial(o *options, all []goPackage) (*trial, error) {
	temp, err := os.MkdirTemp("", "mutate-")
	return &trial{o: o, all: all, temp: temp}, err
}

func (t *trial) close() { os.RemoveAll(t.temp) }

// try runs tests with a change until one fails, and returns which package that is of, "nobody" for none, and "" if
// the change does not compile. It fails when ctx ends.
func (t *trial) try(ctx context.Context, c *change) (outcome string, err error) {
	overlay, err := t.overlay(c)
	if err != nil {
		return "", err
	}
	own := slices.IndexFunc(t.all, func(p goPackage) bool { return p.Dir == filepath.Dir(c.file) })
	if own < 0 {
		return "", fmt.Errorf("%s is in no package", c.file)
	}
	path := t.all[own].ImportPath
	if exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", filepath.Join(t.temp, "out"), path).Run() != nil {
		t.broken++
		return "", ctx.Err()
	}
	for _, packages := range t.tests(&t.all[own]) {
		if name, err := t.fails(ctx, overlay, packages); name != "" || err != nil {
			t.killed++
			return name, err
		}
	}
	t.lived++
	return "**nobody**", nil
}

// overlay writes a changed file and what makes go read it.
func (t *trial) overlay(c *change) (path string, err error) {
	src, err := os.ReadFile(c.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(t.temp, filepath.Base(c.file))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {c.file: changed}})
	path = filepath.Join(t.temp, "overlay.json")
	return path, errors.Join(err, os.WriteFile(changed, slices.Concat(src[:c.from], []byte(c.new), src[c.to:]), 0o600), os.WriteFile(path, overlay, 0o600))
}

// tests returns the packages whose tests matter for one: itself, those that use it, and those asked for.
func (t *trial) tests(own *goPackage) (groups [][]string) {
	var direct []string
	for i := range t.all {
		if p := &t.all[i]; p.tested() && p.uses(own.ImportPath) && p.ImportPath != own.ImportPath {
			direct = append(direct, p.ImportPath)
		}
	}
	if own.tested() {
		groups = append(groups, []string{own.ImportPath})
	}
	for _, more := range [][]string{direct, strings.Fields(t.o.also)} {
		if len(more) > 0 {
			groups = append(groups, more)
		}
	}
	return groups
}

// fails runs the tests of packages and returns the first one that fails, "" if none does.
func (t *trial) fails(ctx context.Context, overlay string, packages []string) (name string, err error) {
	args := []string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout", t.o.timeout.String()}
	run := exec.CommandContext(ctx, "go", append(args, packages...)...)
	if t.o.long {
		run.Env = append(os.Environ(), "GRENIER_LONG=1")
	}
	out, err := run.CombinedOutput()
	if err == nil {
		return "", nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if rest, failed := strings.CutPrefix(line, "FAIL\t"); failed {
			name, _, _ = strings.Cut(rest, "\t")
			name, _, _ = strings.Cut(name, " ")
			return name, nil
		}
	}
	return "", fmt.Errorf("go test: %w: %s", err, out)
}
