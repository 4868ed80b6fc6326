//go:build !linux

package memory

// physical returns 0: the memory of the machine is known on Linux only.
func physical() uint64 { return 0 }

// ofGroup returns nothing: there are cgroups on Linux only.
func ofGroup() Machine { return Machine{} }
