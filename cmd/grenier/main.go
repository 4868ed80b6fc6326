// Command grenier solves awari exactly, layer by layer, and answers questions about the solved
// layers; it solves the swap puzzle, chemin and peg solitaire, and encodes set-ups of Pijersi. Below this
// directory there is a package for each system with a file for each command (awari/solve.go
// is grenier awari solve), package cli, which they share, and package commands, which puts
// them together. The tests of the whole program are here; main_test.go and testdata/script
// have their helpers.
package main

import (
	"grenier/cmd/grenier/cli"
	"grenier/cmd/grenier/commands"
)

func main() { cli.Main(commands.Root) }
