package layerfile

// Access is how a file is going to be read.
type Access int

// The patterns of access.
const (
	Normal     Access = iota // nothing known
	Sequential               // in order: the operating system reads far ahead
	Random                   // here and there: it does not read ahead
)

// Advise tells the operating system how all decoders of f together are going to
// read. It is a hint and changes no result. It does nothing on systems without
// such hints, or after OpenSparing, which never reads ahead.
func (f *File) Advise(a Access) error { return f.source.advise(a) }
