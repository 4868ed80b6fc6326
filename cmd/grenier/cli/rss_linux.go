package cli

import (
	"bytes"
	"fmt"
	"os"
)

// PeakRSS returns the largest resident memory of this process so far, in bytes, 0 if it is
// not known.
func PeakRSS() uint64 { return memoryLine("VmHWM: %d kB") }

// CurrentRSS returns the resident memory of this process, in bytes.
func CurrentRSS() uint64 { return memoryLine("VmRSS: %d kB") }

// memoryLine returns the bytes in the line of /proc/self/status with that form.
func memoryLine(form string) uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kib uint64
	for line := range bytes.Lines(status) {
		if n, _ := fmt.Sscanf(string(line), form, &kib); n == 1 {
			break
		}
	}
	return kib << 10
}
