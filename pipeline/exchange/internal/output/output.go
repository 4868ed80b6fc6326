// Package output is where exports and samples go.
package output

import (
	"io"

	"grenier/io/vfs"
)

// ToFile has write write a file at path. The file has its name only when it is complete, and
// replaces a file of that name, but nothing else. It fails like vfs.Begin, like write, and like
// vfs.Pending.Publish.
func ToFile[S any](path string, write func(w io.Writer) (S, error)) (summary S, err error) {
	var none S
	file, err := vfs.Begin(path)
	if err != nil {
		return none, err
	}
	defer file.Abort()
	if summary, err = write(file); err != nil {
		return none, err
	}
	return summary, file.Publish()
}

// Counter counts the bytes that are written to W.
type Counter struct {
	W io.Writer
	N uint64 // bytes
}

// Write writes p.
func (c *Counter) Write(p []byte) (int, error) {
	n, err := c.W.Write(p)
	c.N += uint64(n)
	return n, err
}
