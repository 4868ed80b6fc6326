package system

import (
	"math"

	"golang.org/x/sys/unix"
)

// infinity and values above are no limits.
const infinity = math.MaxInt64

// AvailableMemory does not know.
func AvailableMemory() (bytes uint64, known bool) { return 0, false }

// HugePages does not know.
func HugePages() string { return "" }

// ClockHere does not know.
func ClockHere() Clock { return Clock{} }

// FileSystem returns the kind of file system that the directory at path is on, "" if it is not
// known.
func FileSystem(path string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}
