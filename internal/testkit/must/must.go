// Package must ends tests where what they need cannot be had.
package must

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
