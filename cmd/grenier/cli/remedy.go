package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/rundir"
)

// remedy says how to mend damage that a command found, or nothing if that is unknown.
func remedy(command string, err error) string {
	e, ok := errors.AsType[*corrupt.Error](err)
	if _, stale := errors.AsType[*manifest.StaleError](err); ok && stale {
		dir, _ := rundir.Damaged(e)
		return StaleRemedy(dir)
	}
	if !ok || command == "grenier awari repair" { // repair says itself what to do
		return ""
	}
	if _, ok := errors.AsType[unusable](err); ok {
		return "to measure again: " + command + " --save-calibration FILE"
	}
	dir, name := filepath.Dir(e.File), filepath.Base(e.File)
	broken, isRun := rundir.Damaged(e)
	isAwari := strings.HasPrefix(command, "grenier awari ")
	switch {
	case errors.Is(err, layerfile.ErrZstd):
		return "" // the error says it
	case errors.Is(err, corrupt.ErrVersion):
		return "use the version of grenier that wrote it"
	case strings.Contains(e.File, "://"):
		return "repair it on the server: grenier awari repair"
	case isRun && isAwari:
		return "to repair it: grenier awari repair --dir " + word(broken)
	case name == rundir.ManifestName && !isAwari:
		return "to start over, remove " + word(filepath.Join(dir, rundir.ManifestName)) + " and " + word(filepath.Join(dir, rundir.WorkName))
	case filepath.Base(dir) == rundir.WorkName:
		return "to start over, remove " + word(dir)
	case errors.Is(err, corrupt.ErrForeign), errors.Is(err, corrupt.ErrMismatch):
		return "is the path right?"
	}
	return remedies[command]
}

// StaleRemedy says how to mend a layer of the run directory dir that was made from other layers.
func StaleRemedy(dir string) string {
	return "to solve it again: grenier awari repair --set-aside --dir " + word(dir)
}

// SolveRemedy says how to solve a layer that the run directory dir lacks; flags are those of its game.
func SolveRemedy(dir string, seeds int, flags string) string {
	return fmt.Sprintf("to solve it: grenier awari solve --seeds %d%s --dir %s", seeds, flags, word(dir))
}

// remedies says, by command, how to replace a damaged file on the command line.
var remedies = map[string]string{
	"grenier awari find":   "to search again, remove it",
	"grenier awari import": "get the file again",
	"grenier awari step":   "if a step has made it, that step makes it again",
	"grenier swap solve":   "to build it again: grenier swap pdb build",
}

// plain are the characters that a shell leaves alone.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%"

// word returns a path as a word for a shell.
func word(path string) string {
	if strings.Trim(path, plain) == "" && path != "" && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
