package awari

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grenier/cmd/grenier/cli"
)

// layersFlag is --layer of commands that take one layer or several that follow each other.
type layersFlag struct{ from, to int }

// needLayers adds the flag.
func needLayers(cmd *cobra.Command, f *layersFlag) {
	cmd.Flags().Var(f, "layer", "the layer of `n` seeds, or a..b for the layers of a to b seeds")
	cli.Need(cmd, "layer")
}

func (f *layersFlag) String() string {
	if f.from == f.to {
		return strconv.Itoa(f.from)
	}
	return fmt.Sprintf("%d..%d", f.from, f.to)
}

func (f *layersFlag) Type() string { return "layers" }

var errLayers = errors.New("no layers")

// Set reads one number, or two with .. between that do not decrease.
func (f *layersFlag) Set(text string) error {
	low, high, two := strings.Cut(text, "..")
	if !two {
		high = low
	}
	from, err := strconv.ParseUint(low, 10, 16)
	to, err2 := strconv.ParseUint(high, 10, 16)
	if err != nil || err2 != nil || from > to {
		return errLayers
	}
	f.from, f.to = int(from), int(to)
	return nil
}
