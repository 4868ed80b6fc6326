//go:build darwin || linux

package system

import "golang.org/x/sys/unix"

// LimitsHere returns the limits of this process. They are not known where there are none.
func LimitsHere() (l Limits, known bool) {
	for _, one := range []struct {
		resource int
		to       *uint64
	}{{unix.RLIMIT_NOFILE, &l.OpenFiles}, {unix.RLIMIT_FSIZE, &l.FileSize}, {unix.RLIMIT_AS, &l.AddressSpace}} {
		var r unix.Rlimit
		if err := unix.Getrlimit(one.resource, &r); err != nil {
			return Limits{}, false
		}
		*one.to = r.Cur
		if r.Cur >= infinity {
			*one.to = Unlimited
		}
	}
	return l, true
}
