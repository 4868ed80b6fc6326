package doctor

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"grenier/kernels/cpu"
)

// judgement is a verdict about one subject, with reasons.
type judgement struct {
	verdict Verdict
	texts   []string
}

// say adds a text.
func (j *judgement) say(format string, args ...any) {
	j.texts = append(j.texts, fmt.Sprintf(format, args...))
}

// warn adds a text that makes the verdict a warning at least.
func (j *judgement) warn(format string, args ...any) {
	j.verdict = worse(j.verdict, Warning)
	j.say(format, args...)
}

// judges judge each subject, in the order of the findings.
var judges = []struct {
	about string
	judge func(*Report, *judgement)
}{
	{"kernels", (*Report).judgeKernels}, {"cores", (*Report).judgeCores}, {"memory", (*Report).judgeMemory}, {"limits", (*Report).judgeLimits},
	{"disk", (*Report).judgeDisk}, {"files", (*Report).judgeFiles}, {"clock", (*Report).judgeClock},
}

// judgeKernels: portable kernels are several times slower.
func (r *Report) judgeKernels(j *judgement) {
	k := &r.Kernels
	j.say("%s of %s, on %s", k.Chosen, strings.Join(k.Families, ", "), k.CPU)
	if k.Chosen != k.Families[len(k.Families)-1] {
		j.say("it is not the last one: GRENIER_KERNEL asks for it, or the CPU is slow at the others")
	}
	if k.Chosen == cpu.Generic.String() {
		j.warn("portable code is several times slower than kernels for a CPU")
	}
}

// quotaSlack is how many more processors than the quota allows a process may use before it is
// held up often.
const quotaSlack = 1.5

// busy is the share of the processors from which on it matters that others use them.
const busy = 0.1

// judgeCores: workers without a processor hold up the others.
func (r *Report) judgeCores(j *judgement) {
	c := &r.Cores
	j.say("%s, %d used by default", english.Plural(c.Usable, "processor", ""), c.Used)
	if c.Quota > 0 {
		j.say("%s allows %.2g at a time", c.Where, c.Quota)
		if float64(c.Used) > math.Ceil(c.Quota)*quotaSlack {
			j.warn("use --threads %.0f", math.Ceil(c.Quota))
		}
	}
	if c.Used > c.Usable {
		j.warn("GOMAXPROCS asks for more than there are")
	}
	if c.Others != nil && *c.Others >= busy*float64(c.Machine) {
		j.warn("%.1f of %d cores busy", *c.Others, c.Machine)
	}
}

// leastAvailable is the share of the memory that should not be in use by others.
const leastAvailable = 0.5

// judgeMemory: memory of others cannot be taken, and without huge pages rows are slow to reach.
func (r *Report) judgeMemory(j *judgement) {
	m := &r.Memory
	if m.Limit == 0 {
		j.say("not reported by the system")
		return
	}
	j.say("%s has %s", m.Where, humanize.IBytes(m.Limit))
	if m.Available > 0 {
		j.say("%s of the machine not in use", humanize.IBytes(m.Available))
		if float64(m.Available) < leastAvailable*float64(m.Limit) {
			j.warn("others have the rest: allow less (--memory)")
		}
	}
	if m.HugePages == "never" {
		j.warn("no huge pages: echo madvise >/sys/kernel/mm/transparent_hugepage/enabled")
	}
}

// leastOpen is more files than a run has open at a time.
const leastOpen = 256

// judgeLimits: a run has all layers open and mapped, and writes large files.
func (r *Report) judgeLimits(j *judgement) {
	l := r.Limits
	if l == nil {
		j.say("not reported by the system")
		return
	}
	switch {
	case l.OpenFiles == nil:
		j.say("any number of open files")
	case *l.OpenFiles < leastOpen:
		j.warn("%d open files: allow %d (ulimit -n)", *l.OpenFiles, leastOpen)
	default:
		j.say("%s open files", humanize.Comma(int64(*l.OpenFiles)))
	}
	if l.FileSize != nil {
		j.warn("files of %s at most (ulimit -f)", humanize.IBytes(*l.FileSize))
	}
	if l.AddressSpace != nil {
		j.warn("%s of address space, layer files included (ulimit -v)", humanize.IBytes(*l.AddressSpace))
	}
	if j.verdict == Fine {
		j.say("none on files and address space")
	}
}

// distant are file systems that another machine, or another program, serves.
var distant = []string{"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "webdav"}

const (
	leastFree  = 10 << 30 // bytes that a run of any size should have
	leastSpeed = 50e6     // bytes a second below which a disk holds up the rest
)

// judgeDisk: room, speed, and whether files survive a reboot.
func (r *Report) judgeDisk(j *judgement) {
	d := &r.Disk
	where := d.Path
	if d.System != "" {
		where += " is on " + d.System
	}
	j.say("%s", where)
	if d.Free != nil {
		j.say("%s free", humanize.IBytes(*d.Free))
		if *d.Free < leastFree {
			j.warn("that is little")
		}
	}
	if d.Write > 0 {
		rate := func(bytes float64) string { return humanize.IBytes(uint64(bytes)) + "/s" }
		j.say("writes %s, reads %s, in pieces of 64 KiB %s", rate(d.Write), rate(d.Read), rate(d.Random))
		if min(d.Write, d.Read, d.Random) < leastSpeed {
			j.warn("that is slow")
		}
	}
	switch {
	case d.System == "tmpfs" || d.System == "ramfs":
		j.warn("it takes memory, and all is gone after a reboot")
	case slices.Contains(distant, d.System) || strings.HasPrefix(d.System, "fuse."):
		j.warn("a server decides about locks and about what survives a power cut")
	}
}

// judgeFiles: features that runs rely on must work; locks that end with the process are missing on
// some systems.
func (r *Report) judgeFiles(j *judgement) {
	var works []string
	for _, f := range r.Files {
		switch {
		case f.Error == "":
			works = append(works, f.Name)
		case f.needed:
			j.verdict = Bad
			j.say("%s: %s", f.Name, f.Error)
		case f.unsafe && runtime.GOOS != "windows": // there a lock file has to do
			j.warn("no %s%s", f.Name, f.without)
		default:
			j.say("no %s%s", f.Name, f.without)
		}
	}
	if works != nil {
		j.texts = append([]string{strings.Join(works, ", ") + " work"}, j.texts...)
	}
}

// mostSkew is by how many seconds the clock of a file system may differ.
const mostSkew = 2

// judgeClock: times of logs and reports are compared with times of files and of other machines.
func (r *Report) judgeClock(j *judgement) {
	c := &r.Clock
	j.say("%s", c.Now.Format("2006-01-02 15:04:05 MST"))
	if c.Source != "" {
		j.say("source %s", c.Source)
	}
	if c.Synchronized != nil {
		if *c.Synchronized {
			j.say("synchronized")
		} else {
			j.say("not synchronized, as far as the kernel knows")
		}
	}
	if math.Abs(c.Skew) > mostSkew {
		j.warn("new files are %.0f s away from it: status will be late or wrong", c.Skew)
	}
}
