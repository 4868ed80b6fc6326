package main

import (
	"bytes"
	"fmt"
	"os"
)

// peakRSS returns the largest resident memory of this process so far, in bytes,
// 0 if the system does not say.
func peakRSS() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kib uint64
	for line := range bytes.Lines(status) {
		if n, _ := fmt.Sscanf(string(line), "VmHWM: %d kB", &kib); n == 1 {
			break
		}
	}
	return kib << 10
}
