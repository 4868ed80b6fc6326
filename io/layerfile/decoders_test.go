package layerfile

import (
	"runtime"
	"slices"
	"sync"
	"testing"
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
	if d == other {
		t.Fatal("one decoder is lent twice")
	}
	lent.Put(other)
	lent.Put(d)
	if lent.Take(files[1]) != other { // the one put back first
		t.Error("a decoder that is free is not lent for another file")
	}
	lent.Put(other)
	if lent.Take(files[0]) != d {
		t.Error("a decoder of the file is free, and another is lent")
	}
	runtime.GC()
	runtime.GC() // empties a sync.Pool
	if lent.Take(files[1]) != other {
		t.Error("decoders that are free are garbage")
	}
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
	if most := 2 * runtime.GOMAXPROCS(0); len(lent.idle) > most {
		t.Errorf("%d decoders are kept, at most %d are promised", len(lent.idle), most)
	}
}
