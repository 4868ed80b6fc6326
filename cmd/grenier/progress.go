package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/dustin/go-humanize"
)

// state says how far a command is.
type state struct {
	doing       string  // in a few words
	done, total float64 // positions
	elapsed     time.Duration
	rate        float64       // positions per second, 0 if not known yet, or noRate
	layerETA    time.Duration // of the layer in progress, unknown or noLayer
	runETA      time.Duration // of the whole command, or unknown
	detail      any           // for JSON lines, may be nil
}

// What a time that remains is when it is not known, and when there is no such
// thing.
const (
	unknown time.Duration = -1
	noLayer time.Duration = -2
)

// noRate is the rate of work that has no positions.
const noRate = -1

// speed returns a rate as text.
func speed(rate float64) string {
	switch {
	case rate == noRate:
		return ""
	case rate <= 0:
		return "? pos/s"
	}
	return humanize.SIWithDigits(rate, 1, "pos/s")
}

// eta returns the times that remain as text.
func (s *state) eta() string {
	if s.layerETA == noLayer {
		return "ETA " + brief(s.runETA)
	}
	return fmt.Sprintf("layer ETA %s, run ETA %s", brief(s.layerETA), brief(s.runETA))
}

// brief returns a time in two units at most.
func brief(d time.Duration) string {
	switch {
	case d < 0:
		return "?"
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	hours := int(d.Round(time.Hour).Hours())
	return fmt.Sprintf("%dd%dh", hours/24, hours%24)
}

// secondsOf returns d in seconds for JSON, nil if it is not known.
func secondsOf(d time.Duration) *float64 {
	if d < 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

// A stater is what the work reports, often; it becomes a state when it is shown.
type stater interface {
	state(elapsed time.Duration) state
}

// A display shows how far a command is.
type display interface {
	// every is the time between two calls of show.
	every() time.Duration
	show(s state)
	// clear makes room for other output.
	clear()
}

// progress keeps the newest state of a command and shows it from time to time.
// It is safe for concurrent use.
type progress struct {
	display display // nil to show nothing
	start   time.Time
	done    chan struct{}
	wait    func() // for the end of tick

	mu     sync.Mutex
	latest stater
}

// updated, in tests, is told of what is reported, by the goroutine that does the work.
var updated func()

const progressUsage = "`form` of progress on stderr: auto, bar, plain, json or none"

// newProgress returns the progress display of that name. JSON lines go to stdout
// when the result is JSON too, everything else to stderr.
func (a *app) newProgress(name string, asJSON bool) (*progress, error) {
	d, err := a.newDisplay(name, asJSON)
	if err != nil {
		return nil, err
	}
	p := &progress{display: d, start: time.Now(), done: make(chan struct{})}
	if d != nil {
		p.wait = a.background(p.tick)
	}
	return p, nil
}

// newDisplay returns nil for no display.
func (a *app) newDisplay(name string, asJSON bool) (display, error) {
	switch {
	case name == "none":
		return nil, nil
	case name == "json" && asJSON:
		return &jsonLines{out: a.out}, nil
	case name == "json":
		return &jsonLines{out: a.err}, nil
	case name == "bar" || name == "auto" && isTerminal(a.err):
		return &bar{out: a.err}, nil
	case name == "plain" || name == "auto":
		return &plainLines{out: a.err}, nil
	}
	return nil, usageError{fmt.Errorf("--progress %q: auto, bar, plain, json and none are possible", name)}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	if seen, ok := w.(*watched); ok {
		w = seen.Writer
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// update takes in how far the work is.
func (p *progress) update(latest stater) {
	if updated != nil {
		updated()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = latest
}

// tick shows the newest state until close.
func (p *progress) tick() {
	ticker := time.NewTicker(p.display.every())
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.show()
		case <-p.done:
			return
		}
	}
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest == nil {
		return
	}
	p.display.show(p.latest.state(time.Since(p.start)))
}

// pause lets print write to the terminal undisturbed.
func (p *progress) pause(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.display != nil {
		p.display.clear()
	}
	print()
}

// close ends the display.
func (p *progress) close() {
	if p.display == nil {
		return
	}
	close(p.done)
	p.wait()
	p.pause(func() {})
}

// plainLines prints a line now and then.
type plainLines struct{ out io.Writer }

func (*plainLines) every() time.Duration { return 5 * time.Second }
func (*plainLines) clear()               {}

func (l *plainLines) show(s state) {
	line := fmt.Sprintf("%s: %.1f%% of the run, ", s.doing, 100*s.done/s.total)
	if s.rate != noRate {
		line += speed(s.rate) + ", "
	}
	fmt.Fprintln(l.out, line+s.eta())
}

// jsonLines prints a JSON object now and then.
type jsonLines struct{ out io.Writer }

func (*jsonLines) every() time.Duration { return time.Second }
func (*jsonLines) clear()               {}

func (l *jsonLines) show(s state) {
	eta := s.layerETA
	if eta == noLayer {
		eta = s.runETA
	}
	line := map[string]any{
		"progress": s.done / s.total, "doing": s.doing,
		"seconds": s.elapsed.Seconds(), "eta_seconds": secondsOf(eta), "run_eta_seconds": secondsOf(s.runETA),
	}
	if s.rate != noRate {
		line["positions_per_second"] = s.rate
	}
	if s.detail != nil {
		line["detail"] = s.detail
	}
	// A line that cannot be written is no reason to stop the run.
	_ = json.NewEncoder(l.out).Encode(line)
}

// bar draws a progress bar in the last line of a terminal.
type bar struct {
	out io.Writer
	bar *pb.ProgressBar
}

const barTemplate = `{{string . "doing"}} {{bar . }} {{percent . }} {{string . "speed"}} {{string . "eta"}}`

func (*bar) every() time.Duration { return 200 * time.Millisecond }

func (b *bar) show(s state) {
	if b.bar == nil {
		b.bar = pb.New64(int64(s.total)).SetTemplateString(barTemplate).SetWriter(b.out)
		b.bar.Set(pb.Static, true).Set(pb.Terminal, true).Start()
	}
	b.bar.SetCurrent(int64(s.done)).Set("doing", s.doing).Set("speed", speed(s.rate)).Set("eta", s.eta())
	b.bar.Write()
}

func (b *bar) clear() {
	if b.bar != nil {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}

// steady is the state of work whose rate does not change much.
func steady(doing string, done, total uint64, elapsed time.Duration) state {
	s := state{
		doing: doing, done: float64(done), total: float64(total), elapsed: elapsed,
		rate: float64(done) / elapsed.Seconds(), layerETA: noLayer, runETA: unknown,
	}
	if s.rate > 0 {
		s.runETA = time.Duration((s.total - s.done) / s.rate * float64(time.Second))
	}
	return s
}
