package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/pipeline/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const about = "kernels cores memory limits disk files clock"

// TestExamine: all subjects are there, a directory that does not exist yet will do, and nothing is left behind, however it ends.
func TestExamine(t *testing.T) {
	dir := t.TempDir()
	shares := []float64{}
	r := must.Get(Examine(t.Context(), Options{
		Dir: filepath.Join(dir, "not", "yet"), Job: job.Job{Family: cpu.Best(), Progress: func(s job.Step) { shares = append(shares, s.Done) }},
	}))(t)
	var subjects []string
	for _, f := range r.Findings {
		subjects = append(subjects, f.About)
		should.Not(t, f.Text == "" || f.Verdict == "", "%+v", f)
	}
	should.Hold(t, strings.Join(subjects, " ") == about && r.Err() == nil && r.Verdict != Bad, "%+v, %v", r, r.Err())
	should.Hold(t, r.Disk.Path == dir && (r.Disk.Write > 0 && r.Disk.Read > 0 && r.Disk.Random > 0) && r.Cores.Usable >= 1,
		"%+v, %+v", r.Disk, r.Cores)
	should.Hold(t, slices.IsSorted(shares) && len(shares) != 0 && shares[len(shares)-1] == 1, "progress %v", shares)
	must.Empty(t, dir)
	quick := must.Get(Examine(t.Context(), Options{Dir: dir, Job: job.Job{Family: cpu.Generic}, Quick: true}))(t)
	should.Hold(t, quick.Disk.Write == 0 && quick.Kernels.Chosen == "generic" && quick.Findings[0].Verdict == Warning, "%+v", quick)
	should.Be(t, must.Err(Examine(must.Ended(t), Options{Dir: dir, Job: job.Job{Family: cpu.Best()}})), context.Canceled)
	must.Empty(t, dir)
	file := filepath.Join(dir, "file")
	must.Write(t, file, nil)
	should.Not(t, must.Err(Examine(t.Context(), Options{Dir: file, Job: job.Job{Family: cpu.Best()}, Quick: true})) == nil,
		"a file is taken for a directory")
}

// healthy returns what is found on a machine without a fault.
func healthy() *Report {
	free, synchronized, others, files := uint64(100<<30), true, 0.1, uint64(1024)
	r := &Report{
		Kernels: Kernels{CPU: "test", Families: []string{"generic", "avx512"}, Chosen: "avx512"},
		Cores:   Cores{Usable: 8, Used: 8, Others: &others, Machine: 8},
		Memory:  Memory{Limit: 64 << 30, Where: "this machine", Available: 60 << 30, HugePages: "madvise"},
		Limits:  &Limits{OpenFiles: &files},
		Disk:    Disk{Path: "/data", System: "ext4", Free: &free, Write: 1e9, Read: 2e9, Random: 1e9},
		Clock:   Clock{Now: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC), Zone: "UTC", Source: "tsc", Synchronized: &synchronized},
	}
	for _, name := range []string{"new names", "rename"} {
		r.Files = append(r.Files, Feature{Name: name, needed: true})
	}
	r.Files = append(r.Files, Feature{Name: "locks", unsafe: true, without: ": careful"}, Feature{Name: "O_TMPFILE", without: ", which is not needed"})
	return r
}

// TestJudge: each fault is told, where it belongs, and nothing else.
func TestJudge(t *testing.T) {
	some := func(n uint64) *uint64 { return &n }
	for _, tt := range []struct {
		about, words string
		verdict      Verdict
		spoil        func(r *Report)
	}{
		{"kernels", "avx512 of generic, avx512, on test", Fine, func(*Report) {}},
		{"kernels", "not the last one", Fine, func(r *Report) { r.Kernels.Families = append(r.Kernels.Families, "next") }},
		{"kernels", "portable code", Warning, func(r *Report) { r.Kernels.Chosen, r.Kernels.Families = "generic", []string{"generic"} }},
		{"cores", "8 processors, 8 used by default", Fine, func(*Report) {}},
		{"cores", "the cgroup /a allows 1.5 at a time; use --threads 2", Warning, func(r *Report) { r.Cores.Quota, r.Cores.Where = 1.5, "the cgroup /a" }},
		{"cores", "the cgroup /a allows 7.5 at a time", Fine, func(r *Report) { r.Cores.Quota, r.Cores.Where = 7.5, "the cgroup /a" }},
		{"cores", "GOMAXPROCS", Warning, func(r *Report) { r.Cores.Used = 9 }},
		{"cores", "2.0 of 8 cores busy", Warning, func(r *Report) { *r.Cores.Others = 2 }},
		{"cores", "8 processors", Fine, func(r *Report) { r.Cores.Others = nil }},
		{"memory", "this machine has 64 GiB; 60 GiB of the machine not in use", Fine, func(*Report) {}},
		{"memory", "allow less", Warning, func(r *Report) { r.Memory.Available = 20 << 30 }},
		{"memory", "no huge pages", Warning, func(r *Report) { r.Memory.HugePages = "never" }},
		{"memory", "not reported by the system", Fine, func(r *Report) { r.Memory = Memory{} }},
		{"limits", "1,024 open files; none on files", Fine, func(*Report) {}},
		{"limits", "64 open files: allow 256", Warning, func(r *Report) { r.Limits.OpenFiles = some(64) }},
		{"limits", "any number", Fine, func(r *Report) { r.Limits.OpenFiles = nil }},
		{"limits", "files of 1.0 GiB at most", Warning, func(r *Report) { r.Limits.FileSize = some(1 << 30) }},
		{"limits", "address space", Warning, func(r *Report) { r.Limits.AddressSpace = some(1 << 30) }},
		{"limits", "not reported by the system", Fine, func(r *Report) { r.Limits = nil }},
		{"disk", "/data is on ext4; 100 GiB free; writes 954 MiB/s", Fine, func(*Report) {}},
		{"disk", "that is little", Warning, func(r *Report) { r.Disk.Free = some(1 << 30) }},
		{"disk", "that is slow", Warning, func(r *Report) { r.Disk.Random = 1e6 }},
		{"disk", "gone after a reboot", Warning, func(r *Report) { r.Disk.System = "tmpfs" }},
		{"disk", "a server decides", Warning, func(r *Report) { r.Disk.System = "nfs4" }},
		{"disk", "a server decides", Warning, func(r *Report) { r.Disk.System = "fuse.sshfs" }},
		{"disk", "/data; 100 GiB free", Fine, func(r *Report) { r.Disk.System, r.Disk.Write = "", 0 }},
		{"files", "new names, rename, locks, O_TMPFILE work", Fine, func(*Report) {}},
		{"files", "rename: lost", Bad, func(r *Report) { r.Files[1].Error = "lost" }},
		{"files", "no O_TMPFILE, which is not needed", Fine, func(r *Report) { r.Files[3].Error = "none" }},
		{"clock", "2026-11-22 01:02:03 UTC; source tsc; synchronized", Fine, func(*Report) {}},
		{"clock", "not synchronized", Fine, func(r *Report) { *r.Clock.Synchronized = false }},
		{"clock", "new files are -60 s away", Warning, func(r *Report) { r.Clock.Skew = -60 }},
	} {
		r := healthy()
		tt.spoil(r)
		for _, x := range judges {
			j := judgement{verdict: Fine}
			x.judge(r, &j)
			text, want, words := strings.Join(j.texts, "; "), Fine, ""
			if x.about == tt.about {
				want, words = tt.verdict, tt.words
			}
			should.Hold(t, j.verdict == want && strings.Contains(text, words), "%s, %q: %s is %s: %s", tt.about, tt.words, x.about, j.verdict, text)
		}
	}
	r := healthy()
	r.Files[2].Error = "none"
	want := Warning
	if runtime.GOOS == "windows" {
		want = Fine
	}
	j := judgement{verdict: Fine}
	r.judgeFiles(&j)
	should.Hold(t, j.verdict == want && strings.Contains(strings.Join(j.texts, "; "), "no locks: careful"), "%+v", j)
}

// TestErr: what is bad is an error of the right kind.
func TestErr(t *testing.T) {
	r := &Report{Findings: []Finding{{"disk", Warning, ""}, {"files", Bad, ""}}}
	should.Says(t, r.Err(), ErrBad, ": files")
	should.Be(t, r.Err(), fault.Difference)
	for want, pair := range map[Verdict][2]Verdict{Bad: {Bad, Warning}, Warning: {Fine, Warning}, Fine: {Fine, Fine}} {
		should.Hold(t, worse(pair[0], pair[1]) == want && worse(pair[1], pair[0]) == want, "%v: %s", pair, worse(pair[0], pair[1]))
	}
}

// broken is a directory of a file system that does not do what it says.
type broken struct {
	vfs.Dir
	create func(d vfs.Dir, name string) (vfs.File, error)
	rename func(d vfs.Dir, from, to string) error
	sync   error
}

func (b *broken) Create(name string) (vfs.File, error) { return b.create(b.Dir, name) }

func (b *broken) Rename(from, to string) error { return b.rename(b.Dir, from, to) }

func (b *broken) Sync() error { return errors.Join(b.sync, b.Dir.Sync()) }

// foreign is a file that is none of the operating system.
type foreign struct{ vfs.File }

// locking makes another file of the one that is locked.
func locking(other func(vfs.Dir, vfs.File) (vfs.File, error)) broken {
	return broken{create: func(d vfs.Dir, name string) (vfs.File, error) {
		f, err := d.Create(name)
		if name == "locked" && err == nil {
			return other(d, f)
		}
		return f, err
	}}
}

// TestFeatures: file systems that lie are found out.
func TestFeatures(t *testing.T) {
	for name, tt := range map[string]struct {
		dir   broken
		fails string
	}{
		"healthy": {broken{}, ""},
		"one name twice": {broken{create: func(d vfs.Dir, name string) (vfs.File, error) {
			f, err := d.Create(name)
			if errors.Is(err, fs.ErrExist) {
				return d.Edit(name)
			}
			return f, err
		}}, "new names"},
		"no second look at a name": {broken{create: func(d vfs.Dir, name string) (vfs.File, error) {
			f, err := d.Create(name)
			if errors.Is(err, fs.ErrExist) {
				err = fs.ErrPermission
			}
			return f, err
		}}, "new names"},
		"rename does nothing": {broken{rename: func(d vfs.Dir, from, to string) error {
			if ok, _ := vfs.Exists(d, to); ok {
				return d.Remove(from)
			}
			return d.Rename(from, to)
		}}, "rename"},
		"rename writes into the older file": {broken{rename: func(d vfs.Dir, from, to string) error {
			if ok, _ := vfs.Exists(d, to); !ok {
				return d.Rename(from, to)
			}
			data, err := vfs.Read(d, from, 100)
			if err != nil {
				return err
			}
			f, err := d.Edit(to)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(data, 0)
			return errors.Join(err, f.Close(), d.Remove(from))
		}}, "rename"},
		"no sync":          {broken{sync: errors.New("no")}, "rename sync"},
		"no locks":         {locking(func(_ vfs.Dir, f vfs.File) (vfs.File, error) { return foreign{f}, nil }), "locks"},
		"locks for nobody": {locking(func(d vfs.Dir, f vfs.File) (vfs.File, error) { f.Close(); return d.Create("other") }), "locks"},
		"no second file":   {locking(func(d vfs.Dir, f vfs.File) (vfs.File, error) { return f, d.Remove("locked") }), "locks"},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			d := must.Get(vfs.OpenDir(path))(t)
			defer d.Close()
			if tt.dir.Dir = d; tt.dir.create == nil {
				tt.dir.create = vfs.Dir.Create
			}
			if tt.dir.rename == nil {
				tt.dir.rename = vfs.Dir.Rename
			}
			var fails []string
			for _, f := range tryFeatures(&tt.dir, path) {
				if f.Error != "" && (f.Name != "O_TMPFILE") && (f.Name != "locks" || runtime.GOOS != "windows") {
					fails = append(fails, f.Name)
				}
			}
			should.Equal(t, strings.Join(fails, " "), tt.fails, "what fails")
		})
	}
}
