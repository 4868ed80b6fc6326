// Package resume opens run directories for searches that keep blocks in a work file: a search
// resumes from its last checkpoint, which says where its blocks are.
package resume

import (
	"errors"
	"fmt"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/sealed"
	"grenier/io/vfs"
	"grenier/io/workfile"
)

// Search describes a search.
type Search struct {
	Identity manifest.Identity
	// Kind and Version of its checkpoints. No other version is read.
	Kind    string
	Version int
	// Load takes over the checkpoint at path and returns the extents of its blocks. It is not
	// called if there is none.
	Load func(path string, payload []byte) (live []workfile.Extent, err error)
	// Work, if not nil, is the directory of blocks and checkpoint instead of work/ of the run
	// directory.
	Work vfs.Dir
}

// Dir is the run directory of a search, and the work file with its blocks.
type Dir struct {
	*workfile.File
	search Search
	locked *rundir.Locked
}

// Open opens the run directory at path for a search, and makes it if there is none. It fails like
// rundir.Lock, workfile.Create and Search.Load, and with errors that match corrupt.ErrCorrupt if
// the checkpoint is damaged or of another version, or its blocks are not there.
func Open(path string, s Search) (*Dir, error) {
	locked, err := rundir.Lock(path, s.Identity)
	if err != nil {
		return nil, err
	}
	if s.Work == nil {
		s.Work = locked.Work()
	}
	d := &Dir{search: s, locked: locked}
	if d.File, err = s.open(); err != nil {
		return nil, errors.Join(err, locked.Unlock())
	}
	return d, nil
}

// open opens the work file, and loads the checkpoint if there is one.
func (s *Search) open() (*workfile.File, error) {
	path := s.Work.Path(rundir.CheckpointName)
	data, err := sealed.Read(s.Work, rundir.CheckpointName)
	if errors.Is(err, fs.ErrNotExist) {
		return workfile.Create(s.Work, rundir.BlocksName)
	}
	if err != nil {
		return nil, err
	}
	version, payload, err := sealed.Unseal(path, s.Kind, s.Version, data)
	if err != nil {
		return nil, err
	}
	if version != s.Version {
		return nil, corrupt.New(path, "", "%w %d: this program reads version %d; search in another directory", corrupt.ErrVersion, version, s.Version)
	}
	live, err := s.Load(path, payload)
	if err != nil {
		return nil, err
	}
	f, err := workfile.Open(s.Work, rundir.BlocksName, live)
	if errors.Is(err, fs.ErrNotExist) {
		err = corrupt.New(path, "", "there is no file %s", rundir.BlocksName)
	}
	return f, err
}

// Checkpoint makes payload, and all blocks put before, durable: the search resumes from them. It
// fails like workfile.File.Commit.
func (d *Dir) Checkpoint(payload []byte) error {
	return d.Commit(rundir.CheckpointName, sealed.Seal(d.search.Kind, d.search.Version, payload))
}

// Damaged returns an error that matches corrupt.ErrCorrupt, about a part of the blocks or, if part
// is empty, all of them.
func (d *Dir) Damaged(part string, err error) error {
	return corrupt.New(d.Path(rundir.BlocksName), part, "%w", err)
}

// Clear removes checkpoint and blocks of a finished search, the checkpoint first: it must not be
// there without its blocks.
func (d *Dir) Clear() error {
	for _, name := range []string{rundir.CheckpointName, rundir.BlocksName} {
		if err := errors.Join(d.search.Work.Remove(name), d.search.Work.Sync()); err != nil {
			return fmt.Errorf("clearing %s: %w", d.locked.Path(), err)
		}
	}
	return nil
}

// Close closes the work file and unlocks the directory.
func (d *Dir) Close() error { return errors.Join(d.File.Close(), d.locked.Unlock()) }
