package classes

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"grenier/io/corrupt"
	"grenier/io/workfile"
)

// sample is a checkpoint of 2 x 3 cells.
func sample() *checkpoint {
	return &checkpoint{
		rows: 2, cols: 3, states: []uint64{1, 7}, classes: []uint64{1, 3},
		before: list{{first: 1, keys: 2, at: workfile.Extent{Offset: 0, Length: 2, Sum: 7}}, {first: 9, keys: 1, at: workfile.Extent{Offset: 9, Length: 1, Sum: 8}}},
		newest: list{{first: 4, keys: 6, at: workfile.Extent{Offset: 2, Length: 7, Sum: 9}}},
	}
}

func TestCheckpoint(t *testing.T) {
	g := mustGrid(t, 2, 3)
	got, err := decode("checkpoint", sample().encode(), g)
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := decode("checkpoint", sample().encode(), mustGrid(t, 3, 2)); !errors.Is(err, corrupt.ErrMismatch) {
		t.Errorf("another grid: %v", err)
	}
	// No beginning of it is complete, and nothing may follow.
	whole := sample().encode()
	for n := range whole {
		if _, err := decode("checkpoint", whole[:n], g); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := decode("checkpoint", append(slices.Clone(whole), 0), g); !errors.Is(err, corrupt.ErrCorrupt) {
		t.Errorf("a byte more: %v", err)
	}
}

// TestContradictions decodes checkpoints that cannot be.
func TestContradictions(t *testing.T) {
	for name, change := range map[string]func(c *checkpoint){
		"no states":                   func(c *checkpoint) { c.states[1] = 0 },
		"more states than there are":  func(c *checkpoint) { c.states[1] = 720 },
		"another goal":                func(c *checkpoint) { c.states[0], c.classes[0] = 2, 2 },
		"other neighbours":            func(c *checkpoint) { c.states[1] = 8 },
		"too few classes":             func(c *checkpoint) { c.states, c.classes = append(c.states, 31), append(c.classes, 3) },
		"no classes":                  func(c *checkpoint) { c.classes[0] = 0 },
		"more classes than states":    func(c *checkpoint) { c.classes[1] = 8 },
		"other classes than in lists": func(c *checkpoint) { c.classes[1] = 4 },
		"an end too early":            func(c *checkpoint) { c.newest = nil },
		"too many newest classes":     func(c *checkpoint) { c.newest[0].keys, c.newest[0].at.Length = 800, 900 },
		"blocks that do not ascend":   func(c *checkpoint) { c.before[1].first = 1 },
		"a block without keys":        func(c *checkpoint) { c.newest[0].keys = 0 },
		"more keys than bytes":        func(c *checkpoint) { c.newest[0].at.Length = 5 },
		"a block too large":           func(c *checkpoint) { c.newest[0].at.Length = blockBytes + 1 },
	} {
		c := sample()
		change(c)
		if _, err := decode("checkpoint", c.encode(), mustGrid(t, 2, 3)); !errors.Is(err, corrupt.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzCheckpoint decodes anything; what is accepted is what encode makes.
func FuzzCheckpoint(f *testing.F) {
	f.Add(sample().encode())
	f.Add((&checkpoint{rows: 2, cols: 3, newest: sample().newest}).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decode("checkpoint", data, mustGrid(t, 2, 3))
		if err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		if !bytes.Equal(c.encode(), data) {
			t.Errorf("%x is encoded as %x", data, c.encode())
		}
	})
}

// TestGolden reads a checkpoint of version 1, and writes it: the format is what
// docs/format/swap-classes.md says.
func TestGolden(t *testing.T) {
	const path = "testdata/checkpoint-v1"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	version, payload, err := workfile.Unseal(path, checkpointKind, checkpointVersion, data)
	if err != nil || version != 1 {
		t.Fatalf("version %d, %v", version, err)
	}
	c, err := decode(path, payload, mustGrid(t, 2, 3))
	if err != nil || !reflect.DeepEqual(c, sample()) {
		t.Errorf("%+v, %v", c, err)
	}
	if got := workfile.Seal(checkpointKind, 1, sample().encode()); !bytes.Equal(got, data) {
		t.Errorf("%x, want %x", got, data)
	}
}
