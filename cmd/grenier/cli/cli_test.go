package cli

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
	"grenier/kernels/compress"
	"grenier/kernels/cpu"
	"grenier/kernels/fnv"
	"grenier/kernels/ranks"
	"grenier/kernels/transpose"
	"grenier/pipeline/job"
)

// TestSteps: the text of a step depends on its unit, and on the pace that the job estimates.
func TestSteps(t *testing.T) {
	const after = 10 * time.Second
	base := State{Doing: "layer 3", Done: 50, Total: 200, Elapsed: after, Rate: 5, LayerETA: job.NoLayer, RunETA: 30 * time.Second}
	with := func(change func(*State)) State {
		s := base
		change(&s)
		return s
	}
	s := job.Step{Doing: "layer 3", Done: 50, Total: 200}
	bytes, items, shares, paced, begun := s, s, s, s, s
	bytes.Unit, items.Unit, shares.Unit, begun.Begun = job.Bytes, job.Items, job.Shares, 25
	paced.Pace, paced.Detail = &job.Pace{Rate: 7, Layer: time.Second, Run: job.Unknown}, 1
	for _, c := range []struct {
		step job.Step
		want State
	}{
		{s, base},
		{begun, with(func(s *State) { s.Rate, s.RunETA = 2.5, time.Minute })},
		{bytes, with(func(s *State) { s.Rate, s.Doing = job.NoRate, "layer 3, 5 B/s" })},
		{items, with(func(s *State) { s.Rate = job.NoRate })},
		{shares, with(func(s *State) { s.Rate = 0 })},
		{paced, with(func(s *State) { s.Rate, s.LayerETA, s.RunETA, s.Detail = 7, time.Second, job.Unknown, 1 })},
		{job.Step{Doing: "layer 3", Total: 200}, with(func(s *State) { s.Done, s.Rate, s.RunETA = 0, 0, job.Unknown })},
	} {
		must.Same(t, "another result", c.want, step(c.step).State(after))
	}
}

// TestRemedy: whoever meets damage gets advice.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		command, file string
		cause         error
		want          string
	}{
		{"grenier awari probe", "run/layer-07.gl", nil, "to repair it: grenier awari repair --dir run"},
		{"grenier awari solve", "manifest.json", nil, "to repair it: grenier awari repair --dir ."},
		{"grenier awari stats", "/my runs/it's/manifest.json", corrupt.ErrMismatch, `to repair it: grenier awari repair --dir '/my runs/it'\''s'`},
		{"grenier awari probe", "run/layer-07.gl", corrupt.ErrVersion, "use the version of grenier that wrote it"},
		{"grenier awari probe", "https://host/run/layer-07.gl", nil, "repair it on the server: grenier awari repair"},
		{"grenier swap bfs", "run/work/checkpoint", nil, "to start over, remove run/work"},
		{"grenier swap bfs", "run/manifest.json", nil, "to start over, remove run/manifest.json and run/work"},
		{"grenier chemin solve", "run/work/blocks", nil, "to start over, remove run/work"},
		{"grenier swap solve", "all.gp", nil, "to build it again: grenier swap pdb build"},
		{"grenier swap solve", "all.gp", corrupt.ErrMismatch, "is the path right?"},
		{"grenier awari plan", "c.json", unusable{errors.New("figure")}, "to measure again: grenier awari plan --save-calibration FILE"},
		{"grenier awari plan", "c.json", unusable{corrupt.ErrVersion}, "to measure again: grenier awari plan --save-calibration FILE"},
		{"grenier awari plan", "run/manifest.json", corrupt.ErrVersion, "use the version of grenier that wrote it"},
		{"grenier awari probe", "five", corrupt.ErrForeign, "is the path right?"},
	} {
		if c.cause == nil {
			c.cause = errors.New("checksum")
		}
		err := fmt.Errorf("layer 7: %w", corrupt.New(c.file, "", "%w", c.cause))
		should.Equal(t, remedy(c.command, err), c.want, "%s, %s, %v", c.command, c.file, c.cause)
	}
	should.Equal(t, remedy("grenier awari probe", errors.New("no damage")), "", "no damage")
}

func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"data/awari": "data/awari", "my run": "'my run'", "it's": `'it'\''s'`, "": "''", "-x": "'-x'", "a$b": "'a$b'",
	} {
		should.Equal(t, word(text), want, "%q", text)
	}
}

// TestOperationsNameTheCodeThatRuns compares the operations that version lists with the code that a
// package returns: the generic one, or another.
func TestOperationsNameTheCodeThatRuns(t *testing.T) {
	code := map[string]func(cpu.Family) any{
		"compress":  func(f cpu.Family) any { return compress.For(f, 8) },
		"transpose": func(f cpu.Family) any { return transpose.For(f, 8) },
		"ranks":     func(f cpu.Family) any { return ranks.For(f).Scores },
		"fnv":       func(f cpu.Family) any { return fnv.For(f) },
	}
	for _, o := range operations {
		of, ok := code[o.name]
		if !ok {
			continue // methods, which cannot be told apart
		}
		generic := reflect.ValueOf(of(cpu.Generic)).Pointer()
		for _, f := range cpu.Available() {
			same := reflect.ValueOf(of(f)).Pointer() == generic
			says := o.kernel(f) == cpu.Generic
			should.Hold(t, says == same, "%s of %v: says generic: %v, is generic: %v", o.name, f, says, same)
		}
	}
}

// TestBuildOf: the commit is told as far as it is known.
func TestBuildOf(t *testing.T) {
	for want, settings := range map[string][]debug.BuildSetting{
		"": {{Key: "GOOS", Value: "linux"}},
		" (commit 0123456789ab of 2026-11-22)": {
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-22T01:02:03Z"}, {Key: "vcs.modified", Value: "false"},
		},
		" (commit 01, modified)": {{Key: "vcs.revision", Value: "01"}, {Key: "vcs.modified", Value: "true"}},
	} {
		should.Equal(t, buildOf(settings).String(), want)
	}
}

// share is a row.
type share struct{ n, of int }

// shareColumns are columns of every kind: that stay, that become shorter, and that go.
func shareColumns() []Column[share] {
	count := func(s share) string { return Comma(uint64(s.n)) }
	percent := func(s share) string { return Percent(s.n, s.of) }
	return []Column[share]{
		{{Head: "n", Width: 9, Cell: count}},
		{{Head: "share", Width: 12, Yield: 1, Cell: count}, {Head: "share", Width: 6, Yield: 3, Cell: percent}},
		{{Head: "twice", Width: 9, Yield: 2, Cell: count}},
		{{Head: "again", Width: 9, Yield: 2, Cell: count}},
	}
}

func TestTableFits(t *testing.T) {
	for width, want := range map[int]string{
		Unlimited: "        n        share     twice     again\n    1,234        1,234     1,234     1,234\n",
		42:        "        n        share     twice     again\n    1,234        1,234     1,234     1,234\n",
		41:        "        n  share     twice     again\n    1,234  12.3%     1,234     1,234\n",
		35:        "        n  share\n    1,234  12.3%\n",
		15:        "        n\n    1,234\n",
		3:         "        n\n    1,234\n",
	} {
		var out strings.Builder
		table := NewTable(&out, width, shareColumns())
		table.Add(share{1234, 10_000})
		must.Same(t, fmt.Sprint("width ", width), want, out.String())
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"one two three", Unlimited, 2, "one two three"},
		{"one two three", 13, 2, "one two three"},
		{"one two three", 12, 2, "one two\n  three"},
		{"one two three four", 9, 4, "one two\n    three\n    four"},
		{"name     one two", 14, 9, "name     one\n         two"},
		{"incomprehensibilities of a", 10, 0, "incomprehensibilities\nof a"},
		{"élan à la", 7, 1, "élan à\n la"},
		{"", 5, 1, ""},
	} {
		should.Equal(t, Wrap(c.text, c.width, c.indent), c.want, "%q in %d", c.text, c.width)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 layers", 1: "1 layer", 2: "2 layers", 12345: "12,345 layers"} {
		should.Equal(t, Count(n, "layer"), want, "%d", n)
	}
}
