package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grenier/kernels/cpu"
)

// Release is the version of the program.
const Release = "0.1.0"

// build says which sources the program was built from, as far as that is known: builds in a
// clone of the repository know it, tests and builds with -buildvcs=false do not.
type build struct {
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"commit_date,omitempty"` // of the commit, RFC 3339, UTC
	Modified bool   `json:"modified,omitempty"`    // the sources had changes that are not in the commit
}

// buildOf reads the settings that the Go command has noted.
func buildOf(settings []debug.BuildSetting) (b build) {
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Program names this program: the version, and the commit, if it is known.
func Program() string { return Release + thisBuild().String() }

// thisBuild returns the build of this process.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{}
	}
	return buildOf(info.Settings)
}

// String returns the text after the version: the commit and its day, if they are known.
func (b build) String() string {
	if b.Commit == "" {
		return ""
	}
	text := " (commit " + b.Commit[:min(len(b.Commit), 12)]
	if day, _, ok := strings.Cut(b.Date, "T"); ok {
		text += " of " + day
	}
	if b.Modified {
		text += ", modified"
	}
	return text + ")"
}

// version returns the version with the commit, Go release and platform.
func version() string {
	return fmt.Sprintf("grenier %s%v, %s %s/%s", Release, thisBuild(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versionInfo is the JSON of version.
type versionInfo struct {
	Version string `json:"version"`
	build
	Go       string            `json:"go"`
	CPU      string            `json:"cpu"`
	Features []string          `json:"features"`
	Families []string          `json:"families"`
	Kernels  map[string]string `json:"kernels"`
}

// An operation has kernels.
type operation struct {
	name     string
	families []cpu.Family // with code of their own for it; others run the generic one
}

var operations = []operation{
	{"bitset", []cpu.Family{cpu.BMI2, cpu.AVX512}},
	{"compress", []cpu.Family{cpu.BMI2, cpu.AVX512, cpu.NEON}},
	{"transpose", []cpu.Family{cpu.BMI2, cpu.AVX512, cpu.NEON}},
	{"ranks", []cpu.Family{cpu.BMI2, cpu.AVX512}},
	{"rice", []cpu.Family{cpu.BMI2, cpu.AVX512}},
	{"fnv", []cpu.Family{cpu.AVX512}},
	{"planes", []cpu.Family{cpu.BMI2, cpu.AVX512}},
	{"window", []cpu.Family{cpu.BMI2, cpu.AVX512}},
}

// kernel returns the family whose code runs if f is chosen.
func (o operation) kernel(f cpu.Family) cpu.Family {
	if slices.Contains(o.families, f) {
		return f
	}
	return cpu.Generic
}

// VersionCommand returns the command that prints the version.
func VersionCommand(a *App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, commit, CPU features and the kernels chosen",
		Long: `Prints the version of grenier, its commit, the Go release that built it, the
CPU, and the kernels that are used for each operation: not every family has
code of its own for each of them. "grenier --version" prints the first line.
`,
		Example: "  grenier version --json",
		Args:    NoArgs,
		RunE: a.Start(func(*cobra.Command, []string) error {
			return a.printVersion(asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *App) printVersion(asJSON bool) error {
	chosen, err := Family()
	if err != nil {
		return err
	}
	info := versionInfo{
		Version: Release, build: thisBuild(), Go: runtime.Version(), CPU: cpu.Name(), Features: cpu.Features(), Kernels: map[string]string{},
	}
	for _, f := range cpu.Available() {
		info.Families = append(info.Families, f.String())
	}
	for _, o := range operations {
		info.Kernels[o.name] = o.kernel(chosen).String()
	}
	if asJSON {
		return a.PrintJSON(info)
	}
	fmt.Fprintln(a.Out, version())
	fmt.Fprintf(a.Out, "cpu       %s\n", info.CPU)
	fmt.Fprintf(a.Out, "features  %s\n", strings.Join(info.Features, " "))
	fmt.Fprintf(a.Out, "families  %s\n", strings.Join(info.Families, " "))
	for _, o := range operations {
		fmt.Fprintf(a.Out, "%-9s %s\n", o.name, info.Kernels[o.name])
	}
	return nil
}
