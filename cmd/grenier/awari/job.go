package awari

import (
	"runtime"

	"github.com/spf13/pflag"

	"grenier/cmd/grenier/cli"
	"grenier/kernels/cpu"
)

// jobFlags are the flags of commands that work for a while.
type jobFlags struct {
	threads  int
	memory   cli.MemoryFlag
	progress string
	json     bool
}

// define adds the flags: --memory with the usual value, --json for what is printed then.
func (f *jobFlags) define(a *app, flags *pflag.FlagSet, memory, json string) {
	f.memory.Define(a.App, flags, memory, nil)
	cli.ThreadsFlag(flags, &f.threads, "use")
	cli.ProgressFlag(flags, &f.progress)
	flags.BoolVar(&f.json, "json", false, json)
}

// jsonUsage describes --json.
const jsonUsage = "print one JSON object"

// resources checks the flags, and returns what the job may take and the kernels for it.
func (f *jobFlags) resources() (workers int, memory uint64, family cpu.Family, err error) {
	if err = cli.CheckThreads(f.threads); err == nil {
		memory, err = f.memory.Limit()
	}
	if err == nil {
		family, err = cli.Family()
	}
	return f.threads, memory, family, err
}

// begin begins a job: it returns how its progress is shown.
func (a *app) begin(f *jobFlags) (*cli.Progress, error) {
	shown, err := a.NewProgress(f.progress, f.json)
	runtime.GOMAXPROCS(f.threads)
	return shown, err
}
