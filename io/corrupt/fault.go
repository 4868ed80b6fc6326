package corrupt

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// ErrFault reports bytes that an open file should have.
var ErrFault = errors.New("cannot be read: truncated while open, or a disk error")

// Guard calls read, which accesses a mapped file. It returns ErrFault if the operating
// system cannot provide the bytes (SIGBUS), which otherwise ends the program.
func Guard(read func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, fault := r.(interface {
				runtime.Error
				Addr() uintptr
			}); !fault {
				panic(r)
			}
			err = ErrFault
		}
	}()
	read()
	return nil
}
