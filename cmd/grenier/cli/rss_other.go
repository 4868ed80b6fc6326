//go:build !linux

package cli

// PeakRSS returns 0: the peak is known on Linux only.
func PeakRSS() uint64 { return 0 }

// CurrentRSS returns 0: the resident memory is known on Linux only.
func CurrentRSS() uint64 { return 0 }
