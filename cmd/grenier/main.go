// Command grenier solves awari exactly, layer by layer, and answers questions
// about the solved layers; it solves the swap puzzle and boards of chemin, and
// encodes set-ups of Pijersi. This directory is the command line and has no logic of its
// own: a package for each system, which holds its commands, one file each (awari/solve.go is
// grenier awari solve), package cli, which all of them share, and package commands, which
// puts them together. The tests that run the whole program are here: main_test.go and
// testdata/script have what they need.
package main

import (
	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
)

func main() { cli.Main(commands.Root) }
