package plan

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"grenier/io/corrupt"
	"grenier/io/jsonfile"
	"grenier/layers/awari"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/solve/internal/halfboard"
)

func TestSaveLoad(t *testing.T) {
	c, path := workstation(), filepath.Join(t.TempDir(), "c.json")
	c.Date = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if *got != *c {
		t.Errorf("%+v, want %+v", got, c)
	}
}

// TestDamaged: everything that is wrong is told, as what it is.
func TestDamaged(t *testing.T) {
	data, err := jsonfile.Encode(document{header, *workstation()})
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, c := range map[string]struct {
		text string
		is   error
	}{
		"foreign":  {`{"format": "something else"}`, corrupt.ErrForeign},
		"newer":    {strings.Replace(text, `"version": 3`, `"version": 4, "moons": 3`, 1), corrupt.ErrVersion},
		"text":     {strings.Replace(text, `"cores": 2`, `"cores": "2"`, 1), corrupt.ErrCorrupt},
		"no core":  {strings.Replace(text, `"cores": 2`, `"cores": 0`, 1), machine.ErrFigure},
		"slow":     {strings.Replace(text, `"speedup": 1.9`, `"speedup": 0.9`, 1), machine.ErrFigure},
		"missing":  {strings.Replace(text, `  "seal_ns": 3,`, ``, 1), machine.ErrFigure},
		"negative": {strings.Replace(text, `"seal_ns": 3`, `"seal_ns": -3`, 1), machine.ErrFigure},
		"no width": {strings.Replace(text, `"full_ns": 23,`, ``, 1), machine.ErrFigure},
		"older":    {strings.Replace(text, `"version": 3`, `"version": 2`, 1), corrupt.ErrVersion},
		"taken":    {strings.Replace(text, `"taken_by_others": 0.05`, `"taken_by_others": 1.5`, 1), machine.ErrFigure},
		"no disk":  {strings.Replace(text, `"read_bytes_per_second": 1000000000`, `"read_bytes_per_second": 0`, 1), machine.ErrFigure},
	} {
		if c.text == text {
			t.Fatalf("%s: not damaged", name)
		}
		_, err := Parse("c.json", []byte(c.text))
		if !errors.Is(err, c.is) || !errors.Is(err, corrupt.ErrCorrupt) || !strings.HasPrefix(err.Error(), "c.json: ") {
			t.Errorf("%s: error %v, want %v", name, err, c.is)
		}
	}
}

// FuzzParse: what is accepted is what is written again.
func FuzzParse(f *testing.F) {
	data, err := jsonfile.Encode(document{header, *workstation()})
	if err != nil {
		f.Fatal(err)
	}
	game, err := awari.New(8, awari.Awari)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format": "grenier-calibration", "version": 3}`))
	f.Add(bytes.Replace(data, []byte("1.9"), []byte("1e400"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("c.json", data)
		if err != nil {
			if !errors.Is(err, corrupt.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := jsonfile.Encode(document{header, *c})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("c.json", again)
		if err != nil {
			t.Fatal(err)
		}
		if third, err := jsonfile.Encode(document{header, *got}); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("%s, then %s (%v)", again, third, err)
		}
		p, err := New(Run{Game: game, Seeds: 9, Memory: halfboard.Least(game, 9, 3), Cores: 3}, c)
		if err != nil || !(p.Total.Seconds > 0) {
			t.Fatalf("%+v, error %v with %s", p, err, again)
		}
	})
}
