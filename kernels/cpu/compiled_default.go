//go:build !(amd64 || arm64) || purego

package cpu

// compiled is empty: this build has the generic family only.
var compiled []Family
