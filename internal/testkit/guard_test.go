//go:build linux || darwin || freebsd || netbsd || openbsd

package testkit_test

import (
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"grenier/internal/testkit/guard"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestFences reads one byte beyond either end and expects a fault; one byte within is a canary.
func TestFences(t *testing.T) {
	r := guard.New[uint8](t, 1000)
	end, start := r.At(guard.High, 5), r.At(guard.Low, 5)
	must.Hold(t, len(end) == 5 && cap(end) == 5 && len(start) == 5 && cap(start) == 5, "wrong lengths")
	end[4], start[0] = 1, 2
	for name, p := range map[string]unsafe.Pointer{
		"end":   unsafe.Add(unsafe.Pointer(&end[4]), 1),
		"start": unsafe.Add(unsafe.Pointer(&start[0]), -1),
	} {
		should.Hold(t, faults((*uint8)(p)), "%s: the fence can be read", name)
	}
	for _, end := range guard.Ends {
		copied := r.Copy(end, []uint8{1, 2, 3})
		should.Not(t, !slices.Equal(copied, []uint8{1, 2, 3}) || !r.Intact(), "copy %v, canaries intact: %v", copied, r.Intact())
		r.At(end, 4)[map[guard.End]int{guard.Low: 3, guard.High: 0}[end]]++
		should.Not(t, r.Intact(), "a byte written beside a copy passes")
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
