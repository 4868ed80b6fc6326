// Command dist makes releases of grenier: for each system that grenier is built for, an archive
// with the program, its documents, man pages and completions (pages.go, man.go), and the licences
// of all that is in it, and a file of SHA-256 sums. With -pages it only writes documents, man pages and
// completions into a directory, for "make install".
//
// Archives are reproducible: the same commit and the same Go release give the same bytes, on any
// machine and in any directory. So programs are built without paths and without C (build.go),
// all times are the time of the commit, and archives have sorted names and no owners (archive.go).
//
// It runs in the root of a clone of the repository, and needs git and go.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/io/vfs"
)

func main() {
	out := flag.String("out", "dist", "`directory` for archives and sums")
	pages := flag.String("pages", "", "only write documents, man pages and completions into this `directory`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, *out, *pages)
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, pages string) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q: there are flags only", flag.Arg(0))
	}
	if pages != "" {
		return writePages(ctx, pages)
	}
	c, err := head(ctx)
	if err != nil {
		return err
	}
	return release(ctx, c, out)
}

// writePages writes documents, man pages and completions below dir.
func writePages(ctx context.Context, dir string) error {
	all, err := pages(ctx, time.Now())
	if err != nil {
		return err
	}
	for _, e := range all {
		path := filepath.Join(dir, filepath.FromSlash(e.name))
		if err := writeIn(filepath.Dir(path), filepath.Base(path), e.data); err != nil {
			return err
		}
	}
	return nil
}

// writeIn writes a file into a directory, which is made if there is none.
func writeIn(dir, name string, data []byte) error {
	d, err := vfs.MakeDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(vfs.Write(d, name, data), d.Close())
}

// release writes the archives of a commit and their sums into dir, once all are built from it.
func release(ctx context.Context, c *commit, dir string) error {
	out, err := vfs.MakeDir(dir)
	if err != nil {
		return err
	}
	defer out.Close()
	archives, err := build(ctx, c, dir)
	if err != nil {
		return err
	}
	if now, err := head(ctx); err != nil || *now != *c {
		return errors.Join(errors.New("the work tree has changed while programs were built"), err)
	}
	var sums []byte
	for _, a := range archives {
		if err := vfs.Write(out, a.name, a.data); err != nil {
			return err
		}
		sums = fmt.Appendf(sums, "%x  %s\n", sha256.Sum256(a.data), a.name)
	}
	fmt.Print(string(sums))
	return vfs.Write(out, "SHA256SUMS", sums)
}

// build returns the archives of all targets.
func build(ctx context.Context, c *commit, dir string) (archives []entry, err error) {
	shared, err := sharedEntries(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		program, err := t.build(ctx, dir)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("grenier-%s-%s-%s", cli.Release, t.os, t.arch)
		data, err := t.pack(name, append([]entry{{name: t.program(), data: program, executable: true}}, shared...), c.time)
		if err != nil {
			return nil, err
		}
		archives = append(archives, entry{name: name + t.suffix(), data: data})
	}
	return archives, nil
}

// pages returns the documents, and the man pages, of that time, and completions.
func pages(ctx context.Context, at time.Time) ([]entry, error) {
	all, err := generated(at)
	if err != nil {
		return nil, err
	}
	texts, err := written(ctx)
	return append(all, texts...), err
}

// sharedEntries returns the entries that all archives hold besides the program.
func sharedEntries(ctx context.Context, c *commit) ([]entry, error) {
	all, err := pages(ctx, c.time)
	if err != nil {
		return nil, err
	}
	licences, err := licences(ctx)
	return append(all, licences...), err
}
