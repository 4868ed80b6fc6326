package listed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"grenier/internal/testkit/crashfs"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/io/jsonfile"
	"grenier/io/listed"
	"grenier/io/manifest"
	"grenier/io/vfs"
)

var (
	header   = jsonfile.Header{Format: "grenier-export", Version: 2}
	identity = manifest.Identity{Game: "awari", Rules: "awari", Pits: 4}
	errOther = errors.New("other")
)

// bench is a directory of files, each made of a layer whose source is a text.
type bench struct {
	t       *testing.T
	dir     string
	sources []string // by seeds
	told    []string
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, dir: t.TempDir(), sources: []string{"aa", "bb", "cc"}}
}

func (b *bench) listPath() string { return filepath.Join(b.dir, "list.json") }
func name(seeds int) string       { return fmt.Sprintf("layer-%d", seeds) }

// content is what a file has in it: more than one piece of reading for the last one.
func (b *bench) content(seeds int) []byte {
	return bytes.Repeat([]byte(b.sources[seeds]), 1<<(10*min(seeds, 2)))
}

func (b *bench) open(id manifest.Identity) (*listed.List, error) {
	b.told = nil
	tell := func(s string) { b.told = append(b.told, s) }
	dir := must.Get(vfs.OpenDir(b.dir))(b.t)
	b.t.Cleanup(func() { dir.Close() })
	l, err := listed.Open(dir, filepath.Base(b.listPath()), listed.Options{Header: header, Identity: id, Other: errOther, Tell: tell})
	if err == nil {
		l.Dir = dir
	}
	return l, err
}

// make makes all files that are not there, and returns which it has written.
func (b *bench) make() (written []int, err error) {
	l, err := b.open(identity)
	if err != nil {
		return nil, err
	}
	for n, source := range b.sources {
		f := listed.File{File: name(n), Seeds: n, Source: source}
		kept, err := l.Keeps(b.t.Context(), &f, func(read, bytes uint64) {
			should.Not(b.t, read > bytes, "%d of %d bytes", read, bytes)
		})
		if err == nil && !kept {
			written = append(written, n)
			err = l.Write(&f, func(w io.Writer) error {
				return listed.Pass(b.t.Context(), w, bytes.NewReader(b.content(n)), func(uint64) {})
			})
			if err == nil {
				err = l.Add(f)
			}
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// want makes the files, and wants these to be written, that many messages, and all contents right.
func (b *bench) want(what string, written []int, told int) {
	b.t.Helper()
	got, err := b.make()
	should.Hold(b.t, err == nil && slices.Equal(got, written) && len(b.told) == told,
		"%s: wrote %v, want %v; told %q, want %d messages; error %v", what, got, written, b.told, told, err)
	for n := range b.sources {
		text, err := os.ReadFile(filepath.Join(b.dir, name(n)))
		should.Hold(b.t, err == nil && bytes.Equal(text, b.content(n)), "%s: file %d is another one, %v", what, n, err)
	}
}

// TestResume: what is finished is kept, unless the file or the layer is another one, or the list was changed (jsonfile tests each byte).
func TestResume(t *testing.T) {
	b := newBench(t)
	defer crashfs.New().Intercept(b.dir)() // does not wait for the disk
	b.want("all", []int{0, 1, 2}, 0)
	b.want("none", nil, 0)
	b.sources[1] = "xx"
	b.want("another layer of the same size", []int{1}, 1)
	path := filepath.Join(b.dir, name(2))
	text := must.Read(t, path)
	text[len(text)/2] ^= 1
	must.Write(t, path, text)
	b.want("a byte of a file", []int{2}, 1)
	must.Write(t, path, text[1:])
	b.want("a shorter file", []int{2}, 1)
	must.OK(t, os.Remove(path))
	b.want("a file that is gone", []int{2}, 0)
	b.sources = append(b.sources[:2], "dd", "ee")
	b.want("another layer, and one more", []int{2, 3}, 1)
	list := must.Read(t, b.listPath())
	for what, text := range map[string][]byte{
		"a byte of the list": bytes.Replace(list, []byte(name(3)), []byte(name(4)), 1), "half of the list": list[:len(list)/2],
	} {
		must.Write(t, b.listPath(), text)
		b.want(what, []int{0, 1, 2, 3}, 1)
	}
}

// TestRefused: a list of another game, of a newer program, or what is no list is not replaced, even if it is not
// believed; one of an older program stays until a file is finished.
func TestRefused(t *testing.T) {
	const older = "{\n  \"format\": \"grenier-export\",\n  \"version\": 1,\n"
	for text, want := range map[string]error{
		"Dear diary": corrupt.ErrForeign,
		"{\n  \"format\": \"grenier-site\",\n  \"version\": 2\n}\n":         corrupt.ErrForeign,
		"{\n  \"format\": \"grenier-export\",\n  \"version\": 3,\n":         corrupt.ErrVersion,
		older + "  \"game\": \"swap\"}":                                     errOther,
		older + "  \"files\": []\n}\n":                                      errOther,
		older + "  \"game\": \"awari\", \"rules\": \"awari\", \"pits\": 4}": nil,
	} {
		b := newBench(t)
		must.Write(t, b.listPath(), []byte(text))
		should.Be(t, must.Err(b.open(identity)), want, "%s", text)
		should.Equal(t, string(must.Read(t, b.listPath())), text, "the list")
		should.Equal(t, len(b.told) == 1, want == nil, "%s: told %q", text, b.told)
	}
}

// TestWhole: a list is of its game alone; reading what is there ends with the context.
func TestWhole(t *testing.T) {
	b := newBench(t)
	b.want("all", []int{0, 1, 2}, 0)
	should.Be(t, must.Err(b.open(manifest.Identity{Game: "awari", Rules: "strict", Pits: 4})), errOther, "another game")
	f := listed.File{File: name(2), Seeds: 2, Source: "cc"}
	kept, err := must.Get(b.open(identity))(t).Keeps(must.Ended(t), &f, func(_, _ uint64) {})
	should.Not(t, kept || !errors.Is(err, context.Canceled), "kept %v, %v", kept, err)
}

// TestCrash cuts the power at each operation while a directory is brought up to date after layer 1 was replaced.
// What is left resumes, and what the list says is finished is.
func TestCrash(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	kept := map[int]int{}
	for k := 1; ; k++ {
		b := newBench(t)
		b.sources = b.sources[:2]
		disk := crashfs.New()
		restore := disk.Intercept(b.dir)
		must.OK(t, must.Err(b.make()))
		b.sources[1] = "xx"
		disk.CrashAt(disk.Ops() + k)
		_, err := b.make()
		restore()
		for range 5 {
			left := disk.PowerCut(random).Contents()
			must.OK(t, errors.Join(os.RemoveAll(b.dir), os.Mkdir(b.dir, 0o755)))
			for path, text := range left {
				must.Write(t, path, text)
			}
			restore := crashfs.New().Intercept(b.dir)
			kept[2-len(must.Get(b.make())(t))]++
			b.want("again", nil, 0)
			restore()
		}
		if err == nil {
			break
		}
	}
	should.Not(t, len(kept) != 2 || kept[1] == 0 || kept[2] == 0, "files kept: %v", kept) // without the new file 1, and with it
}

// TestFullDisk: without room it ends with that error, and goes on later with what was finished.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	disk := crashfs.New()
	defer disk.Intercept(b.dir)()
	for room := int64(1); room < 1<<14; room *= 2 {
		disk.Limit(room)
		should.Be(t, must.Err(b.make()), syscall.ENOSPC, "%d bytes", room)
	}
	disk.Limit(-1)
	b.want("with room", []int{2}, 0)
}
