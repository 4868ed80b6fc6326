package plan

import (
	"path/filepath"
	"testing"
	"time"

	"grenier/internal/testkit/machinetest"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/layers/awari"
	"grenier/pipeline/internal/machine"
	"grenier/pipeline/solve/internal/halfboard"
)

func TestFile(t *testing.T) {
	c := workstation()
	c.Date = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	machinetest.TestFile(t, c, ParseCalibration, map[string]machinetest.Damage{
		"foreign":  {Old: "grenier-cal", New: "other-cal", Is: corrupt.ErrForeign},
		"of swap":  {Old: `"system": "awari"`, New: `"system": "swap", "step_ns": 1`, Is: corrupt.ErrForeign},
		"nobody's": {Old: `"system": "awari",`, New: ``, Is: corrupt.ErrForeign},
		"newer":    {Old: `"version": 5`, New: `"version": 6, "moons": 3`, Is: corrupt.ErrVersion},
		"older":    {Old: `"version": 5`, New: `"version": 4`, Is: corrupt.ErrVersion},
		"text":     {Old: `"cores": 2`, New: `"cores": "2"`, Is: corrupt.ErrCorrupt},
		"no core":  {Old: `"cores": 2`, New: `"cores": 0`, Is: machine.ErrFigure},
		"slow":     {Old: `"speedup": 1.9`, New: `"speedup": 0.9`, Is: machine.ErrFigure},
		"missing":  {Old: `  "seal_ns": 3,`, New: ``, Is: machine.ErrFigure},
		"negative": {Old: `"seal_ns": 3`, New: `"seal_ns": -3`, Is: machine.ErrFigure},
		"no width": {Old: `"full_ns": 23,`, New: ``, Is: machine.ErrFigure},
		"taken":    {Old: `"taken_by_others": 0.05`, New: `"taken_by_others": 1.5`, Is: machine.ErrFigure},
		"no disk":  {Old: `"read_bytes_per_second": 1000000000`, New: `"read_bytes_per_second": 0`, Is: machine.ErrFigure},
	})
}

// FuzzParse: every calibration that is accepted gives a plan.
func FuzzParse(f *testing.F) {
	game := must.Get(awari.New(8, awari.Awari))(f)
	machinetest.Fuzz(f, workstation(), ParseCalibration, func(t *testing.T, c *Calibration) {
		p, err := New(Run{Game: game, Seeds: 9, Memory: halfboard.Least(game, 9, 3), Cores: 3}, c)
		must.Hold(t, err == nil && p.Total.Seconds > 0, "%+v, error %v with %+v", p, err, c)
	})
}

// TestDocsWorkstation: the calibration of the docs can be read.
func TestDocsWorkstation(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "workstation.json")
	c := must.Get(ParseCalibration(path, must.Read(t, path)))(t)
	s := c.Speeds(32)
	should.Hold(t, s.Most == 16, "32 threads: %+v", s)
}
