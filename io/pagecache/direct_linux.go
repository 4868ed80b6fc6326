package pagecache

import (
	"os"

	"golang.org/x/sys/unix"
)

func direct(f *os.File, on bool) error {
	err := error(nil)
	control(f, func(fd int) {
		var flags int
		if flags, err = unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil {
			return
		}
		flags &^= unix.O_DIRECT
		if on {
			flags |= unix.O_DIRECT
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	})
	return err
}
