package cli

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"grenier/io/memory"
)

// MemoryFlag is --memory: the most bytes that the process takes. See docs/memory.md.
type MemoryFlag struct {
	app   *App
	text  string
	given bool  // on the command line
	plans bool  // it is for another run, maybe on another machine
	force *bool // allows more than the machine has
}

// memoryUsage describes --memory.
const memoryUsage = "most `bytes` of memory for the process; a small machine lowers the default"

// Define adds --memory, and --force unless the command has that already.
func (m *MemoryFlag) Define(a *App, flags *pflag.FlagSet, usual string, force *bool) {
	*m = MemoryFlag{app: a, text: usual, force: force}
	flags.Var(m, "memory", memoryUsage)
	if force == nil {
		m.force = new(bool)
		flags.BoolVar(m.force, "force", false, "start even if the machine has less than --memory")
	}
}

// DefinePlan adds --memory to a command that only plans.
func (m *MemoryFlag) DefinePlan(a *App, flags *pflag.FlagSet, usual string) {
	*m = MemoryFlag{app: a, text: usual, plans: true}
	flags.Var(m, "memory", "most `bytes` of memory for the planned run")
}

// defined reports whether the command has the flag.
func (m *MemoryFlag) defined() bool { return m.app != nil }

func (m *MemoryFlag) String() string { return m.text }
func (m *MemoryFlag) Type() string   { return "bytes" }

// Set takes any text; Limit refuses text that is no number.
func (m *MemoryFlag) Set(text string) error {
	m.text, m.given = text, true
	return nil
}

// Limit returns the bytes that the process may take, and sets the limit of the garbage
// collector. It refuses more than the machine has, unless forced, but lowers the default
// with a note.
func (m *MemoryFlag) Limit() (uint64, error) {
	allowed, err := ParseBytes("--memory", m.text)
	if err != nil {
		return 0, err
	}
	switch machine := memory.OfMachine(); {
	case machine.Has(allowed), m.plans && m.given, m.force != nil && *m.force:
	case m.given:
		return 0, Usagef("--memory %s: %v; --force starts anyway", Quoted(m.text), machine)
	default:
		allowed = machine.Usual(allowed)
		m.text = fmt.Sprint(allowed)
		m.app.Note("%v, so --memory is %s (%d bytes)", machine, humanize.IBytes(allowed), allowed)
	}
	if !m.plans {
		m.app.atEnd = append(m.app.atEnd, memory.Bound(allowed))
	}
	return allowed, nil
}

// Calibrating refuses a calibration that takes more than --memory.
func (m *MemoryFlag) Calibrating(threads int) error {
	const least, perThread = 80 << 20, 2 << 20
	allowed, err := ParseBytes("--memory", m.text)
	if need := uint64(least + threads*perThread); err == nil && allowed < need {
		err = m.Explain(&memory.Error{What: "a calibration", Need: need, Allowed: allowed, Enough: "--calibration uses a saved one"})
	}
	return err
}

// Explain makes a memory error one about --memory.
func (m *MemoryFlag) Explain(err error) error {
	if IsType[*memory.Error](err) {
		return Usagef("--memory %s: %w", m.text, err)
	}
	return err
}

// fewest is what no run and no disk has so little of: a number below it lacks its unit.
const fewest = 1 << 10

// ParseBytes reads the value of a flag that is a number of bytes. It fails with bad usage.
func ParseBytes(flag, text string) (uint64, error) {
	n, err := humanize.ParseBytes(text)
	switch {
	case err != nil || n == 0 || n > 1<<62:
		return 0, Usagef("%s %s: must be a number of bytes like 8GiB", flag, Quoted(text))
	case n < fewest && strings.Trim(text, "0123456789.") == "":
		return 0, Usagef("%s %s: that is %s; did you mean %sGiB?", flag, text, Count(n, "byte"), text)
	}
	return n, nil
}
