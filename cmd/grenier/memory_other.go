//go:build !linux

package main

// peakRSS returns 0: the peak is known on Linux only.
func peakRSS() uint64 { return 0 }
