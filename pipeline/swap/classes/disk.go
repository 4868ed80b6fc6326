package classes

import (
	"errors"
	"fmt"
	"io/fs"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/rundir"
	"grenier/io/vfs"
	"grenier/io/workfile"
	"grenier/layers/swap"
)

// Names in the work directory. See docs/format/swap-classes.md.
const (
	blocksName     = rundir.BlocksName
	checkpointName = rundir.CheckpointName
)

// disk keeps blocks in a work file.
type disk struct {
	path string // of the checkpoint
	file *workfile.File
	lock *rundir.Locked // nil in tests
}

// openDir opens the run directory at path, and what a search has left there.
func openDir(path string, g *swap.Grid) (*disk, *checkpoint, error) {
	id := manifest.Identity{Game: "swap", Rules: fmt.Sprintf("%dx%d-classes", g.Rows(), g.Cols()), Pits: g.Cells()}
	dir, err := rundir.Lock(path, id)
	if err != nil {
		return nil, nil, err
	}
	d, c, err := openDisk(dir.Work(), g)
	if err != nil {
		return nil, nil, errors.Join(err, dir.Unlock())
	}
	d.lock = dir
	return d, c, nil
}

// openDisk opens the work file in a directory, at the checkpoint if there is one,
// which it returns.
func openDisk(work vfs.Dir, g *swap.Grid) (*disk, *checkpoint, error) {
	d := &disk{path: work.Path(checkpointName)}
	data, err := workfile.ReadSealed(work, checkpointName)
	if errors.Is(err, fs.ErrNotExist) {
		d.file, err = workfile.Create(work, blocksName)
		return d, nil, err
	}
	if err != nil {
		return nil, nil, err
	}
	_, payload, err := workfile.Unseal(d.path, checkpointKind, checkpointVersion, data)
	if err != nil {
		return nil, nil, err
	}
	c, err := decode(d.path, payload, g)
	if err != nil {
		return nil, nil, err
	}
	live := append(c.before.extents(nil), c.newest.extents(nil)...)
	d.file, err = workfile.Open(work, blocksName, live)
	return d, c, err
}

func (d *disk) put(data []byte, lengths []int) ([]workfile.Extent, error) {
	return d.file.PutAll(data, lengths)
}

func (d *disk) get(extents []workfile.Extent, dst []byte) ([]byte, error) {
	return d.file.GetAll(extents, dst)
}

func (d *disk) drop(l list) {
	for i := range l {
		d.file.Drop(l[i].at)
	}
}

func (*disk) cost() uint64 { return indexBytes }

func (d *disk) damaged(b *block, err error) error {
	if b == nil {
		return corrupt.New(d.path, "", "%w", err)
	}
	return corrupt.New(d.path, fmt.Sprintf("block at %d", b.at.Offset), "%w", err)
}

func (d *disk) commit(c *checkpoint) error {
	return d.file.Commit(checkpointName, workfile.Seal(checkpointKind, checkpointVersion, c.encode()))
}

func (d *disk) close() error {
	err := d.file.Close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Unlock())
	}
	return err
}
