package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"grenier/kernels/cpu"
)

// release is the version of the program.
const release = "0.1.0"

// versionInfo is what version prints.
type versionInfo struct {
	Version  string            `json:"version"`
	Go       string            `json:"go"`
	CPU      string            `json:"cpu"`
	Features []string          `json:"features"`
	Families []string          `json:"families"`
	Kernels  map[string]string `json:"kernels"`
}

// kernelNames lists the operations that have kernels.
var kernelNames = []string{"compress", "transpose", "ranks", "rice", "fnv"}

func (a *app) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, CPU features and the kernels chosen",
		Long: `Prints the version, the Go release it was built with, the CPU and the kernel
family chosen for each operation. GRENIER_KERNEL=generic|bmi2|avx512 forces one.
` + exitHelp,
		Example: "  grenier version --json",
		Args:    noArgs,
		RunE: a.start(func(*cobra.Command, []string) error {
			return a.printVersion(asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) printVersion(asJSON bool) error {
	chosen, err := family()
	if err != nil {
		return err
	}
	info := versionInfo{
		Version: release, Go: runtime.Version(), CPU: cpu.Name(), Features: cpu.Features(), Kernels: map[string]string{},
	}
	for _, f := range cpu.Available() {
		info.Families = append(info.Families, f.String())
	}
	for _, name := range kernelNames {
		info.Kernels[name] = chosen.String()
	}
	if asJSON {
		return a.printJSON(info)
	}
	fmt.Fprintf(a.out, "grenier %s, %s %s/%s\n", info.Version, info.Go, runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(a.out, "cpu       %s\n", info.CPU)
	fmt.Fprintf(a.out, "features  %s\n", strings.Join(info.Features, " "))
	fmt.Fprintf(a.out, "families  %s\n", strings.Join(info.Families, " "))
	for _, name := range kernelNames {
		fmt.Fprintf(a.out, "%-9s %s\n", name, info.Kernels[name])
	}
	return nil
}
