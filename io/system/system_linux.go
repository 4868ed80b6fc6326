package system

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// infinity and values above are no limits.
const infinity = Unlimited

// AvailableMemory returns the bytes that programs can still take without others being swapped
// out.
func AvailableMemory() (bytes uint64, known bool) {
	return available(read("/proc/meminfo"))
}

// available reads /proc/meminfo.
func available(text string) (uint64, bool) {
	for line := range strings.Lines(text) {
		var kib uint64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10, true
		}
	}
	return 0, false
}

// HugePages returns when memory is given in huge pages: "always", "madvise" (on request, which the
// engines make) or "never"; "" if that is not known.
func HugePages() string { return chosen(read("/sys/kernel/mm/transparent_hugepage/enabled")) }

// chosen returns the word in brackets.
func chosen(text string) string {
	_, after, _ := strings.Cut(text, "[")
	word, _, found := strings.Cut(after, "]")
	if !found {
		return ""
	}
	return word
}

// ClockHere returns how the clock is kept.
func ClockHere() Clock {
	c := Clock{Source: strings.TrimSpace(read("/sys/devices/system/clocksource/clocksource0/current_clocksource"))}
	var now unix.Timex // asks, changes nothing
	state, err := unix.Adjtimex(&now)
	c.Known, c.Synchronized = err == nil, err == nil && state != unix.TIME_ERROR
	return c
}

// FileSystem returns the kind of file system that the directory at path is on, "" if it is not
// known.
func FileSystem(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return ""
	}
	return mounted(read("/proc/self/mountinfo"), path)
}

// mounted returns the kind of the file system mounted nearest above path, of the last one if there
// are several, from /proc/self/mountinfo (proc(5)).
func mounted(mounts, path string) (kind string) {
	longest := -1
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		mount, system := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(system) == 0 {
			continue
		}
		at := unescape(mount[4])
		if inside := at == "/" || path == at || strings.HasPrefix(path, at+"/"); inside && len(at) >= longest {
			kind, longest = system[0], len(at)
		}
	}
	return kind
}

// unescape returns a path of mountinfo, where blanks are octal.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// read returns the contents of a file of the system, nothing if it cannot be read.
func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(bytes.TrimRight(text, "\x00"))
}
