package memory

// Machine is how much memory there is for a process.
type Machine struct {
	Bytes uint64 // 0 if the system does not say
	Where string // whose limit that is, in words
}

// OfMachine returns the memory of the machine or, if that is less, the least limit of the
// cgroups that this process is in.
func OfMachine() Machine {
	all := Machine{physical(), "this machine"}
	if group := ofGroup(); group.Bytes > 0 && (all.Bytes == 0 || group.Bytes < all.Bytes) {
		return group
	}
	return all
}

// share: by default a process leaves 1/share of the memory of a machine to the system
// and to files.
const share = 8

// Usual returns the default of a process: usual, or less on a machine that does not
// have that much.
func (m Machine) Usual(usual uint64) uint64 {
	if m.Bytes == 0 || usual <= m.Bytes {
		return usual
	}
	return m.Bytes - m.Bytes/share
}

// Has reports whether there are as many bytes of memory, as far as is known.
func (m Machine) Has(bytes uint64) bool { return m.Bytes == 0 || bytes <= m.Bytes }

// String says in words how much there is.
func (m Machine) String() string { return m.Where + " has " + atMost(m.Bytes) }
