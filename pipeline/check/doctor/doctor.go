// Package doctor looks at a machine and a directory before a run that takes a night: which
// kernels there are, processors, memory and limits as a container sees them, how fast the disk is
// and how much room it has, the clock, and whether the file system behaves as runs rely on.
//
// Examine looks, and returns facts and their meaning: a Finding for each subject, which is bad if
// a run would fail here, and a warning if it would be slow, or not last the night. It writes in
// the directory, or in its nearest parent that exists, and leaves nothing behind.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"grenier/io/memory"
	"grenier/io/processors"
	"grenier/io/rundir"
	"grenier/io/system"
	"grenier/io/vfs"
	"grenier/kernels/cpu"
	"grenier/kernels/fault"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/job"
)

// Verdict is the meaning of a finding for a run.
type Verdict string

// The verdicts, best first.
const (
	Fine    Verdict = "ok"
	Warning Verdict = "warning"
	Bad     Verdict = "bad"
)

// ErrBad reports that runs would fail here.
var ErrBad = fault.New(fault.Difference, "runs would fail here")

// Options say which directory to look at, and how thoroughly.
type Options struct {
	// Family would be used by runs. Progress tells the shares of the work. Other fields are not used.
	job.Job
	// Dir is the directory of runs. It need not exist. "" is the system's directory for temporary
	// files.
	Dir string
	// Quick leaves out how fast the disk is.
	Quick bool
}

// Report has all facts, and their meaning.
type Report struct {
	Verdict  Verdict   `json:"verdict"` // the worst of all findings
	Findings []Finding `json:"findings"`
	Kernels  Kernels   `json:"kernels"`
	Cores    Cores     `json:"cores"`
	Memory   Memory    `json:"memory"`
	Limits   *Limits   `json:"limits,omitempty"` // nil if the system does not tell
	Disk     Disk      `json:"disk"`
	Files    Features  `json:"files"`
	Clock    Clock     `json:"clock"`
}

// Finding is the verdict about one subject.
type Finding struct {
	About   string  `json:"about"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
}

// Err returns an error that matches ErrBad if runs would fail.
func (r *Report) Err() error {
	var bad []string
	for _, f := range r.Findings {
		if f.Verdict == Bad {
			bad = append(bad, f.About)
		}
	}
	if bad == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrBad, strings.Join(bad, ", "))
}

// Kernels says which kernels there are.
type Kernels struct {
	CPU      string   `json:"cpu"`
	Features []string `json:"features"`
	Families []string `json:"families"`
	Chosen   string   `json:"chosen"`
}

// Cores says how many processors there are, numbers of them if not said otherwise.
type Cores struct {
	Usable int `json:"usable"`     // that this process may run on
	Used   int `json:"gomaxprocs"` // at a time, by default
	// Quota is the number that the cgroup allows at a time on average, 0 if there is no limit.
	Quota float64 `json:"quota"`
	Where string  `json:"quota_of,omitempty"`
	// Others is how many others took while the disk was examined, Machine how many there are;
	// nil and 0 if the system does not tell.
	Others  *float64 `json:"others,omitempty"`
	Machine int      `json:"machine,omitempty"`
}

// Memory is in bytes, 0 if the system does not tell.
type Memory struct {
	Limit     uint64 `json:"limit_bytes"` // of the machine, or of the cgroup
	Where     string `json:"limit_of"`
	Available uint64 `json:"available_bytes"` // of the machine
	HugePages string `json:"huge_pages,omitempty"`
}

// Limits of the process, nil where it has no limit.
type Limits struct {
	OpenFiles    *uint64 `json:"open_files"`
	FileSize     *uint64 `json:"file_bytes"`
	AddressSpace *uint64 `json:"address_space_bytes"`
}

// Disk is where runs are kept.
type Disk struct {
	Path   string  `json:"path"`                  // that was examined
	System string  `json:"file_system,omitempty"` // its kind
	Free   *uint64 `json:"free_bytes,omitempty"`
	// Bytes a second: written and read in order, read in pieces of 64 KiB at random places; 0
	// if they were not measured.
	Write  float64 `json:"write_bytes_per_second"`
	Read   float64 `json:"read_bytes_per_second"`
	Random float64 `json:"random_read_bytes_per_second"`
}

// Clock says whether times can be trusted.
type Clock struct {
	Now          time.Time `json:"now"`
	Zone         string    `json:"zone"`
	Source       string    `json:"source,omitempty"`
	Synchronized *bool     `json:"synchronized,omitempty"`
	Skew         float64   `json:"file_skew_seconds"` // by which times of new files are ahead
}

// Examine looks at everything. It fails if it cannot look, with an error of the operating system.
func Examine(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Verdict: Fine}
	meter := processors.Start()
	if err := r.lookAtDisk(ctx, &o); err != nil {
		return nil, err
	}
	r.lookAtMachine(&o, meter)
	for _, x := range judges {
		j := judgement{verdict: Fine}
		x.judge(r, &j)
		r.Findings = append(r.Findings, Finding{x.about, j.verdict, strings.Join(j.texts, "; ")})
		r.Verdict = worse(r.Verdict, j.verdict)
	}
	return r, nil
}

// worse returns the worse of two verdicts.
func worse(v, w Verdict) Verdict {
	if v == Bad || w == Bad {
		return Bad
	}
	if v == Warning || w == Warning {
		return Warning
	}
	return Fine
}

// lookAtDisk finds out about the directory.
func (r *Report) lookAtDisk(ctx context.Context, o *Options) (err error) {
	temp, remove, err := machine.TempDir(o.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	r.Disk.Path = filepath.Dir(temp)
	r.Disk.System = system.FileSystem(temp)
	free, err := rundir.FreeBytes(temp)
	switch {
	case err == nil:
		r.Disk.Free = &free
	case !errors.Is(err, errors.ErrUnsupported):
		return err
	}
	d, err := vfs.OpenDir(temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	r.Files = tryFeatures(d, temp)
	r.Clock.Skew = skewOf(d)
	if o.Quick || r.Disk.Free != nil && *r.Disk.Free < roomToMeasure {
		return nil
	}
	speed, err := machine.MeasureDisk(ctx, o.Dir, runtime.GOMAXPROCS(0), machine.FileSize, func(share float64) {
		o.Tell(job.Step{Doing: "measuring the disk", Done: share, Total: 1, Unit: job.Shares})
	})
	r.Disk.Write, r.Disk.Read, r.Disk.Random = speed.Write, speed.Read, speed.Random
	return err
}

// roomToMeasure is the room on a disk from which on it is measured, in bytes.
const roomToMeasure = 1 << 30

// skewOf returns by how many seconds the file system is ahead of the clock, 0 if that cannot be
// found out.
func skewOf(d vfs.Dir) float64 {
	const name = "time"
	if err := vfs.Write(d, name, []byte("now")); err != nil {
		return 0
	}
	info, err := d.Lstat(name)
	if err != nil {
		return 0
	}
	return time.Until(info.ModTime()).Seconds()
}

// lookAtMachine finds out about everything else.
func (r *Report) lookAtMachine(o *Options, meter *processors.Meter) {
	r.Kernels = Kernels{CPU: cpu.Name(), Features: cpu.Features(), Chosen: o.Family.String()}
	for _, f := range cpu.Available() {
		r.Kernels.Families = append(r.Kernels.Families, f.String())
	}
	quota := processors.QuotaHere()
	r.Cores = Cores{Usable: runtime.NumCPU(), Used: runtime.GOMAXPROCS(0), Quota: quota.Processors, Where: quota.Where}
	if others, all, known := meter.Others(); known {
		r.Cores.Others, r.Cores.Machine = &others, all
	}
	m := memory.OfMachine()
	r.Memory = Memory{Limit: m.Bytes, Where: m.Where, HugePages: system.HugePages()}
	r.Memory.Available, _ = system.AvailableMemory()
	if l, known := system.LimitsHere(); known {
		r.Limits = &Limits{limit(l.OpenFiles), limit(l.FileSize), limit(l.AddressSpace)}
	}
	clock, now := system.ClockHere(), time.Now()
	r.Clock.Now, r.Clock.Source = now, clock.Source
	r.Clock.Zone, _ = now.Zone()
	if clock.Known {
		r.Clock.Synchronized = &clock.Synchronized
	}
}

// limit returns a limit, nil if it is none.
func limit(n uint64) *uint64 {
	if n == system.Unlimited {
		return nil
	}
	return &n
}
