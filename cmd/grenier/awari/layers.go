package awari

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
	"grenier/layers/awari"
)

// layersFlag is --layer: one layer, or several that follow each other; all if it is not given.
type layersFlag struct {
	from, to int
	given    bool
	any      bool // -1 stands for all
}

// anyLayers adds the flag to a command that takes all layers without it; what begins its help.
func anyLayers(cmd *cobra.Command, f *layersFlag, what string) {
	layersVar(cmd, f, what)
	f.any = true
}

// layersVar adds the flag.
func layersVar(cmd *cobra.Command, f *layersFlag, what string) {
	cmd.Flags().Var(f, "layer", what+"layer of `n` seeds, or a..b for the layers of a to b seeds")
}

// needLayers adds the flag to a command that needs it.
func needLayers(cmd *cobra.Command, f *layersFlag) {
	layersVar(cmd, f, "the ")
	cli.Need(cmd, "layer")
}

func (f *layersFlag) String() string {
	switch {
	case !f.given:
		return ""
	case f.from == f.to:
		return strconv.Itoa(f.from)
	}
	return fmt.Sprintf("%d..%d", f.from, f.to)
}

func (f *layersFlag) Type() string { return "layers" }

// Set reads one number, or two with .. between that do not decrease; -1 stands for all layers.
func (f *layersFlag) Set(text string) error {
	if text == "-1" && f.any {
		f.given = false
		return nil
	}
	low, high, two := strings.Cut(text, "..")
	if !two {
		high = low
	}
	from, err := strconv.ParseUint(low, 10, 16)
	to, err2 := strconv.ParseUint(high, 10, 16)
	if err != nil || err2 != nil || from > to || to > awari.MaxSeeds {
		return cli.Must(fmt.Sprintf("a number of seeds from 0 to %d, or a range of them like 3..5", awari.MaxSeeds))
	}
	f.from, f.to, f.given = int(from), int(to), true
	return nil
}

// list returns the layers, nil for all.
func (f *layersFlag) list() (seeds []int) {
	for n := f.from; f.given && n <= f.to; n++ {
		seeds = append(seeds, n)
	}
	return seeds
}
