// Package fault tells errors apart by what a user can do about them. Where an error is
// made its package says of which kind it is, and a program, which decides on its exit
// status, need not know the errors of every package:
//
//	var ErrPits = fault.New(fault.Usage, "number of pits")
//
//	errors.Is(err, fault.Usage) // true for all that wrap ErrPits
//
// An error type is of a kind if its method Is says so. An error without a kind is a
// failure; damage on disk has its own way, package corrupt. The package lies below all
// others because all of them can fail.
package fault

// Kind is a kind of errors, which are matched with errors.Is. It is never returned itself.
type Kind string

const (
	// Usage is the kind of what another request avoids: a bad value, an unknown name,
	// something that is not there to be asked for, more than the memory allowed.
	Usage Kind = "bad usage"
	// Difference is the kind of what a check finds wrong in data that are intact.
	Difference Kind = "difference"
	// Pause is the kind of an end before the work is done that somebody asked for beforehand: a
	// time that has come, a layer that is sealed. The same request continues.
	Pause Kind = "paused"
)

// Error makes a Kind a target of errors.Is.
func (k Kind) Error() string { return string(k) }

// New returns an error of a kind with the given text, which is told apart from all others
// like one of errors.New.
func New(kind Kind, text string) error { return &fault{kind, text} }

type fault struct {
	kind Kind
	text string
}

func (f *fault) Error() string { return f.text }

// Is reports whether target is the kind.
func (f *fault) Is(target error) bool { return target == f.kind }
