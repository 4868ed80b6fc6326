//go:build !(darwin || linux)

package system

// LimitsHere does not know.
func LimitsHere() (l Limits, known bool) { return Limits{}, false }

// AvailableMemory does not know.
func AvailableMemory() (bytes uint64, known bool) { return 0, false }

// HugePages does not know.
func HugePages() string { return "" }

// ClockHere does not know.
func ClockHere() Clock { return Clock{} }

// FileSystem does not know.
func FileSystem(string) string { return "" }
