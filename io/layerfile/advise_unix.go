//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package layerfile

import "golang.org/x/sys/unix"

func advise(data []byte, a Access) error {
	advice := [...]int{
		Normal:     unix.MADV_NORMAL,
		Sequential: unix.MADV_SEQUENTIAL,
		Random:     unix.MADV_RANDOM,
	}
	return unix.Madvise(data, advice[a])
}
