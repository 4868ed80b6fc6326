//go:build !linux

package halfboard

// adviseHuge does nothing where the system has no such advice.
func adviseHuge([]byte) {}
