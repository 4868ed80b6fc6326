//go:build !unix

package cli

// WhenAsked does nothing: this system has no signal USR1.
func (*App) WhenAsked(func()) (stop func()) { return func() {} }
