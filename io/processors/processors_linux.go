package processors

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of /proc/stat, the same on all machines that Go runs on (USER_HZ).
const tick = time.Second / 100

// current returns the time of processors since the machine has started.
func current() (u usage, known bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u, false
	}
	if u, known = parse(string(text)); !known {
		return u, false
	}
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return u, false
	}
	u.ours = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return u, true
}

// topology has a folder for each processor.
const topology = "/sys/devices/system/cpu"

// Cores returns how many cores the processors belong to that this process may use: some share one. It is 0 if the
// system does not say.
func Cores() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0
	}
	cores := map[string]bool{}
	for cpu, left := 0, set.Count(); left > 0; cpu++ {
		if !set.IsSet(cpu) {
			continue
		}
		left--
		text, err := os.ReadFile(fmt.Sprintf("%s/cpu%d/topology/thread_siblings_list", topology, cpu))
		if err != nil {
			return 0
		}
		cores[strings.TrimSpace(string(text))] = true
	}
	return len(cores)
}

// idle are the fields of /proc/stat in which nobody uses a processor, and those that are counted
// in others: idle, waiting for disks, guests (proc(5)).
var idle = map[int]bool{4: true, 5: true, 9: true, 10: true}

// parse reads /proc/stat.
func parse(text string) (u usage, known bool) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || !strings.HasPrefix(fields[0], "cpu"):
		case fields[0] == "cpu":
			for i, field := range fields {
				n, err := strconv.ParseInt(field, 10, 64)
				if err == nil && !idle[i] {
					u.all += time.Duration(n) * tick
					known = true
				}
			}
		default:
			u.processors++
		}
	}
	return u, known && u.processors > 0
}
