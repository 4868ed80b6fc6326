//go:build !linux

package memory

// Huge does nothing where the system has no such advice.
func Huge([]byte) {}
