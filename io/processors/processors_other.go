//go:build !linux

package processors

// current knows nothing: time of processors is told on Linux only.
func current() (usage, bool) { return usage{}, false }

// Cores is not known.
func Cores() int { return 0 }
