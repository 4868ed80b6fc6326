package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
)

// layer is a layer file, opened when it is first needed. A failure to open it is
// not remembered.
type layer struct {
	mu   sync.Mutex // held while the file becomes known, or is closed
	file atomic.Pointer[file]
}

// file is an open layer file.
type file struct {
	*layerfile.File
	blockSize uint64
}

// open returns the file of layer n.
func (t *Tables) open(ctx context.Context, n int) (*file, error) {
	if f := t.layers[n].file.Load(); f != nil {
		return f, nil
	}
	return t.opening.Do(ctx, n, func(ctx context.Context) (*file, error) { return t.openOnce(ctx, n) })
}

// openOnce is open for one goroutine at a time.
func (t *Tables) openOnce(ctx context.Context, n int) (*file, error) {
	l := &t.layers[n]
	if f := l.file.Load(); f != nil { // another one was faster
		return f, nil
	}
	f, err := t.openLayer(ctx, n)
	if err != nil {
		return nil, err
	}
	return t.keep(l, f)
}

// keep makes f known as the file of l.
func (t *Tables) keep(l *layer, opened *layerfile.File) (*file, error) {
	f := &file{File: opened, blockSize: uint64(opened.Header().BlockSize)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.closed.Load() { // asked under the mutex: Close takes it after us
		return nil, errors.Join(t.errClosed(), f.Close())
	}
	l.file.Store(f)
	return f, nil
}

// openLayer opens the file of layer n and compares it with the manifest. No score of it
// is larger than n.
func (t *Tables) openLayer(ctx context.Context, n int) (*layerfile.File, error) {
	if t.closed.Load() {
		return nil, t.errClosed()
	}
	f, err := t.openFile(ctx, &t.manifest.Layers[n])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, corrupt.New(t.Path(n), "", "listed in the manifest, but missing: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if err := t.manifest.CheckFile(n, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.Bound(n)
	return f, nil
}

// close closes the file if it was opened.
func (l *layer) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.file.Load(); f != nil {
		return f.Close()
	}
	return nil
}

// place returns the block that holds a rank, and where in the block.
func (f *file) place(rank uint64) (block uint64, offset int) {
	return rank / f.blockSize, int(rank % f.blockSize)
}

// part names the block that holds a rank as errors do.
func (f *file) part(rank uint64) string {
	block, _ := f.place(rank)
	return fmt.Sprintf("block %d", block)
}
