package rundir

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"grenier/io/manifest"
	"grenier/io/vfs"
)

// CallsName is the name of the file that notes for which layers a command of the user was
// called.
const CallsName = "calls.log"

// maxCalls is the largest size of that file: three lines for each layer, and many repetitions.
const maxCalls = 1 << 20

// Calls notes for which layers a command is to be called, and for which it was. Each note is
// on disk when the method that makes it returns, so that over any number of kills a command is
// called at most once for a layer: a power cut between the note and the call loses the call.
type Calls struct {
	log    log
	wanted map[int]bool // by seeds
	called map[int]bool
}

// OpenCalls opens the notes of a run, which begin empty. It fails like vfs.Dir.
func (l *Locked) OpenCalls() (*Calls, error) {
	f, err := l.dir.Edit(CallsName)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = l.dir.Create(CallsName)
	}
	if err != nil {
		return nil, err
	}
	c := &Calls{log: log{file: f}, wanted: map[int]bool{}, called: map[int]bool{}}
	if err := c.read(l.dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// read takes in the notes. A line that is cut short is as good as none.
func (c *Calls) read(d vfs.Dir) error {
	if err := c.log.start(); err != nil {
		return err
	}
	text, err := vfs.Read(d, CallsName, maxCalls)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		var seeds int
		var what string
		if n, _ := fmt.Sscanf(lines.Text(), "layer %d %s", &seeds, &what); n != 2 || seeds < 0 || seeds >= manifest.MaxLayers {
			continue
		}
		switch what {
		case wanted:
			c.wanted[seeds] = true
		case called:
			c.called[seeds] = true
		}
	}
	return lines.Err()
}

// What is noted of a layer.
const (
	wanted = "wanted"
	called = "called"
)

// Want notes that the command is to be called when the layer of n seeds is sealed. Errors are
// those of the operating system.
func (c *Calls) Want(n int) error {
	if c.wanted[n] {
		return nil
	}
	c.wanted[n] = true
	return c.note(n, wanted)
}

// Pending returns the first layer below sealed for which a call is wanted and was not made, if
// there is one.
func (c *Calls) Pending(sealed int) (n int, ok bool) {
	for n := range sealed {
		if c.wanted[n] && !c.called[n] {
			return n, true
		}
	}
	return 0, false
}

// Called notes that the command is about to be called for the layer of n seeds. Errors are
// those of the operating system; then it must not be called.
func (c *Calls) Called(n int) error {
	c.called[n] = true
	return c.note(n, called)
}

// note adds a line, durably.
func (c *Calls) note(n int, what string) error {
	if _, err := fmt.Fprintf(&c.log, "layer %d %s\n", n, what); err != nil {
		return err
	}
	return c.log.file.Sync()
}

// Close closes the file.
func (c *Calls) Close() error { return c.log.Close() }
