//go:build !unix

package main

// whenAsked does nothing: there is no signal to ask with.
func (*app) whenAsked(func()) (stop func()) { return func() {} }
