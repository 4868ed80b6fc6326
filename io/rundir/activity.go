package rundir

import "time"

// States that no solver reports about itself.
const (
	// Killed is a solver that ended without a report: killed, or the power
	// failed.
	Killed State = "killed"
	// None: no solver is running, and nothing is known about the last
	// one.
	None State = "none"
)

// patience is how old the report of a running solver may be.
const patience = 30 * time.Second

// Holder says who may write in a run directory.
type Holder struct {
	Held  bool // a process has the lock
	PID   int  // of that process, or of one that ended without unlocking; 0 if there is none
	Alive bool // this machine has a process of that id
}

// Activity describes who works in a run directory, and how far the work is.
type Activity struct {
	State State
	Holder
	// Report is the report of the solver: the last one if it is gone.
	Report *Status
	// NoReport, if not nil, says why there is no Report.
	NoReport error
}

// Activity looks at the lock and the status file, changing nothing. A report that
// cannot be read is no error, see NoReport; a lock file that cannot be is one, of the
// operating system. The time is that to which reports are compared.
func (d *Dir) Activity(now time.Time) (Activity, error) {
	for tries := 0; ; tries++ {
		before, err := d.holder()
		if err != nil {
			return Activity{}, err
		}
		s, noReport := d.Status()
		after, err := d.holder()
		if err != nil {
			return Activity{}, err
		}
		// While a solver comes or goes, lock and report do not agree.
		if settled := before == after && (!after.Held || after.PID > 0); settled || tries == 5 {
			return activity(after, s, noReport, now), nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// holder looks at the lock file.
func (d *Dir) holder() (Holder, error) {
	dir, err := d.open()
	if err != nil {
		return Holder{}, err
	}
	defer dir.Close()
	held, err := isHeld(dir)
	pid, _ := readPID(dir)
	h := Holder{Held: held, PID: pid}
	h.Alive = h.PID > 0 && isAlive(h.PID)
	return h, err
}

// activity derives the state of a run from the lock and the report, or its
// absence.
func activity(h Holder, s *Status, noReport error, now time.Time) Activity {
	if s != nil {
		if noReport = s.outdated(h, now); noReport != nil {
			s = nil
		}
	}
	a := Activity{Holder: h, Report: s, NoReport: noReport}
	switch {
	case h.Held:
		a.State = Running
	case s == nil && h.PID == 0:
		a.State = None
	case s == nil || s.State == Running:
		a.State = Killed
	default:
		a.State = s.State
	}
	return a
}

// outdated says why s is not about the last solver, or not about its present.
func (s *Status) outdated(h Holder, now time.Time) error {
	age := now.Sub(s.Reported)
	switch {
	case h.PID > 0 && h.PID != s.PID:
		return noReport("the last one is of process %d", s.PID)
	case h.Held && s.State != Running:
		return noReport("the last one is of a run that ended")
	case h.Held && age > patience:
		return noReport("the last one is %v old", age.Round(time.Second))
	}
	return nil
}
