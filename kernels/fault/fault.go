// Package fault classifies errors by what a user can do about them. The package that makes
// an error states its kind, so that a program can choose its exit status without a list of
// the errors of every package:
//
//	var ErrPits = fault.New(fault.Usage, "number of pits")
//
//	errors.Is(err, fault.Usage) // true for all that wrap ErrPits
//
// An error type is of a kind if its method Is says so. An error without a kind is a
// failure; damage on disk has a package of its own, corrupt. This package lies below all
// others because all of them can fail.
package fault

// Kind is a kind of errors, which are matched with errors.Is. It is never returned itself.
type Kind string

const (
	// Usage errors are avoided by another request: a bad value, an unknown name,
	// something that does not exist, more than the memory allowed.
	Usage Kind = "bad usage"
	// Difference errors report wrong contents of intact data, found by a check.
	Difference Kind = "difference"
	// Pause is the kind of an end before the work is done that somebody asked for beforehand: a
	// time that has come, a layer that is sealed. Or work cannot begin yet, because other work comes first. The same
	// request continues, later.
	Pause Kind = "paused"
	// Missing is the kind of a question that has no answer yet: others have not done their part of
	// the work. The same request will be answered when they have.
	Missing Kind = "missing"
)

// Error makes a Kind a target of errors.Is.
func (k Kind) Error() string { return string(k) }

// New returns an error of a kind with the given text, distinct from all others like one
// of errors.New.
func New(kind Kind, text string) error { return &fault{kind, text} }

type fault struct {
	kind Kind
	text string
}

func (f *fault) Error() string { return f.text }

// Is reports whether target is the kind.
func (f *fault) Is(target error) bool { return target == f.kind }
