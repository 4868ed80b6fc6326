package classes

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/io/vfs/crashfs"
	"grenier/layers/swap"
	"grenier/pipeline/swap/bfs"
)

func onDisk(dir string) bfs.Options {
	return bfs.Options{Memory: plenty, Workers: 2, Dir: dir}
}

// TestDisk compares searches on disk with searches in memory.
func TestDisk(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 3}, {2, 4}, {3, 3}, {5, 2}} {
		want := mustSearch(t, size[0], size[1], options(1))
		dir := t.TempDir()
		for range 2 { // the second time all is there already
			got := mustSearch(t, size[0], size[1], onDisk(dir))
			checkResult(t, got, want.Depths)
			if !slices.Equal(got.Classes, want.Classes) {
				t.Errorf("%v: classes %v, want %v", size, got.Classes, want.Classes)
			}
		}
	}
}

// openWork opens the directory of a work file.
func openWork(t *testing.T, path string) vfs.Dir {
	t.Helper()
	d, err := vfs.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestManyRunsOnDisk searches with little memory on disk, where runs that were
// merged leave room for others.
func TestManyRunsOnDisk(t *testing.T) {
	want := mustSearch(t, 2, 5, options(1)).Depths
	g := mustGrid(t, 2, 5)
	dir := t.TempDir()
	d, c, err := openDisk(openWork(t, dir), g)
	if err != nil {
		t.Fatal(err)
	}
	r, err := little(t, g, options(2)).in(t.Context(), d, c)
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, r, want)
	info, err := os.Stat(filepath.Join(dir, blocksName))
	if err != nil || info.Size() > 4<<20 {
		t.Errorf("%v, %v: the blocks take more room than a few runs", info, err)
	}
}

// TestResume interrupts a search in every depth and lets it go on.
func TestResume(t *testing.T) {
	want := mustSearch(t, 3, 3, options(1))
	dir := t.TempDir()
	for depth := range want.Depths {
		ctx, cancel := context.WithCancel(t.Context())
		o, first := onDisk(dir), -1
		o.Workers = 1
		o.Progress = func(p bfs.Progress) {
			if p.Depth == depth {
				cancel()
			}
			if first < 0 {
				first = p.Depth
			}
			if p.Begun > p.Share || (p.Begun > 0) != (first > 0) {
				t.Errorf("%+v in a search that begins with depth %d", p, first)
			}
		}
		_, err := Search(ctx, mustGrid(t, 3, 3), o)
		cancel()
		// The last report of a depth comes when nothing is left to be stopped.
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if first > depth || first < depth-1 {
			t.Errorf("interrupted in depth %d, which begins with %d", depth, first)
		}
	}
	got := mustSearch(t, 3, 3, onDisk(dir))
	checkResult(t, got, want.Depths)
	if !slices.Equal(got.Classes, want.Classes) {
		t.Errorf("classes %v, want %v", got.Classes, want.Classes)
	}
}

// interrupted leaves a search that is half done and returns its directory.
func interrupted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := onDisk(dir)
	o.Progress = func(p bfs.Progress) {
		if p.Depth == 9 {
			cancel()
		}
	}
	if _, err := Search(ctx, mustGrid(t, 3, 3), o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return dir
}

// TestDamage changes a byte of each file, and cuts each short: the search finds
// that, or does not need what was changed; it never counts wrongly.
func TestDamage(t *testing.T) {
	want := mustSearch(t, 3, 3, options(1)).Depths
	for _, name := range []string{blocksName, checkpointName} {
		found := 0
		for _, damage := range []func(b []byte) []byte{
			func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
			func(b []byte) []byte { b[0] ^= 1; return b },
			func(b []byte) []byte { b[len(b)-1] ^= 128; return b },
			func(b []byte) []byte { return b[:len(b)/2] },
			func([]byte) []byte { return nil },
		} {
			dir := interrupted(t)
			path := filepath.Join(dir, rundir.WorkName, name)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(data), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := Search(t.Context(), mustGrid(t, 3, 3), onDisk(dir))
			switch {
			case err == nil && name == blocksName && slices.Equal(r.Depths, want):
			case errors.Is(err, corrupt.ErrCorrupt):
				found++
			default:
				t.Errorf("%s: %v, %v", name, r, err)
			}
		}
		if found == 0 {
			t.Errorf("%s: no damage was found", name)
		}
	}
}

// TestOtherBlocks gives blocks entries that do not belong to them, with checksums
// that do.
func TestOtherBlocks(t *testing.T) {
	for name, change := range map[string]func(c *checkpoint){
		"another first key": func(c *checkpoint) { c.newest[0].first++ },
		"fewer keys":        func(c *checkpoint) { c.newest[0].keys--; c.newest[1].keys++ },
	} {
		g := mustGrid(t, 1, 4)
		l, m := packed(t, []uint64{1, 2, 3})
		data, err := m.get(l.extents(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		d, _, err := openDisk(openWork(t, dir), g)
		if err != nil {
			t.Fatal(err)
		}
		extents, err := d.put(slices.Concat(data, []byte{5, 1}), []int{len(data), 2})
		if err != nil {
			t.Fatal(err)
		}
		c := &checkpoint{rows: 1, cols: 4, newest: list{{first: 1, keys: 3, at: extents[0]}, {first: 5, keys: 1, at: extents[1]}}}
		change(c)
		s := little(t, g, options(1))
		if _, err := s.in(t.Context(), d, c); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDirErrors checks directories of other searches, in use, and of somebody
// else.
func TestDirErrors(t *testing.T) {
	dir := interrupted(t)
	if _, err := Search(t.Context(), mustGrid(t, 1, 9), onDisk(dir)); !errors.Is(err, rundir.ErrOtherRun) {
		t.Errorf("another grid: %v", err)
	}
	if _, err := bfs.Search(t.Context(), mustGrid(t, 3, 3), onDisk(dir)); !errors.Is(err, rundir.ErrOtherRun) {
		t.Errorf("a search of all states here: %v", err)
	}
	plain := t.TempDir()
	if _, err := bfs.Search(t.Context(), mustGrid(t, 3, 3), onDisk(plain)); err != nil {
		t.Fatal(err)
	}
	if _, err := Search(t.Context(), mustGrid(t, 3, 3), onDisk(plain)); !errors.Is(err, rundir.ErrOtherRun) {
		t.Errorf("a search of all states: %v", err)
	}
	o, tried := onDisk(dir), false
	o.Progress = func(bfs.Progress) {
		if tried {
			return
		}
		tried = true
		_, err := Search(context.Background(), mustGrid(t, 3, 3), onDisk(dir))
		if _, ok := errors.AsType[*rundir.LockedError](err); !ok {
			t.Errorf("in use: %v", err)
		}
	}
	o.Workers = 1
	if _, err := Search(t.Context(), mustGrid(t, 3, 3), o); err != nil {
		t.Error(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "letter.txt"), []byte("dear"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Search(t.Context(), mustGrid(t, 3, 3), onDisk(foreign)); !errors.Is(err, corrupt.ErrForeign) {
		t.Errorf("somebody else's: %v", err)
	}
}

// TestRoom checks that a disk with too little room is refused before anything is
// made there, and that one with enough is not.
func TestRoom(t *testing.T) {
	o := onDisk(filepath.Join(t.TempDir(), "run"))
	o.Free = func(string) (uint64, error) { return 60_000, nil }
	_, err := Search(t.Context(), mustGrid(t, 3, 3), o)
	if refused, ok := errors.AsType[*bfs.DiskError](err); !ok || refused.Need <= refused.Free {
		t.Errorf("60,000 bytes: %v", err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a refusal: %v", err)
	}
	o.Free = func(string) (uint64, error) { return 1 << 20, nil }
	mustSearch(t, 3, 3, o)
	size := int64(0)
	entries, err := os.ReadDir(filepath.Join(o.Dir, rundir.WorkName))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if err != nil || size > diskBytes*362880/16 {
		t.Errorf("%d bytes are on disk, %v", size, err)
	}
}

// searchOn searches in a file system, with little memory.
func searchOn(t *testing.T, files *crashfs.FS, g *swap.Grid) (*Result, error) {
	d, c, err := openDisk(files.Dir("work"), g)
	if err != nil {
		return nil, err
	}
	return little(t, g, options(1)).in(t.Context(), d, c)
}

// TestCrash crashes in each operation on files: the process is killed, or the power
// goes; and each time the search goes on, and loses one depth at most.
func TestCrash(t *testing.T) {
	g := mustGrid(t, 1, 5)
	want := mustSearch(t, 1, 5, options(1)).Depths
	done := 0 // depths of the checkpoint before operation k
	for k := 1; ; k++ {
		files := crashfs.New()
		files.CrashAt(k)
		r, err := searchOn(t, files, g)
		if err == nil {
			checkResult(t, r, want)
			break
		}
		if !errors.Is(err, crashfs.ErrCrashed) {
			t.Fatalf("operation %d: %v", k, err)
		}
		random := rand.New(rand.NewPCG(uint64(k), 0))
		for _, after := range []*crashfs.FS{files.PowerCut(random), files.PowerCut(random), files.Kill()} {
			_, c, err := openDisk(after.Dir("work"), g)
			if err != nil {
				t.Fatalf("operation %d: %v", k, err)
			}
			if c != nil {
				if len(c.states) < done {
					t.Errorf("operation %d: %d depths are left, %d were safe", k, len(c.states), done)
				}
				done = max(done, len(c.states)-1)
			}
			r, err := searchOn(t, after.Kill(), g)
			if err != nil {
				t.Fatalf("after operation %d: %v", k, err)
			}
			checkResult(t, r, want)
		}
	}
	if done < len(want)-2 {
		t.Errorf("crashes up to depth %d only", done)
	}
}

// TestFullDisk searches on a disk that gets full, and goes on when there is room.
func TestFullDisk(t *testing.T) {
	g := mustGrid(t, 2, 4)
	want := mustSearch(t, 2, 4, options(1)).Depths
	files := crashfs.New()
	files.Limit(3000)
	if _, err := searchOn(t, files, g); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("a disk of 3,000 bytes: %v", err)
	}
	after := files.Kill()
	_, c, err := openDisk(after.Dir("work"), g)
	if err != nil || c == nil || len(c.states) == 0 {
		t.Fatalf("%+v, %v: no depth is left", c, err)
	}
	r, err := searchOn(t, after.Kill(), g)
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, r, want)
}
