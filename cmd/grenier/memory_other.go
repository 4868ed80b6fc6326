//go:build !linux

package main

// peakRSS returns 0: the peak is known on Linux only.
func peakRSS() uint64 { return 0 }

// currentRSS returns 0: the memory in use is known on Linux only.
func currentRSS() uint64 { return 0 }
