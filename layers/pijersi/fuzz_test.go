package pijersi_test

import (
	"errors"
	"maps"
	"regexp"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/layers/pijersi"
)

// FuzzParse checks that every reader gives a typed error or what the text says, and
// the same for lines of a stream.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"GRXLLS", "GRXLLS-grxlls", "WPKVWQ", "grxll", "RPSRPSPSRWWSRP", "rpsrpspsrwwsrp",
		"RPSRPSPSRWWSRP-rpsrpspsrwwsrp", "", "-", "\xff", cellText(standard), cellText(pijersi.Setup{White: 1, Black: 2, Form: pijersi.Total}), "{}", `{"a1": "R" 'a2':'P'}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, err := pijersi.ParseCode(text)
		check(t, err, pijersi.ErrCode, code.Code() == text)
		line, lineErr := pijersi.ParseCode([]byte(text))
		sameResult(t, code, line, err, lineErr)

		cubes, err := pijersi.ParseCubes(text)
		check(t, err, pijersi.ErrCubes, cubes.CubeText() == text)
		line, lineErr = pijersi.ParseCubes([]byte(text))
		sameResult(t, cubes, line, err, lineErr)

		cells, err := pijersi.ParseCells(text)
		check(t, err, pijersi.ErrCells, maps.Equal(entries(cellText(cells)), entries(text)))
		line, lineErr = pijersi.ParseCells([]byte(text))
		sameResult(t, cells, line, err, lineErr)

		any, err := pijersi.Parse(text)
		must.Not(t, err == nil && any != code && any != cubes && any != cells, "%q is read as %+v", text, any)
	})
}

var entry = regexp.MustCompile(`['"](\w*)['"]\s*:\s*['"](\w*)['"]`)

// entries returns the cubes by cell that text names.
func entries(text string) map[string]string {
	cubes := map[string]string{}
	for _, e := range entry.FindAllStringSubmatch(text, -1) {
		cubes[e[1]] = e[2]
	}
	return cubes
}

// check demands an error of the kind, or that the result is right.
func check(t *testing.T, err, kind error, right bool) {
	t.Helper()
	must.Not(t, err != nil && !errors.Is(err, kind), "untyped error %v", err)
	must.Not(t, err == nil && !right, "misread")
}

func sameResult(t *testing.T, a, b pijersi.Setup, errA, errB error) {
	t.Helper()
	must.Not(t, a != b || (errA == nil) != (errB == nil) || errA != nil && errA.Error() != errB.Error(),
		"%+v, %v from a string, %+v, %v from bytes", a, errA, b, errB)
}
