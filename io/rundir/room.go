package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dustin/go-humanize"

	"grenier/io/vfs"
)

// RoomError reports a run for which the disk has too little room.
type RoomError struct {
	What       string // the run
	Path       string // of the run directory
	Need, Free uint64 // bytes, as Room counts them
	Estimated  bool   // Need is an estimate; otherwise a bound
	Enough     string // a request that would fit, "" if unknown
}

// Error names the room needed and a request that would fit.
func (e *RoomError) Error() string {
	sure := "up to"
	if e.Estimated {
		sure = "about"
	}
	text := fmt.Sprintf("%s needs %s %s on the disk of %s; %s free",
		e.What, sure, humanize.IBytes(e.Need), e.Path, humanize.IBytes(e.Free))
	if e.Enough != "" {
		text += " (" + e.Enough + ")"
	}
	return text
}

// Room returns the bytes that a run at path may take besides its sealed layers: those that free
// returns, and those in work/, which the run resumes from or removes. They are not known if free is
// nil, or fails with errors.ErrUnsupported. It fails as free does, or with an error of
// the operating system.
func Room(path string, free func(path string) (uint64, error)) (bytes uint64, known bool, err error) {
	return room(path, free, func() (uint64, error) { return WorkBytes(path) })
}

// RoomForWork is Room for a directory that has nothing but work of a run.
func RoomForWork(path string, free func(path string) (uint64, error)) (bytes uint64, known bool, err error) {
	return room(path, free, func() (uint64, error) {
		d, err := vfs.OpenDir(path)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		defer d.Close()
		return bytesIn(d, working)
	})
}

// RoomForLayers is Room for a directory that has nothing but layers.
func RoomForLayers(path string, free func(path string) (uint64, error)) (bytes uint64, known bool, err error) {
	return room(path, free, func() (uint64, error) { return 0, nil })
}

// SameDisk reports whether two paths, or their nearest parents that exist, are in one file
// system, as far as the operating system says. It fails with an error of that.
func SameDisk(a, b string) (bool, error) {
	var infos [2]fs.FileInfo
	for i, path := range []string{a, b} {
		path, err := vfs.Nearest(path)
		if err != nil {
			return false, err
		}
		if infos[i], err = os.Stat(path); err != nil {
			return false, err
		}
	}
	return vfs.SameDevice(infos[0], infos[1]), nil
}

func room(path string, free func(path string) (uint64, error), reusable func() (uint64, error)) (bytes uint64, known bool, err error) {
	if free == nil {
		return 0, false, nil
	}
	bytes, err = free(path)
	if errors.Is(err, errors.ErrUnsupported) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	used, err := reusable()
	return bytes + used, err == nil, err
}

// FreeBytes returns how many bytes this process can still write to the file
// system of path, or of its nearest parent that exists. It fails with
// errors.ErrUnsupported on systems without that figure.
func FreeBytes(path string) (uint64, error) {
	path, err := vfs.Nearest(path)
	if err != nil {
		return 0, err
	}
	return freeBytes(path)
}
