package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"grenier/io/vfs"
)

// target is a system that grenier is built for.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"darwin", "amd64"}, {"windows", "amd64"}}

// program returns the name of the program.
func (t target) program() string {
	if t.os == "windows" {
		return "grenier.exe"
	}
	return "grenier"
}

// environment returns the environment of a build: no C, the least CPU, and nothing that a user may have
// set. Else a build depends on the sources and the Go release alone.
func (t target) environment() []string {
	return append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GODEBUG=", "GOFIPS140=off", "GOWORK=off")
}

// maxProgram is the largest program that is read, in bytes.
const maxProgram = 1 << 30

// build returns the program for t, which it builds in a directory of its own below dir. It knows
// the commit.
func (t target) build(ctx context.Context, dir string) (program []byte, err error) {
	temp, remove, err := vfs.TempDir(dir, ".build-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	path := filepath.Join(temp, t.program())
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/grenier")
	cmd.Env, cmd.Stderr = t.environment(), os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("building for %s/%s: %w", t.os, t.arch, err)
	}
	return vfs.ReadFile(path, maxProgram)
}

// commit is the commit that is released.
type commit struct {
	id   string
	time time.Time
}

// head returns the commit of the work tree, which must not have been changed since: nobody
// could build the same again.
func head(ctx context.Context) (*commit, error) {
	changes, err := output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changes != "" {
		return nil, fmt.Errorf("a release is of a commit, and this is in none:\n%s", changes)
	}
	text, err := output(ctx, "git", "show", "-s", "--format=%H %ct", "HEAD")
	if err != nil {
		return nil, err
	}
	id, at, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("git show: %q: no time of a commit: %w", text, err)
	}
	return &commit{id, time.Unix(seconds, 0).UTC()}, nil
}

// output returns the output of a program, without the blanks around it.
func output(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return string(bytes.TrimSpace(out)), nil
}
