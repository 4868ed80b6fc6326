// Package golden compares what a test makes with a file that somebody has looked at.
package golden

import (
	"flag"

	"grenier/internal/testkit/must"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Check ends the test if got is not what is in the file at path. With -update it is then.
func Check(t must.Test, path string, got []byte) {
	t.Helper()
	if *update {
		must.Write(t, path, got)
	}
	must.Same(t, "not as in "+path+": look at the difference; if it is meant, is it a new version of a format? Then use -update", string(must.Read(t, path)), string(got))
}

// Begins is Check for the beginning of got, as long as the file is.
func Begins(t must.Test, path string, got []byte) {
	t.Helper()
	if !*update {
		got = got[:min(len(got), len(must.Read(t, path)))]
	}
	Check(t, path, got)
}
