// Package memory keeps a process within its memory limit.
//
// The limit of a command is for the whole process: its data, the Go runtime, stacks, and
// code. Engines count their data before they begin, and Room says how much data the limit
// allows; Need is its inverse. The rest is not counted: Base, and a sixteenth
// for garbage and the bookkeeping of the runtime. Bound makes the runtime collect garbage before it exceeds that.
//
// Pages of files that the system can reclaim at any time do not count: files mapped for
// reading, and pages that package pagecache has written out.
package memory

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"

	"grenier/kernels/fault"
)

const (
	// Base is the memory of a process beyond its data: some 12 MiB of code, most of which the
	// system can reclaim, and the Go runtime with stacks and small objects.
	Base = 16 << 20
	// program is the part of Base outside the Go runtime's accounting.
	program = 12 << 20
	// garbage is the share of the memory that is left for garbage.
	garbage = 16
)

// Room returns how many bytes of data fit into a process of allowed bytes.
func Room(allowed uint64) uint64 { return allowed - min(allowed, Base+allowed/garbage) }

// Need returns the limit that a process with the given bytes of data needs: the inverse of
// Room.
func Need(data uint64) uint64 {
	data = min(data, math.MaxInt64) // no machine has as much
	return Base + data + (Base+data)/(garbage-1) + 1
}

// Left is Room minus the data already allocated.
func Left(allowed uint64) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	room := Room(allowed)
	return room - min(room, m.HeapAlloc)
}

// Bound makes the Go runtime collect garbage, and give memory back, so that a process
// with no more data than Room stays within the bytes that it is allowed. This costs
// time only when the memory is nearly used up. Undo lifts the bound.
func Bound(allowed uint64) (undo func()) {
	limit := max(int64(min(allowed, math.MaxInt64))-program, Base-program)
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, limit)) // the environment may ask for less
	return func() { debug.SetMemoryLimit(before) }
}

// Outside lowers the limit of the Go runtime, if Bound or the environment has set one, by
// memory that the process takes outside the Go heap. Undo, to be called once, raises
// it again.
func Outside(bytes int64) (undo func()) {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return func() {}
	}
	taken := min(bytes, max(0, limit-(Base-program)))
	debug.SetMemoryLimit(limit - taken)
	return func() { debug.SetMemoryLimit(debug.SetMemoryLimit(-1) + taken) }
}

// Error reports work that needs more memory than is allowed.
type Error struct {
	What          string // the work
	Need, Allowed uint64 // bytes of the process
	Enough        string // a request that would fit, "" if none does or nobody knows
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s needs %s of memory; the limit is %s", e.What, AtLeast(e.Need), atMost(e.Allowed))
	if e.Enough != "" {
		text += " (" + e.Enough + ")"
	}
	return text
}

// Is makes it bad usage: another request, or more memory allowed, avoids it.
func (e *Error) Is(target error) bool { return target == fault.Usage }

// Check fails with an *Error that names the work, what, if a process that is allowed the given
// number of bytes has no room for the data; 0 allows everything.
func Check(what string, data, allowed uint64) error {
	if allowed == 0 || data <= Room(allowed) {
		return nil
	}
	return &Error{What: what, Need: Need(data), Allowed: allowed}
}

// AtLeast returns a number of bytes as text, rounded up: allowing the number printed
// is enough.
func AtLeast(bytes uint64) string { return text(bytes, math.Ceil) }

// atMost returns a number of bytes as text, not more than it is.
func atMost(bytes uint64) string { return text(bytes, math.Floor) }

// text returns a number of bytes in binary units, with one decimal below ten.
func text(bytes uint64, round func(float64) float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	n, unit := float64(bytes), 0
	for ; n >= 1024 && unit < len(units)-1; unit++ {
		n /= 1024
	}
	if n < 10 && unit > 0 {
		return fmt.Sprintf("%.1f %s", round(n*10)/10, units[unit])
	}
	return fmt.Sprintf("%.0f %s", round(n), units[unit])
}
