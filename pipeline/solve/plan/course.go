package plan

import (
	"math"
	"slices"
	"time"

	"grenier/pipeline/solve/internal/halfboard"
)

// Stage is a step of the work on a layer, as a plan has it.
type Stage uint8

// The stages. A layer in memory has no Turn; one in windows has Turn, Sweep and Full in each.
const (
	Capture Stage = iota
	Turn
	Sweep
	Full
	Seal
	// If the layer was begun by an earlier run, which no plan has:
	Look  // at what that kept
	Check // of a sample of the file

	allStages // stands for any
)

// of returns the seconds of a stage.
func (t Times) of(s Stage) float64 {
	return [allStages]float64{t.Capture, t.Turn, t.Sweep, t.Full, t.Seal}[s]
}

// Place is where a run is.
type Place struct {
	Seeds int // of the layer in progress
	Stage Stage
	// Base and Values are of the window in progress; Values is 0 in a layer in one piece.
	Base, Values int
	// Ends is the share of scores that were at an end of the window before, which are those that this one and
	// later ones search; 0 if that is not known.
	Ends   float64
	Sweeps int             // begun in the layer so far
	Part   float64         // of the stage, or of the sweep, that is done
	Kept   *halfboard.Kept // in the stage Look
}

// Course follows a run and says how long it still takes: as planned, times what stages took so
// far for what was planned for them. It is not safe for concurrent use.
type Course struct {
	run               Run
	machine           *Calibration
	layers            []Layer // to be solved, the first one in progress
	legs              []leg   // of the layer in progress
	at                int     // index of the leg in progress
	partly            int     // base of the window that an earlier run has swept in part, -1 if there is none
	counted           int     // base of the window from which on the plan knows how many scores are searched
	seen              bool    // it has reported
	part              float64 // of it that is done
	since             time.Time
	began             time.Time
	begun             float64 // share of the run that earlier runs had done
	inLayer           float64 // seconds of the legs before the one in progress, those that an earlier run did included
	inRest            float64 // seconds of the legs after it, as expected
	later             float64 // likewise of the layers after the one in progress
	sure              float64 // of these two, those of known kinds
	share, layerShare float64 // as told last
	rates             map[kind]*rate
	curves            map[kind]curve
	marks             []float64 // seconds from the beginning of the leg to each of its sweeps
	first             int       // sweep of the leg
}

// leg is one stage of one window.
type leg struct {
	kind
	base    int
	seconds float64 // as planned
}

// kind groups legs whose plans are wrong by the same factor.
type kind struct {
	bits  int // 0 stands for any
	stage Stage
	order int // of the window: first, second, later; thin ones apart
}

// The orders of windows.
const (
	anyOrder = iota
	firstWindow
	secondWindow
	laterWindow
	thinWindow
)

// wider returns the kinds that k belongs to, itself last.
func (k kind) wider() [4]kind {
	return [4]kind{{stage: allStages}, {stage: k.stage}, {bits: k.bits, stage: k.stage}, k}
}

// rate sums up legs that have ended: their planned and their true seconds.
type rate struct{ planned, took float64 }

const (
	// prior is how many seconds of planned work count as much as what is assumed for a kind.
	prior = 0.3
	// forget is what rates keep of their weight from one layer to the next.
	forget = 0.5
	// known is the seconds of planned work from which on a kind counts as known.
	known = 0.5
	// A run that has taken fewer seconds than young tells a share as if it took up to caution times longer.
	young, caution = 10, 0.7
	// Spread of what is left, if all of it is of known kinds, and if none is.
	leastSpread, mostSpread = 0.1, 0.6
)

// NewCourse returns the course of a run that begins now. It fails as New does.
func NewCourse(r Run, c *Calibration, now time.Time) (*Course, error) {
	p, err := r.plan(c)
	if err != nil {
		return nil, err
	}
	course := &Course{run: r, machine: c, layers: p.Layers, began: now, since: now, rates: map[kind]*rate{}, curves: map[kind]curve{}}
	course.lay()
	return course, nil
}

// Assume tells what a layer took before the run, as a manifest says it.
func (c *Course) Assume(seeds int, seconds float64) {
	a, err := c.run.amountsOf(seeds)
	if err != nil || seconds < known {
		return
	}
	all := c.rate(kind{stage: allStages})
	all.planned += c.machine.times(&a, c.machine.Speeds(c.run.Cores).Least).sum()
	all.took += seconds
	c.expect()
}

// lay lays out the legs of the first layer.
func (c *Course) lay() {
	c.legs, c.inLayer, c.layerShare, c.counted, c.partly = nil, 0, 0, 0, -1
	c.enter(0, c.since)
	if len(c.layers) > 0 {
		c.legs = c.layers[0].legs()
	}
	c.expect()
}

// expect brings up to date what is left after the leg in progress. Reports come often, and need no more than that.
func (c *Course) expect() {
	c.inRest, c.later, c.sure = 0, 0, 0
	for _, leg := range c.legs[min(c.at+1, len(c.legs)):] {
		c.inRest += c.add(leg)
	}
	for _, l := range c.layers[min(1, len(c.layers)):] {
		for _, leg := range l.legs() {
			c.later += c.add(leg)
		}
	}
}

// add returns the seconds that a leg takes, and counts them if they are of a known kind.
func (c *Course) add(l leg) (seconds float64) {
	seconds = c.planned(l)
	if c.knows(l.kind) {
		c.sure += seconds
	}
	return seconds
}

// knows reports whether legs of a kind were met.
func (c *Course) knows(k kind) bool {
	r := c.rates[k]
	return r != nil && r.planned+r.took > known
}

// Only says that of the layer in progress a share of one stage is left, or, if that is Sweep, of all stages of the window
// with a base.
func (c *Course) Only(stage Stage, base int, share float64) {
	c.legs = slices.DeleteFunc(c.legs, func(l leg) bool {
		return l.stage != stage && (stage != Sweep || l.order == anyOrder) || l.base != base
	})
	for i := range c.legs {
		c.legs[i].seconds *= share
	}
	c.expect()
}

// Resumed says that an earlier run began the layer in progress, so that a sample of its file is
// checked, of the given number of positions.
func (c *Course) Resumed(sample int) {
	if len(c.layers) == 0 {
		return
	}
	const each = 3300e-9 // seconds of one core for a position and its moves
	l := &c.layers[0]
	seconds := each * min(float64(sample), float64(l.Positions))
	decode := c.machine.Decode * 1e-9
	if !l.InMemory() {
		decode *= sparingDecode
	}
	for n := range l.Seeds + 1 { // most blocks of all layers
		seconds += decode * float64(halfboard.Positions(c.run.Game, n))
	}
	seconds /= c.machine.Speeds(c.run.Cores).Least
	c.legs = append(c.legs, leg{kind: kind{bits: l.Bits, stage: Check}, seconds: seconds})
	c.expect()
}

// legs returns the legs of a layer, in order.
func (l *Layer) legs() []leg {
	all := []leg{{kind: kind{bits: l.Bits, stage: Capture}, seconds: l.Times.Capture}}
	if l.InMemory() {
		for _, stage := range []Stage{Sweep, Full} {
			all = append(all, leg{kind: kind{bits: l.Bits, stage: stage}, seconds: l.Times.of(stage)})
		}
	}
	for i, s := range l.steps {
		all = append(all, l.window(i, s)...)
	}
	return append(all, leg{kind: kind{bits: l.Bits, stage: Seal}, seconds: l.Times.Seal})
}

// window returns the legs of a window.
func (l *Layer) window(i int, s step) (legs []leg) {
	order := min(firstWindow+i, laterWindow)
	if s.thin {
		order = thinWindow
	}
	var all [allStages]float64
	for i, s := range l.steps {
		for stage := range all {
			all[stage] += s.weight(i, Stage(stage))
		}
	}
	for stage := Turn; stage <= Full; stage++ {
		legs = append(legs, leg{kind: kind{l.Bits, stage, order}, base: s.base, seconds: s.weight(i, stage) / all[stage] * l.Times.of(stage)})
	}
	return legs
}

// sweepPower: sweeps of a window take time by this power of the share of scores that it shows, as on layers 22 to 26.
const sweepPower = 0.35

// weight is the time that window i takes for a stage, relative to the other windows.
func (s step) weight(i int, stage Stage) float64 {
	const later = 0.5 // of the other windows: the first one turns nothing, and stores more
	switch {
	case stage == Sweep:
		return math.Pow(s.share(), sweepPower) * s.open * max(s.cost.own, 1)
	case stage == Turn && i == 0, stage == Full && i > 0:
		return later * s.lines
	}
	return s.lines
}

// share returns the share of its scores that a window shows.
func (s step) share() float64 {
	if s.thin {
		return s.shown / s.open / s.cost.sweep * thinLines
	}
	return s.shown / s.open
}

// rate returns the rate of a kind.
func (c *Course) rate(k kind) *rate {
	r := c.rates[k]
	if r == nil {
		r = &rate{}
		c.rates[k] = r
	}
	return r
}

// factor returns how many times as long as planned legs of a kind take.
func (c *Course) factor(k kind) float64 {
	f := 1.0
	for _, k := range k.wider() {
		if r := c.rates[k]; r != nil {
			f = (f*prior + r.took) / (prior + r.planned)
		}
	}
	return f
}

// Reach records where the run is.
func (c *Course) Reach(p Place, now time.Time) {
	if p.Stage != Look && p.Ends > 0 && p.Base > c.counted && len(c.layers) > 0 {
		c.counted = p.Base
		c.replan(p)
	}
	if p.Stage == Look && len(c.legs) > 0 && c.legs[0].stage != Look {
		c.look(p.Kept)
	}
	at := c.find(p)
	if at < c.at {
		return // a late report
	}
	if at > c.at {
		c.turnTo(at, now)
	}
	if p.Stage == Sweep {
		p.Part = c.swept(p, now)
	}
	c.seen, c.part = true, min(max(c.part, p.Part), 1)
}

// look lays out a leg in which what an earlier run kept is read, in the place of those that it saves.
func (c *Course) look(kept *halfboard.Kept) {
	legs, earlier := []leg{{kind: kind{stage: Look}, seconds: float64(kept.Bytes) / c.machine.Read}}, 0.0
	for _, l := range c.legs {
		saved := 0.0
		switch {
		case l.stage == Capture:
			saved = kept.Captures
		case l.order != anyOrder && l.base < kept.Base: // a window
			saved = 1
		}
		earlier += saved * c.planned(l)
		l.seconds *= 1 - saved
		if saved < 1 {
			legs = append(legs, l)
		}
	}
	c.legs = legs
	if kept.Swept {
		c.partly = kept.Base
	}
	c.inLayer += earlier
	c.expect()
	c.before(earlier)
}

// before counts seconds that earlier runs took for the layer in progress as done.
func (c *Course) before(seconds float64) {
	if seconds > 0 {
		layer, run := c.left(0)
		c.begun += (1 - c.begun) * seconds / (seconds + layer + run)
	}
}

// enter begins a leg.
func (c *Course) enter(at int, now time.Time) {
	c.at, c.seen, c.part, c.since, c.marks = at, false, 0, now, nil
}

// find returns the index of the leg that a report is about. It lays out windows anew from the one in progress on if
// the engine chose others than planned.
func (c *Course) find(p Place) int {
	for again := false; ; again = true {
		for i, l := range c.legs {
			if l.stage == p.Stage && (p.Stage != Turn && p.Stage != Sweep && p.Stage != Full || c.isOf(l, p)) {
				return i
			}
		}
		if again || p.Values == 0 || len(c.layers) == 0 {
			return c.at
		}
		c.replan(p)
	}
}

// isOf reports whether a leg is of the window of a report, as narrow as that.
func (c *Course) isOf(l leg, p Place) bool {
	return l.base == p.Base && (p.Values == 0 || (l.order == thinWindow) == c.thin(p))
}

// thin reports whether the window of a report is thin.
func (c *Course) thin(p Place) bool { return p.Values != widthOf(c.layers[0].Bits).values }

// replan lays out the windows from the one in progress on. They search more or fewer scores than planned, as it does.
func (c *Course) replan(p Place) {
	end := slices.IndexFunc(c.legs, func(l leg) bool { return l.stage == Seal })
	if end < 0 {
		return // a step: see Only
	}
	l := c.layers[0]
	w := widthOf(l.Bits)
	steps := c.run.windows(w, l.Seeds, step{base: p.Base, thin: c.thin(p)})
	layerLoads(c.run.Game, l.Seeds, steps)
	if expected := beyond(c.run.Game, l.Seeds, p.Base); p.Ends > 0 && expected > 0 {
		for i := range steps {
			steps[i].shown *= p.Ends / expected
		}
	}
	kept, windows := 0, 0
	for kept < len(c.legs) && c.legs[kept].stage != Seal && (c.legs[kept].stage == Look || c.legs[kept].stage == Capture || c.legs[kept].base < p.Base) {
		kept++
	}
	for windows < len(l.steps) && l.steps[windows].base < p.Base {
		windows++
	}
	sealing := c.legs[end:]
	c.legs = c.legs[:kept:kept]
	for i, s := range steps {
		c.legs = append(c.legs, l.window(windows+i, s)...)
	}
	c.legs = append(c.legs, sealing...)
	c.at = min(c.at, kept)
	c.expect()
}

// turnTo ends the leg in progress and begins another one. Legs between them were done by an earlier run.
func (c *Course) turnTo(at int, now time.Time) {
	took := now.Sub(c.since).Seconds()
	c.inLayer += took
	skipped := c.legs[c.at:at]
	if c.seen {
		c.learn(skipped[0], took)
		skipped = skipped[1:]
	}
	earlier := 0.0
	for _, l := range skipped {
		earlier += c.planned(l)
	}
	c.inLayer += earlier
	c.enter(at, now)
	c.expect()
	c.before(earlier)
}

// planned returns the seconds that a leg takes by what is known.
func (c *Course) planned(l leg) float64 { return l.seconds * c.factor(l.kind) }

// isPart reports whether a leg is what an earlier run has left of its sweeps, or the beginning of these: nobody knows how
// much that is, so that it tells nothing if it takes less than all.
func (c *Course) isPart(l leg) bool {
	return (l.stage == Turn || l.stage == Sweep) && l.base == c.partly
}

// learn learns from a leg that has ended.
func (c *Course) learn(l leg, took float64) {
	if l.seconds <= 0 || c.isPart(l) && took < c.planned(l) {
		return
	}
	for _, k := range l.wider() {
		if k.stage == allStages && l.stage >= Look {
			continue // it tells nothing of stages that compute
		}
		r := c.rate(k)
		r.planned += l.seconds
		r.took += took
	}
	if l.stage == Sweep && took > 0 {
		c.curves[l.kind] = newCurve(c.marks, took)
	}
}

// swept returns the share of its leg that is done when a part of a sweep is.
func (c *Course) swept(p Place, now time.Time) float64 {
	if len(c.marks) == 0 {
		c.first = p.Sweeps
	}
	sweep := max(0, p.Sweeps-c.first)
	for len(c.marks) <= sweep {
		c.marks = append(c.marks, now.Sub(c.since).Seconds())
	}
	known, ok := c.curves[c.legs[c.at].kind]
	if !ok {
		known = typical
	}
	return known.at(sweep, p.Part)
}

// Sealed records that the layer in progress is sealed.
func (c *Course) Sealed(now time.Time) {
	if len(c.layers) == 0 {
		return
	}
	if c.seen {
		c.learn(c.legs[c.at], now.Sub(c.since).Seconds())
	}
	c.layers, c.since = c.layers[1:], now
	for _, r := range c.rates {
		r.planned, r.took = r.planned*forget, r.took*forget
	}
	c.lay()
}

// Left is how long a run still takes.
type Left struct {
	Share, LayerShare float64 // of the time that is over
	Layer, Run        time.Duration
	// Spread says how sure that is: Run may be 1 + Spread times as long, or as short.
	Spread float64
}

// Left returns how long the run still takes.
func (c *Course) Left(now time.Time) Left {
	took, over := now.Sub(c.since).Seconds(), now.Sub(c.began).Seconds()
	layer, later := c.left(took)
	run := layer + later
	left := Left{LayerShare: share(c.inLayer+took, layer), Layer: duration(layer), Run: duration(run), Spread: c.spread(run)}
	late := run * (1 + caution*max(0, 1-over/young)) // a share never falls, so one that was too large would stay
	c.share, c.layerShare = max(c.share, c.begun+(1-c.begun)*share(over, late)), max(c.layerShare, left.LayerShare)
	left.Share, left.LayerShare = c.share, c.layerShare
	return left
}

// share returns the share that is over of some time when some is left.
func share(over, left float64) float64 {
	if left <= 0 {
		return 1
	}
	return over / (over + left)
}

// left returns the seconds that are left of the layer in progress, whose leg has taken some, and of those after it.
func (c *Course) left(took float64) (layer, later float64) {
	if len(c.legs) == 0 {
		return 0, 0
	}
	leg := c.ofLeg(took)
	slower := c.slower(took + leg)
	return leg + slower*c.inRest, slower * c.later
}

// slower returns how many times as long as expected the work takes after the leg in progress, which takes some seconds in
// all: as that leg, as far as it is done and other legs have not told more.
func (c *Course) slower(took float64) float64 {
	rest, leg := c.inRest+c.later, c.legs[c.at]
	if rest <= 0 || leg.seconds <= 0 || leg.stage >= Look || c.isPart(leg) && took < c.planned(leg) {
		return 1
	}
	seen, before := c.part*leg.seconds, prior
	if all := c.rates[kind{stage: allStages}]; all != nil {
		before += all.planned
	}
	unsure := max(0, 1-c.sure/rest) * seen / (seen + before)
	return 1 + unsure*(took/c.planned(leg)-1)
}

// ofLeg returns the seconds that are left of the leg in progress: as planned, and more and more as fast as it was so far.
func (c *Course) ofLeg(took float64) float64 {
	return (1 - c.part) * ((1-c.part)*c.planned(c.legs[c.at]) + took)
}

// Calibration returns the calibration with which plans would have been right so far.
func (c *Course) Calibration() *Calibration {
	next := *c.machine
	next.Date = time.Now().UTC().Truncate(time.Second)
	times := func(bits int, stage Stage, cost *float64) { *cost *= c.factor(kind{bits: bits, stage: stage}) }
	times(8, Capture, &next.Capture)
	times(8, Sweep, &next.Sweep)
	times(8, Seal, &next.Seal)
	for _, bits := range Widths() {
		w := next.Of(bits)
		times(bits, Capture, &w.Capture)
		times(bits, Sweep, &w.Sweep)
		times(bits, Full, &w.Full)
		times(bits, Seal, &w.Seal)
	}
	return &next
}

// spread returns how unsure the seconds are that are left.
func (c *Course) spread(left float64) float64 {
	if left <= 0 {
		return 0
	}
	sure := c.sure
	if len(c.legs) > 0 && c.knows(c.legs[c.at].kind) {
		sure += c.planned(c.legs[c.at])
	}
	return mostSpread - (mostSpread-leastSpread)*min(sure/left, 1)
}

// duration returns seconds as a duration.
func duration(seconds float64) time.Duration {
	const most = 100 * 365 * 24 * 3600
	return time.Duration(min(seconds, most) * float64(time.Second))
}

// curve has for each sweep the share of the time before it.
type curve []float64

// newCurve returns the curve of sweeps that began at marks, of a leg that took some seconds.
func newCurve(marks []float64, took float64) (c curve) {
	for _, m := range marks {
		c = append(c, m/took)
	}
	return c
}

// at returns the share of the time that is over when a part of a sweep is done.
func (c curve) at(sweep int, part float64) float64 {
	end := 1.0
	if sweep+1 < len(c) {
		end = c[sweep+1]
	}
	if sweep >= len(c) {
		return 1
	}
	return c[sweep] + part*(end-c[sweep])
}

// typical is the curve of sweeps that each take a tenth less than the one before.
var typical = func() (c curve) {
	for k := range 45 {
		c = append(c, 1-math.Pow(0.9, float64(k)))
	}
	return c
}()
