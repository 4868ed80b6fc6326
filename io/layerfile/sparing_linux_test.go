package layerfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"grenier/internal/testkit/cachetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/io/vfs"
)

// TestLongSparing writes and reads a file of 32 MiB, or 96 if there is time, and looks how much of it
// is in the page cache and in the memory of the process meanwhile.
func TestLongSparing(t *testing.T) {
	tries.SkipIf(t, testing.Short(), "writes 32 MiB")
	const atMost = 24 << 20
	blocks := tries.More(32<<20, 4*atMost) / MaxBlockSize
	r := rand.New(rand.NewPCG(17, 18))
	kinds := [][]int8{noise(r, MaxBlockSize), noise(r, MaxBlockSize), noise(r, MaxBlockSize)}
	h := testHeader(MaxBlockSize, blocks*MaxBlockSize)
	path := filepath.Join(cachetest.Dir(t), "layer.gl")
	w := must.Get(CreateSparing(begin(t, path), h, family))(t)
	defer w.Abort()
	held := cachetest.Watch(t, vfs.System(w.file.File).Name())
	check := func(doing string, atMost int64) {
		bytes, _ := held()
		should.Not(t, bytes > atMost, "%s: %d bytes in the page cache", doing, bytes)
	}
	e := must.Get(NewEncoder(h, family))(t)
	var b Block
	for i := range blocks {
		must.OK(t, errors.Join(e.Encode(&b, kinds[i%3]), w.Append(&b)))
		check("writing", atMost)
	}
	must.OK(t, must.Err(w.Finish()))
	must.OK(t, w.Publish())
	check("written", 1<<20)

	f := must.Get(OpenSparing(path))(t)
	before := mapped(t)
	var group sync.WaitGroup
	for k := range tries.More(2, 4) {
		group.Go(func() {
			d := f.NewDecoder(family)
			var scores []int8
			for _, i := range rand.New(rand.NewPCG(19, uint64(k))).Perm(blocks) {
				var err error
				scores, err = d.Block(t.Context(), i, scores)
				should.Hold(t, err == nil && slices.Equal(scores, kinds[i%3]), "block %d: other scores, %v", i, err)
				check("reading", atMost)
			}
		})
	}
	group.Wait()
	more := mapped(t) - before
	should.Not(t, more > 8<<20, "reading: %d bytes of files in memory", more)
	must.OK(t, f.Close())
	check("closed", 1<<20)
}

func mapped(t *testing.T) int64 {
	t.Helper()
	var size, resident, shared int64
	must.OK(t, must.Err(fmt.Sscan(string(must.Read(t, "/proc/self/statm")), &size, &resident, &shared)))
	return shared * int64(os.Getpagesize())
}
