package cli

import (
	"errors"
	"path/filepath"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/rundir"
)

// remedy says what to do about damage that a command has met, by what is damaged; it is
// empty if there is nothing to be said.
func remedy(command string, err error) string {
	e, ok := errors.AsType[*corrupt.Error](err)
	if !ok || command == "grenier awari repair" { // repair says itself what is left to do
		return ""
	}
	dir, name := filepath.Dir(e.File), filepath.Base(e.File)
	broken, isRun := rundir.Damaged(e)
	isAwari := strings.HasPrefix(command, "grenier awari ")
	switch {
	case errors.Is(err, corrupt.ErrVersion):
		return "use the version of grenier that wrote it"
	case strings.Contains(e.File, "://"):
		return "who runs the server can mend it: grenier awari repair"
	case isRun && isAwari:
		return "to mend it: grenier awari repair --dir " + word(broken)
	case name == rundir.ManifestName && !isAwari:
		return "to begin anew, remove " + word(filepath.Join(dir, rundir.ManifestName)) + " and " + word(filepath.Join(dir, rundir.WorkName))
	case filepath.Base(dir) == rundir.WorkName:
		return "to begin anew, remove " + word(dir)
	case errors.Is(err, corrupt.ErrForeign), errors.Is(err, corrupt.ErrMismatch):
		return "is the path right?"
	}
	return remedies[command]
}

// remedies says what to do about files that commands are given, by command.
var remedies = map[string]string{
	"grenier awari find":   "to search anew, remove it",
	"grenier awari import": "get the file again from where it comes",
	"grenier awari plan":   "to measure anew: grenier awari plan --save-calibration FILE",
	"grenier swap plan":    "to measure anew: grenier swap plan --save-calibration FILE",
	"grenier swap solve":   "to make it anew: grenier swap pdb",
	"grenier swap bench":   "to make it anew: grenier swap pdb",
}

// word returns a path as a word for a shell.
func word(path string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%"
	if strings.Trim(path, plain) == "" && path != "" && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
