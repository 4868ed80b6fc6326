package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
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
		{"grenier swap bfs", filepath.Join("run", "work", "checkpoint"), nil, "to start over, remove run/work"},
		{"grenier swap bfs", "run/manifest.json", nil, "to start over, remove run/manifest.json and run/work"},
		{"grenier chemin solve", filepath.Join("run", "work", "blocks"), nil, "to start over, remove run/work"},
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
		of := code[o.name]
		if of == nil {
			continue // methods, which cannot be told apart
		}
		generic := reflect.ValueOf(of(cpu.Generic)).Pointer()
		for _, f := range cpu.Available() {
			should.Equal(t, o.kernel(f) == cpu.Generic, reflect.ValueOf(of(f)).Pointer() == generic, "%s of %v: is generic", o.name, f)
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

// shareColumns are columns of every kind, of numbers out of 10,000: that stay, that become shorter, and that go.
func shareColumns() []Column[int] {
	count := func(n int) string { return Comma(uint64(n)) }
	percent := func(n int) string { return Percent(n, 10_000) }
	return []Column[int]{
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
		table.Add(1234)
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

// aState is in the middle of a run.
var aState = State{
	Doing: "layer 16, sweep 3", Done: 250_000, Total: 1_000_000, Elapsed: 20 * time.Second,
	Rate: 25_000, LayerETA: 10 * time.Second, RunETA: 30 * time.Second, Detail: detail{16, "dense"},
}

// detail is a detail of some work.
type detail struct {
	Seeds int
	Stage string
}

// checking is a quarter of the way of a check.
type checking struct{}

func (checking) State(elapsed time.Duration) State {
	return step{Doing: "layer 3", Done: 50, Total: 200}.State(elapsed)
}

// check is such a check after a while, and unclear the beginning of a run.
var (
	check   = checking{}.State(10 * time.Second)
	unclear = State{Doing: "layer 1, capture", Total: 100, Elapsed: time.Second, LayerETA: job.Unknown, RunETA: job.Unknown}
)

// shown returns what a display makes of a state.
func shown(s State, newDisplay func(out io.Writer) display) string {
	var out strings.Builder
	d := newDisplay(&out)
	d.show(s)
	d.clear()
	return out.String()
}

func newPlain(out io.Writer) display { return &plainLines{out: out} }
func newJSON(out io.Writer) display  { return &jsonLines{out: out} }

// TestCadence: plain lines come often at first, and a night has some hundred of them.
func TestCadence(t *testing.T) {
	lines, at := 0, time.Duration(0)
	for next := time.Duration(0); at < 10*time.Hour; lines++ {
		before := next
		next = newPlain(nil).next(at)
		must.Not(t, next < before, "%v after %v", next, before)
		at += next
		should.Not(t, lines == 11 && at > time.Minute, "12 lines in %v", at)
	}
	should.Not(t, lines < 100 || lines > 200, "%d lines in ten hours", lines)
}

func TestPlainLines(t *testing.T) {
	clock := regexp.MustCompile(`^[0-9]{4}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9] `)
	for want, state := range map[string]State{
		"layer 16, sweep 3: 25.0% of the run, 25 kpos/s, layer ETA 10s, run ETA 30s\n": aState,
		"layer 1, capture: 0.0% of the run, layer ETA ?, run ETA ?\n":                  unclear,
		"layer 3: 25.0% of the run, 5 pos/s, ETA 30s\n":                                check,
	} {
		line := shown(state, newPlain)
		should.Equal(t, line, clock.FindString(line)+want)
		should.Hold(t, clock.MatchString(line), "no time in %q", line)
	}
}

func TestJSONLines(t *testing.T) {
	type line struct {
		Type              string
		Progress, Seconds float64
		Doing             string
		Rate              float64  `json:"positions_per_second"`
		ETA               *float64 `json:"eta_seconds"`
		RunETA            *float64 `json:"run_eta_seconds"`
		Detail            detail
	}
	ten, thirty := 10., 30.
	for _, c := range []struct {
		state State
		want  line
	}{
		{aState, line{"progress", 0.25, 20, "layer 16, sweep 3", 25_000, &ten, &thirty, detail{16, "dense"}}},
		{check, line{"progress", 0.25, 10, "layer 3", 5, &thirty, &thirty, detail{}}},
		{unclear, line{"progress", 0, 1, "layer 1, capture", 0, nil, nil, detail{}}},
	} {
		text := shown(c.state, newJSON)
		got := must.JSON[struct {
			line
			Time time.Time
		}](t, text)
		must.Same(t, "another result", c.want, got.line)
		should.Hold(t, strings.Count(text, "\n") == 1 && !got.Time.IsZero(), "%q", text)
		should.Has(t, text, `"eta_seconds":`, `"run_eta_seconds":`)
	}
}

// TestBar: a bar that is too narrow drops the speed first, and never the ETA of the run.
func TestBar(t *testing.T) {
	got := shown(aState, func(out io.Writer) display { return &bar{out: out} })
	should.Has(t, got, "\rlayer 16, sweep 3 [", "25.00%", "25 kpos/s", "layer ETA 10s, run ETA 30s", "\r\x1b[K")
	for width, want := range map[int][2]string{
		90: {"layer 16, sweep 3 ", " 25.00% 25 kpos/s layer ETA 10s, run ETA 30s"},
		69: {"layer 16, sweep 3 ", " 25.00% 25 kpos/s layer ETA 10s, run ETA 30s"},
		57: {"layer 16, sweep 3 ", " 25.00% layer ETA 10s, run ETA 30s"},
		39: {"layer 16, sweep 3 ", " 25.00% run ETA 30s"},
		30: {"", " 25.00% run ETA 30s"},
		8:  {"", " run ETA 30s"},
	} {
		left, right := aState.beside(width)
		should.Hold(t, left == want[0] && right == want[1], "width %d: %q, %q, want %q", width, left, right, want)
	}
	left, right := check.beside(80)
	should.Hold(t, left == "layer 3 " && right == " 25.00% 5 pos/s ETA 30s", "%q, %q", left, right)
}

// TestTexts: how a path in a command line, a number of things and a time are written.
func TestTexts(t *testing.T) {
	for text, want := range map[string]string{
		"data/awari": "data/awari", "my run": "'my run'", "it's": `'it'\''s'`, "": "''", "-x": "'-x'", "a$b": "'a$b'",
	} {
		should.Equal(t, word(text), want, "%q", text)
	}
	for n, want := range map[uint64]string{0: "0 layers", 1: "1 layer", 2: "2 layers", 12345: "12,345 layers"} {
		should.Equal(t, Count(n, "layer"), want, "%d", n)
	}
	for d, want := range map[time.Duration]string{
		-1: "?", 0: "0s", 1600 * time.Millisecond: "2s", 59*time.Minute + 5*time.Second: "59m5s",
		2*time.Hour + 3*time.Minute + 40*time.Second: "2h4m", 49 * time.Hour: "2d1h", 2000 * time.Hour: "83d8h",
	} {
		should.Equal(t, Brief(d), want, "%v", d)
	}
}

// TestProgressStreams: JSON lines go to stdout if the result is JSON, all else to
// stderr, and nothing is shown before there is something to show.
func TestProgressStreams(t *testing.T) {
	for _, c := range []struct {
		form     string
		asJSON   bool
		out, err int // lines
	}{
		{"none", true, 0, 0}, {"json", true, 1, 0}, {"json", false, 0, 1}, {"plain", true, 0, 1}, {"auto", false, 0, 1},
	} {
		var out, errs strings.Builder
		a := &App{Out: &Output{w: &out}, Err: &errs}
		p := must.Get(a.NewProgress(c.form, c.asJSON))(t)
		if p.display != nil {
			p.show()
			p.Update(checking{})
			p.show()
		}
		p.Close()
		should.Hold(t, strings.Count(out.String(), "\n") == c.out && strings.Count(errs.String(), "\n") == c.err,
			"%s, JSON %v: stdout %q, stderr %q", c.form, c.asJSON, &out, &errs)
	}
}

// TestWipe: a bar that a narrower terminal has broken is erased with all its lines.
func TestWipe(t *testing.T) {
	for columns, want := range map[int]string{100: "\r\x1b[J", 60: "\x1b[1A\r\x1b[J", 50: "\x1b[1A\r\x1b[J", 49: "\x1b[2A\r\x1b[J", 20: "\x1b[4A\r\x1b[J"} {
		var out strings.Builder
		(&bar{out: &out, drawn: 99}).wipe(columns - 1)
		should.Equal(t, out.String(), want, "%d columns", columns)
	}
}
