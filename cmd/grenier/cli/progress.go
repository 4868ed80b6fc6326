package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/spf13/pflag"

	"grenier/pipeline/job"
)

// State says how far a command is.
type State struct {
	Doing       string  // in a few words
	Done, Total float64 // positions
	Elapsed     time.Duration
	Rate        float64       // positions per second, 0 if not known yet, or job.NoRate
	LayerETA    time.Duration // of the layer in progress, job.Unknown or job.NoLayer
	RunETA      time.Duration // of the whole command, or job.Unknown
	Spread      float64       // as in job.Pace
	Detail      any           // for JSON lines, may be nil
}

// eta returns the times that remain as text.
func (s *State) eta() string {
	run := RunETA(&job.Pace{Run: s.RunETA, Spread: s.Spread}, time.Now())
	if s.LayerETA == job.NoLayer {
		return "ETA " + run
	}
	return fmt.Sprintf("layer ETA %s, run ETA %s", Brief(s.LayerETA), run)
}

// SecondsOf returns d in seconds for JSON, nil if it is not known.
func SecondsOf(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

// A Stater is a report of the work, one of many; it becomes a State when it is shown.
type Stater interface {
	// State tells how far the work is so long after its beginning.
	State(elapsed time.Duration) State
}

// A display shows how far a command is.
type display interface {
	// next is the time until show is called again, so long after the beginning.
	next(elapsed time.Duration) time.Duration
	show(s State)
	// clear makes room for other output.
	clear()
}

// Progress keeps the newest State of a command and shows it from time to time.
// It is safe for concurrent use.
type Progress struct {
	display display // nil to show nothing
	start   time.Time
	done    chan struct{}
	closing sync.Once
	wait    func() // for the end of tick
	// reported is App's.
	reported func()

	mu     sync.Mutex
	latest Stater
}

// ProgressFlag adds --progress.
func ProgressFlag(flags *pflag.FlagSet, form *string) {
	ChoiceVar(flags, form, "progress", "auto", "`form` of progress on stderr", "auto", "bar", "plain", "json", "none")
	flags.BoolP("quiet", "q", false, "show neither progress nor notes")
}

// NewProgress returns the progress display of that name. JSON lines go to stdout
// when the result is JSON too, everything else to stderr.
func (a *App) NewProgress(name string, asJSON bool) (*Progress, error) {
	d, err := a.newDisplay(name, asJSON)
	if err != nil {
		return nil, err
	}
	p := &Progress{display: d, start: time.Now(), done: make(chan struct{}), reported: a.Reported}
	if d != nil {
		p.wait = a.Background(p.tick)
	}
	return p, nil
}

// newDisplay returns nil for no display.
func (a *App) newDisplay(name string, asJSON bool) (display, error) {
	switch {
	case name == "none" || a.quiet:
		return nil, nil
	case name == "json" && asJSON:
		return &jsonLines{out: a.Out}, nil
	case name == "json":
		return &jsonLines{out: a.Err}, nil
	case name == "bar" || name == "auto" && HasCursor(a.Err):
		return &bar{out: a.Err}, nil
	case name == "plain" || name == "auto":
		return &plainLines{out: a.Err}, nil
	}
	return nil, Usagef("--progress %s: must be auto, bar, plain, json or none", Quoted(name))
}

// Update takes in how far the work is.
func (p *Progress) Update(latest Stater) {
	if p.reported != nil {
		p.reported()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = latest
}

// Show takes in the step that a job is at.
func (p *Progress) Show(s job.Step) { p.Update(step(s)) }

// tick shows the newest State until Close.
func (p *Progress) tick() {
	for {
		timer := time.NewTimer(p.display.next(time.Since(p.start)))
		select {
		case <-timer.C:
			p.show()
		case <-p.done:
			timer.Stop()
			return
		}
	}
}

func (p *Progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest == nil {
		return
	}
	p.display.show(p.latest.State(time.Since(p.start)))
}

// Pause lets print write to the terminal undisturbed.
func (p *Progress) Pause(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.display != nil {
		p.display.clear()
	}
	print()
}

// Event prints a line of its own if progress is shown as JSON lines. The line is an object with
// a type other than "progress" and a time, see Now.
func (p *Progress) Event(line any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.display.(*jsonLines); ok {
		l.print(line)
	}
}

// Now returns the time as JSON lines give it.
func Now() string { return time.Now().Format(time.RFC3339) }

// Close ends the display, once.
func (p *Progress) Close() {
	if p.display == nil {
		return
	}
	p.closing.Do(func() {
		close(p.done)
		p.wait()
		p.Pause(func() {})
	})
}

// plainLines prints a line now and then.
type plainLines struct{ out io.Writer }

// Plain lines come so often at first, then progressively less often: after a twelfth of the time
// that has gone by, and every five minutes in the end.
const (
	firstLines = 5 * time.Second
	lastLines  = 5 * time.Minute
	lineShare  = 12
)

func (*plainLines) next(elapsed time.Duration) time.Duration {
	return min(max(elapsed/lineShare, firstLines), lastLines)
}

func (*plainLines) clear() {}

func (l *plainLines) show(s State) {
	line := fmt.Sprintf("%s %s: %.1f%% of the run, ", time.Now().Format(time.DateTime), s.Doing, 100*s.Done/s.Total)
	if speed := Speed(s.Rate); speed != "" {
		line += speed + ", "
	}
	fmt.Fprintln(l.out, Wrap(line+s.eta(), WidthOf(l.out), 2))
}

// jsonLines prints a JSON object now and then.
type jsonLines struct{ out io.Writer }

func (*jsonLines) next(time.Duration) time.Duration { return time.Second }
func (*jsonLines) clear()                           {}

func (l *jsonLines) show(s State) {
	eta := s.LayerETA
	if eta == job.NoLayer {
		eta = s.RunETA
	}
	line := map[string]any{
		"type": "progress", "time": Now(),
		"progress": s.Done / s.Total, "doing": s.Doing,
		"seconds": s.Elapsed.Seconds(), "eta_seconds": SecondsOf(eta), "run_eta_seconds": SecondsOf(s.RunETA),
	}
	if s.Rate != job.NoRate {
		line["positions_per_second"] = s.Rate
	}
	if s.Detail != nil {
		line["detail"] = s.Detail
	}
	l.print(line)
}

// print prints a line. One that cannot be written is no reason to stop the run.
func (l *jsonLines) print(line any) { _ = json.NewEncoder(l.out).Encode(line) }

// bar draws a progress bar in the last line of a terminal.
type bar struct {
	out   io.Writer
	bar   *pb.ProgressBar
	drawn int // characters that it had
}

const barTemplate = `{{string . "left"}}{{bar . }}{{string . "right"}}`

// usualWidth is the width of a bar that goes to no terminal; leastBar is the least width of the bar alone.
const usualWidth, leastBar = 100, 10

func (*bar) next(time.Duration) time.Duration { return 200 * time.Millisecond }

func (b *bar) show(s State) {
	if b.bar == nil {
		b.bar = pb.New64(int64(s.Total)).SetTemplateString(barTemplate).SetWriter(b.out)
		b.bar.Set(pb.Static, true).Set(pb.Terminal, true).Set(pb.ReturnSymbol, "\r").Start()
	}
	width := WidthOf(b.out)
	if width == Unlimited {
		width = usualWidth
	}
	if width < b.drawn {
		b.wipe(width)
	}
	b.drawn = width
	left, right := s.beside(width - leastBar)
	b.bar.SetWidth(width).SetCurrent(int64(s.Done)).Set("left", left).Set("right", right)
	b.bar.Write()
}

// beside returns the text on both sides of a bar. It leaves out parts that do not fit the width:
// first the speed, the ETA of the run never.
func (s *State) beside(width int) (left, right string) {
	speed, percent, layer, run := Speed(s.Rate), fmt.Sprintf("%.2f%%", 100*s.Done/s.Total), "", "ETA "+RunETA(&job.Pace{Run: s.RunETA, Spread: s.Spread}, time.Now())
	if s.LayerETA != job.NoLayer {
		layer, run = "layer ETA "+Brief(s.LayerETA)+",", "run "+run
	}
	doing := s.Doing
	for _, part := range []*string{&speed, &layer, &doing, &percent} {
		if len(doing)+len(percent)+len(speed)+len(layer)+len(run)+5 <= width {
			break
		}
		*part = ""
	}
	if doing != "" {
		left = doing + " "
	}
	for _, part := range []string{percent, speed, layer, run} {
		if part != "" {
			right += " " + part
		}
	}
	return left, right
}

// wipe erases a bar that a terminal, which has become narrower, may have broken into several lines.
func (b *bar) wipe(width int) {
	if above := (b.drawn - 1) / (width + 1); above > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA", above)
	}
	fmt.Fprint(b.out, "\r\x1b[J")
}

func (b *bar) clear() {
	if b.bar != nil {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
