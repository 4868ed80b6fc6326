package doctor

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"grenier/kernels/cpu"
)

// judgeKernels: portable kernels are several times slower.
func (r *Report) judgeKernels() (string, Verdict, []string) {
	k := &r.Kernels
	texts := []string{fmt.Sprintf("%s of %s, on %s", k.Chosen, strings.Join(k.Families, ", "), k.CPU)}
	verdict := Fine
	if k.Chosen != k.Families[len(k.Families)-1] {
		texts = append(texts, "it is not the last one: GRENIER_KERNEL asks for it, or the CPU is slow at the others")
	}
	if k.Chosen == cpu.Generic.String() {
		verdict = Warning
		texts = append(texts, "portable code is several times slower than kernels for a CPU")
	}
	return "kernels", verdict, texts
}

// quotaSlack is how many more processors than the quota allows a process may use before it is
// held up often.
const quotaSlack = 1.5

// busy is the share of the processors from which on it matters that others use them.
const busy = 0.1

// judgeCores: workers that have no processor hold up the others.
func (r *Report) judgeCores() (string, Verdict, []string) {
	c := &r.Cores
	texts, verdict := []string{fmt.Sprintf("%s, %d used by default", number(c.Usable, "processor"), c.Used)}, Fine
	if c.Quota > 0 {
		texts = append(texts, fmt.Sprintf("%s allows %.2g at a time", c.Where, c.Quota))
		if float64(c.Used) > math.Ceil(c.Quota)*quotaSlack {
			verdict = Warning
			texts = append(texts, fmt.Sprintf("use --threads %.0f", math.Ceil(c.Quota)))
		}
	}
	if c.Used > c.Usable {
		verdict = Warning
		texts = append(texts, "GOMAXPROCS asks for more than there are")
	}
	if c.Others != nil && *c.Others >= busy*float64(c.Machine) {
		verdict = Warning
		texts = append(texts, fmt.Sprintf("others take %.1f of %d now", *c.Others, c.Machine))
	}
	return "cores", verdict, texts
}

// leastAvailable is the share of the memory that should not be in use by others.
const leastAvailable = 0.5

// judgeMemory: what others have cannot be taken, and without huge pages rows are slow to reach.
func (r *Report) judgeMemory() (string, Verdict, []string) {
	m := &r.Memory
	if m.Limit == 0 {
		return "memory", Fine, []string{"the system does not tell"}
	}
	texts, verdict := []string{fmt.Sprintf("%s has %s", m.Where, humanize.IBytes(m.Limit))}, Fine
	if m.Available > 0 {
		texts = append(texts, humanize.IBytes(m.Available)+" of the machine not in use")
		if float64(m.Available) < leastAvailable*float64(m.Limit) {
			verdict = Warning
			texts = append(texts, "others have the rest: allow less (--memory)")
		}
	}
	if m.HugePages == "never" {
		verdict = Warning
		texts = append(texts, "no huge pages: echo madvise >/sys/kernel/mm/transparent_hugepage/enabled")
	}
	return "memory", verdict, texts
}

// leastOpen is more files than a run has open at a time.
const leastOpen = 256

// judgeLimits: a run has all layers open and mapped, and writes large files.
func (r *Report) judgeLimits() (string, Verdict, []string) {
	l := r.Limits
	if l == nil {
		return "limits", Fine, []string{"the system does not tell"}
	}
	texts, verdict := []string{}, Fine
	warn := func(format string, args ...any) {
		verdict = Warning
		texts = append(texts, fmt.Sprintf(format, args...))
	}
	switch {
	case l.OpenFiles == nil:
		texts = append(texts, "any number of open files")
	case *l.OpenFiles < leastOpen:
		warn("%d open files: allow %d (ulimit -n)", *l.OpenFiles, leastOpen)
	default:
		texts = append(texts, humanize.Comma(int64(*l.OpenFiles))+" open files")
	}
	if l.FileSize != nil {
		warn("files of %s at most (ulimit -f)", humanize.IBytes(*l.FileSize))
	}
	if l.AddressSpace != nil {
		warn("%s of address space, layer files included (ulimit -v)", humanize.IBytes(*l.AddressSpace))
	}
	if verdict == Fine {
		texts = append(texts, "none on files and address space")
	}
	return "limits", verdict, texts
}

// distant are file systems that another machine, or another program, serves.
var distant = []string{"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "webdav"}

const (
	leastFree  = 10 << 30 // bytes that a run of any size should have
	leastSpeed = 50e6     // bytes a second below which a disk holds up the rest
)

// judgeDisk: room, speed, and what is gone after a reboot.
func (r *Report) judgeDisk() (string, Verdict, []string) {
	d := &r.Disk
	texts, verdict := []string{d.Path}, Fine
	warn := func(text string) { verdict, texts = Warning, append(texts, text) }
	if d.System != "" {
		texts[0] += " is on " + d.System
	}
	if d.Free != nil {
		texts = append(texts, humanize.IBytes(*d.Free)+" free")
		if *d.Free < leastFree {
			warn("that is little")
		}
	}
	if d.Write > 0 {
		texts = append(texts, fmt.Sprintf("writes %s/s, reads %s/s, in pieces of 64 KiB %s/s", rate(d.Write), rate(d.Read), rate(d.Random)))
		if min(d.Write, d.Read, d.Random) < leastSpeed {
			warn("that is slow")
		}
	}
	switch {
	case d.System == "tmpfs" || d.System == "ramfs":
		warn("it takes memory, and all is gone after a reboot")
	case slices.Contains(distant, d.System) || strings.HasPrefix(d.System, "fuse."):
		warn("a server decides about locks and about what survives a power cut")
	}
	return "disk", verdict, texts
}

// judgeFiles: what runs rely on must work; locks that end with the process are missing on some
// systems.
func (r *Report) judgeFiles() (string, Verdict, []string) {
	var works, texts []string
	verdict := Fine
	for _, f := range r.Files {
		switch {
		case f.Error == "":
			works = append(works, f.Name)
		case f.needed:
			verdict = Bad
			texts = append(texts, f.Name+": "+f.Error)
		default:
			if f.unsafe && runtime.GOOS != "windows" { // there a lock file has to do
				verdict = worse(verdict, Warning)
			}
			texts = append(texts, "no "+f.Name+f.without)
		}
	}
	if works != nil {
		texts = append([]string{strings.Join(works, ", ") + " work"}, texts...)
	}
	return "files", verdict, texts
}

// mostSkew is by how many seconds the clock of a file system may differ.
const mostSkew = 2

// judgeClock: times of logs and reports are compared with those of files and other machines.
func (r *Report) judgeClock() (string, Verdict, []string) {
	c := &r.Clock
	texts, verdict := []string{c.Now.Format("2006-01-02 15:04:05 MST")}, Fine
	if c.Source != "" {
		texts = append(texts, "source "+c.Source)
	}
	if c.Synchronized != nil {
		if *c.Synchronized {
			texts = append(texts, "synchronized")
		} else {
			texts = append(texts, "not synchronized, as far as the kernel knows")
		}
	}
	if math.Abs(c.Skew) > mostSkew {
		verdict = Warning
		texts = append(texts, fmt.Sprintf("new files are %.0f s away from it: status will be late or wrong", c.Skew))
	}
	return "clock", verdict, texts
}

// number returns n with the name of a thing.
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// rate returns bytes a second as text.
func rate(bytes float64) string { return humanize.IBytes(uint64(bytes)) }
