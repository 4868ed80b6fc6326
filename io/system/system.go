// Package system asks the operating system for facts that a process is not told otherwise: limits of
// the process, memory that is left, huge pages, how the clock is kept, and which file system a
// directory is on. Facts that it does not tell are unknown here: Linux tells most.
package system

// Unlimited stands for no limit.
const Unlimited = ^uint64(0)

// Limits has the limits of this process (ulimit), Unlimited where there is none.
type Limits struct {
	OpenFiles    uint64 // number of files that it has open at a time
	FileSize     uint64 // bytes of a file that it writes
	AddressSpace uint64 // bytes of memory with all files that are mapped
}

// Clock is how the clock of the machine is kept.
type Clock struct {
	Source       string // the clock of the system, "" if it does not tell
	Synchronized bool   // with other clocks
	Known        bool   // Synchronized is known
}
