//go:build linux || darwin || freebsd || netbsd || openbsd

package guard

import (
	"runtime/debug"
	"testing"
	"unsafe"
)

// TestFences reads one byte beyond either end and expects a fault.
func TestFences(t *testing.T) {
	r := New[uint8](t, 1000)
	end, start := r.End(5), r.Start(5)
	if len(end) != 5 || cap(end) != 5 || len(start) != 5 || cap(start) != 5 {
		t.Fatal("wrong lengths")
	}
	end[4], start[0] = 1, 2
	for name, p := range map[string]unsafe.Pointer{
		"end":   unsafe.Add(unsafe.Pointer(&end[4]), 1),
		"start": unsafe.Add(unsafe.Pointer(&start[0]), -1),
	} {
		if !faults((*uint8)(p)) {
			t.Errorf("%s: the fence can be read", name)
		}
	}
}

// faults reports whether reading *p crashes.
func faults(p *uint8) (crashed bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { crashed = recover() != nil }()
	sink = *p
	return false
}

var sink uint8
