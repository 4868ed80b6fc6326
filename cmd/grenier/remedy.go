package main

import (
	"errors"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/rundir"
	"grenier/pipeline/repair"
)

// remedy returns what the line about err, of the command with that name, says about mending
// what is damaged: "" if there is no command for it.
func remedy(command string, err error) string {
	if command == "repair" || isType[*repair.DifferentError](err) {
		return "" // it says itself what is left to do
	}
	damage, ok := errors.AsType[*corrupt.Error](err)
	if !ok {
		return ""
	}
	if dir, ok := rundir.Damaged(damage); ok {
		return "; to mend it: grenier awari repair --dir " + shellWord(dir)
	}
	return ""
}

// shellWord returns a word that a shell takes for text.
func shellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+,:@%="
	if text != "" && strings.Trim(text, plain) == "" && !strings.HasPrefix(text, "-") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
