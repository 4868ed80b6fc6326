package layerfile

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestDecoders reads two files of other block sizes and models, in turn and from several goroutines.
func TestDecoders(t *testing.T) {
	var files []*File
	var want [][]int8
	for i, size := range []int{64, 100} {
		scores := make([]int8, 1000*(i+1))
		for k := range scores {
			scores[k] = int8(k * (7 + i) % 11)
		}
		f, _ := openFileWith(t, Open, size, scores)
		defer f.Close()
		files, want = append(files, f), append(want, scores)
	}
	lent := NewDecoders(family)
	d := lent.Take(files[0])
	other := lent.Take(files[0])
	must.Not(t, d == other, "one decoder is lent twice")
	lent.Put(other)
	lent.Put(d)
	should.Hold(t, lent.Take(files[1]) == other, "a decoder that is free is not lent for another file") // the one put back first
	lent.Put(other)
	should.Hold(t, lent.Take(files[0]) == d, "a decoder of the file is free, and another is lent")
	runtime.GC()
	runtime.GC() // empties a sync.Pool
	should.Hold(t, lent.Take(files[1]) == other, "decoders that are free are garbage")
	lent.Put(d)
	lent.Put(other)
	var readers sync.WaitGroup
	for g := range 8 {
		readers.Go(func() {
			for k := range 200 {
				i := (k*g + k/3) % 2
				d := lent.Take(files[i])
				got := make([]int8, len(want[i]))
				if err := d.Read(t.Context(), got, 0); err != nil || !slices.Equal(got, want[i]) {
					t.Errorf("file %d: wrong scores, %v", i, err)
				}
				lent.Put(d)
			}
		})
	}
	readers.Wait()
	most := 2 * runtime.GOMAXPROCS(0)
	should.Not(t, len(lent.idle) > most, "%d decoders are kept, at most %d are promised", len(lent.idle), most)
}
