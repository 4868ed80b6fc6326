//go:build !unix

package cli

// WhenAsked does nothing: there is no signal to ask with.
func (*App) WhenAsked(func()) (stop func()) { return func() {} }
