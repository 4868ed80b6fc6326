// Package prefetch asks for memory some time before it is used, so that a program that jumps about in much memory
// waits for several lines at the same time.
//
// It is no kernel of a family: it computes nothing, and every processor of an architecture has the
// instruction. Where there is none for it, and with the build tag purego, it does nothing.
package prefetch
