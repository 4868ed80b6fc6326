//go:build !quick

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// files are some that are out of order.
func files() []entry {
	return []entry{
		{name: "grenier", data: []byte("program"), executable: true},
		{name: "README.md", data: []byte("text")},
		{name: "man/man1/grenier.1", data: bytes.Repeat([]byte("page "), 1000)},
	}
}

// unpacked returns the files of an archive by name, with their modes and times in text.
func unpacked(t *testing.T, archive []byte, zipped bool) (names []string, about map[string]string) {
	about = map[string]string{}
	add := func(name string, mode fs.FileMode, at time.Time, r io.Reader) {
		data := must.Get(io.ReadAll(r))(t)
		names = append(names, name)
		about[name] = mode.String() + " " + at.UTC().Format(time.RFC3339) + " " + string(data)
	}
	if zipped {
		for _, f := range must.Get(zip.NewReader(bytes.NewReader(archive), int64(len(archive))))(t).File {
			add(f.Name, f.Mode(), f.Modified, must.Get(f.Open())(t))
		}
		return names, about
	}
	z := must.Get(gzip.NewReader(bytes.NewReader(archive)))(t)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names, about
		}
		must.OK(t, err)
		should.Hold(t, h.Uid == 0 && h.Gid == 0 && h.Uname == "" && h.Gname == "", "%s has an owner", h.Name)
		add(h.Name, h.FileInfo().Mode(), h.ModTime, r)
	}
}

// TestLongPack: archives hold the files, in order, with modes and times that do not come from the machine, and the same bytes again.
func TestLongPack(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 2, 4, 0, time.UTC)
	for _, target := range targets {
		archive := must.Get(target.pack("grenier-1", files(), at))(t)
		names, about := unpacked(t, archive, target.os == "windows")
		want := "grenier-1/README.md grenier-1/grenier grenier-1/man/man1/grenier.1"
		should.Hold(t, strings.Join(names, " ") == want, "%v: %s", target, names)
		should.Equal(t, about["grenier-1/grenier"], "-rwxr-xr-x 2026-11-22T01:02:04Z program", "%v", target)
		should.Equal(t, about["grenier-1/README.md"], "-rw-r--r-- 2026-11-22T01:02:04Z text", "%v", target)
		turned := files()
		turned[0], turned[2] = turned[2], turned[0]
		again, err := target.pack("grenier-1", turned, at.In(time.FixedZone("elsewhere", 3600)))
		should.Hold(t, err == nil && bytes.Equal(archive, again), "%v: the same files give other bytes (%v)", target, err)
	}
}

// TestLongPages: there is a man page for every command and completions for every shell, and nothing in them is of this machine.
func TestLongPages(t *testing.T) {
	text := map[string]string{}
	for _, e := range must.Get(generated(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)))(t) {
		text[e.name] = string(e.data)
	}
	for _, file := range completionFiles {
		should.Has(t, text[file], "grenier")
	}
	for _, name := range []string{"grenier", "grenier-awari-solve", "grenier-swap-pdb-build", "grenier-completion"} {
		should.Has(t, strings.ReplaceAll(text["man/man1/"+name+".1"], `\-`, "-"),
			".TH \""+strings.ToUpper(name)+"\" \"1\" \"Nov 2026\"", ".SH EXIT STATUS\n.sp\n.EX\n  0    done, or nothing to do\n", ".SH OPTIONS\n.TP\n")
	}
	should.Equal(t, headings(text["man/man1/grenier.1"]), "NAME SYNOPSIS DESCRIPTION OPTIONS EXIT STATUS ENVIRONMENT EXAMPLES SEE ALSO")
	should.Equal(t, headings(text["man/man1/grenier-awari-solve.1"]), "NAME SYNOPSIS DESCRIPTION OPTIONS EXIT STATUS EXAMPLES FILES SEE ALSO")
	should.Has(t, text["man/man1/grenier-awari-solve.1"],
		`\fB\-\-threads\fP \fInumber\fP`+"\n", "(default: all)", `\fB\-h\fP, \fB\-\-help\fP`+"\n", `\fB\-\-dir\fP \fIdirectory\fP`+"\n")
}

// headings returns the names of the sections of a man page.
func headings(page string) string {
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^\.SH (.*)$`).FindAllStringSubmatch(page, -1) {
		names = append(names, found[1])
	}
	return strings.Join(names, " ")
}

// TestLongManPages shows all pages as man does: there is no warning, and what is laid out stays so.
func TestLongManPages(t *testing.T) {
	groff, err := exec.LookPath("groff")
	tries.SkipIf(t, err != nil, "NOT TESTED: man pages, as there is no groff")
	var all bytes.Buffer
	var names []string
	for _, e := range must.Get(generated(time.Now()))(t) {
		if strings.HasPrefix(e.name, "man/") {
			names = append(names, e.name)
			all.Write(e.data)
		}
	}
	cmd := exec.CommandContext(t.Context(), groff, "-k", "-man", "-Tutf8", "-ww", "-P-cbou", "-rLL=200n")
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = &all, &errs
	out, err := cmd.Output()
	must.Hold(t, err == nil && errs.Len() == 0, "%v\n%s", err, errs.String())
	shown := strings.Split(string(out), "\nNAME\n")[1:]
	must.Not(t, len(names) < 30 || len(shown) != len(names), "%d pages, %d are shown", len(names), len(shown))
	for i, text := range shown {
		for line := range strings.Lines(cli.ExitHelp) {
			should.Has(t, names[i]+text, strings.TrimSpace(line))
		}
	}
}

// TestLongLaidOut: help text stays what it is in man pages.
func TestLongLaidOut(t *testing.T) {
	should.Equal(t, laidOut("Solves a*b_c.\nColumns:\n  one  1\n\n  two  2\nThe rest-\n.\n\nIt's \\.\n\n"),
		"Solves a*b_c.\nColumns:\n.sp\n.EX\n  one  1\n\n  two  2\n.EE\n.PP\nThe rest\\-\n\\&.\n.PP\nIt\\(aqs \\e.\n")
}

// TestLongAlone: a page of a release leads to what the release has.
func TestLongAlone(t *testing.T) {
	got := alone("docs/a.md", "[b](b.md#x) [c](../c/d.go) [e](https://e.example/f) [g](#g) ![p](p.png) [h](format)\n<!-- clone -->\nmake\n<!-- /clone -->\n<!-- release\nyes\n-->\nend\n",
		[]string{"docs/a.md", "docs/b.md", "docs/format/x.md"})
	should.Equal(t, got, "[b](b.md#x) c [e](https://e.example/f) [g](#g) p [h](format)\nyes\nend\n")
}

// TestLongTexts: no page of a release leads into the void, README.md is about the program, and man pages name documents that are there.
func TestLongTexts(t *testing.T) {
	t.Chdir("../..")
	all := must.Get(pages(t.Context(), time.Now()))(t)
	var names []string
	for _, e := range all {
		names = append(names, e.name)
	}
	links, named := 0, 0
	for _, e := range all {
		if path.Ext(e.name) == ".md" {
			for _, found := range link.FindAllStringSubmatch(string(e.data), -1) {
				links++
				should.OK(t, must.Err(os.Stat(filepath.Join(filepath.Dir(e.name), found[3]))))
				should.Equal(t, alone(e.name, found[0], names), found[0], "%s", e.name)
			}
		}
		if !strings.HasPrefix(e.name, "docs/") {
			for _, name := range regexp.MustCompile(`docs/[\w/]+\.md`).FindAllString(string(e.data), -1) {
				named++
				should.Hold(t, slices.Contains(names, name), "%s names %s", e.name, name)
			}
		}
	}
	should.Not(t, links < 100 || named < 40, "only %d links and %d names", links, named)
	readme := string(all[slices.Index(names, "README.md")].data)
	should.Lacks(t, readme, "make ", "clone", "goroutine", "CONTRIBUTING", "<!-- release")
	should.Has(t, readme, "export PATH=\"$PWD:$PATH\"", "## Tour", "docs/pages/game.webp", "The licence is MIT.")
}

// TestLongLicences: every module that is in the program has a licence, and one without is told.
func TestLongLicences(t *testing.T) {
	t.Chdir("../..")
	all := must.Get(licences(t.Context()))(t)
	found := map[string]bool{}
	for _, e := range all {
		module, _, _ := strings.Cut(strings.TrimPrefix(e.name, "licences/"), "@")
		found[module] = true
		should.Not(t, len(e.data) == 0, "%s is empty", e.name)
	}
	for _, module := range []string{"go", "github.com/spf13/cobra", "github.com/klauspost/cpuid/v2", "golang.org/x/sys", "github.com/inconshreveable/mousetrap"} {
		should.Hold(t, found[module], "no licence of %s", module)
	}
	should.Hold(t, slices.ContainsFunc(all, func(e entry) bool { return strings.HasSuffix(e.name, "/zstd/internal/xxhash/LICENSE.txt") }),
		"no licence of a package that has one of its own")
	should.Not(t, found["pgregory.net/rapid"] || found["grenier"], "licences of what is not in the program, or of the program itself")
	_, err := licencesOf(map[string]*module{"bad.example/x": {path: "bad.example/x", version: "v1", dir: t.TempDir()}})
	should.Has(t, fmt.Sprint(err), "bad.example/x v1 has no licence")
}

// TestLongReproducible clones the repository twice and releases from both, with another number of
// processors and other settings of the user: the same bytes. The program knows its commit.
func TestLongReproducible(t *testing.T) {
	tries.SkipIf(t, !tries.Full(), "takes minutes: GRENIER_LONG=full")
	source, dir, sums := must.Get(filepath.Abs("../.."))(t), t.TempDir(), [2]string{}
	for i, place := range []string{"one", "two/deeper"} {
		place = filepath.Join(dir, place)
		command(t, ".", nil, "git", "clone", "-q", "--no-hardlinks", source, place)
		out := filepath.Join(dir, "out", place[len(place)-1:])
		command(t, place, [][]string{{"GOMAXPROCS=1", "GOAMD64=v3", "TZ=Asia/Tokyo"}, {"GOFLAGS=-buildvcs=false", "CGO_ENABLED=1"}}[i],
			"go", "run", "./cmd/dist", "-out", out)
		sums[i] = string(must.Read(t, filepath.Join(out, "SHA256SUMS")))
		should.Hold(t, strings.Count(sums[i], "\n") == len(targets), "sums:\n%s", sums[i])
		if i == 1 && runtime.GOOS != "windows" {
			knowsCommit(t, out, strings.TrimSpace(command(t, place, nil, "git", "rev-parse", "HEAD")))
		}
	}
	should.Hold(t, sums[0] == sums[1], "two clones give\n%sand\n%s", sums[0], sums[1])
}

// knowsCommit unpacks and runs the program for this machine.
func knowsCommit(t *testing.T, out, commit string) {
	name := "grenier-" + cli.Release + "-" + runtime.GOOS + "-" + runtime.GOARCH
	command(t, out, nil, "tar", "xf", name+".tar.gz")
	got := command(t, filepath.Join(out, name), nil, "./grenier", "--version")
	should.Hold(t, regexp.MustCompile(`^grenier \S+ \(commit `+commit[:12]+` of \d{4}-\d\d-\d\d\), go1\.\S+ `).MatchString(got),
		"version %q, commit %s", got, commit)
}

// command runs a program in dir and returns what it prints.
func command(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	must.Hold(t, err == nil, "%v: %v\n%s", cmd.Args, err, errs.String())
	return string(out)
}
