//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"io/fs"
	"syscall"
)

// inodeOf returns the number of a file in its file system.
func inodeOf(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
