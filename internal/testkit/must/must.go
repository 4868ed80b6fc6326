// Package must ends tests where what they need cannot be had.
package must

import "os"

// Test is what ends: a test, or a part of one.
type Test interface {
	Helper()
	Fatal(args ...any)
}

// OK ends the test if there is an error.
func OK(t Test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns the contents of a file.
func Read(t Test, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	OK(t, err)
	return data
}

// Write replaces the contents of a file in place, as damage does.
func Write(t Test, path string, data []byte) {
	t.Helper()
	OK(t, os.WriteFile(path, data, 0o644))
}
