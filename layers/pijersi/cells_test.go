package pijersi_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/layers/pijersi"
)

// TestDocumentCells reads and prints the examples of document 003 as they stand there.
func TestDocumentCells(t *testing.T) {
	for code, want := range map[string]string{
		"JEXEDA": "{'a1': 'S', 'a2': 'P', 'a3': 'P', 'a4': 'W', 'a5': 'S', 'a6': 'R', 'b1': 'R', 'b2': 'W', 'b3': 'P', 'b4': 'R', 'b4t': 'R', 'b5': 'S', 'b6': 'S', 'b7': 'P'}",
		"AYABEY": "{'a1': 'R', 'a2': 'P', 'a3': 'S', 'a4': 'S', 'a5': 'R', 'a6': 'W', 'b1': 'P', 'b2': 'P', 'b3': 'W', 'b4': 'P', 'b4t': 'S', 'b5': 'S', 'b6': 'R', 'b7': 'R'}",
		"AWALIC": "{'a1': 'S', 'a2': 'W', 'a3': 'W', 'a4': 'R', 'a5': 'P', 'a6': 'P', 'b1': 'R', 'b2': 'S', 'b3': 'P', 'b4': 'S', 'b4t': 'P', 'b5': 'S', 'b6': 'R', 'b7': 'R'}",
		"awalic": "{'g6': 's', 'g5': 'w', 'g4': 'w', 'g3': 'r', 'g2': 'p', 'g1': 'p', 'f7': 'r', 'f6': 's', 'f5': 'p', 'f4': 's', 'f4t': 'p', 'f3': 's', 'f2': 'r', 'f1': 'r'}",
	} {
		s, err := pijersi.ParseCells(want)
		should.Hold(t, err == nil && s.Code() == code, "%s is read as %s, %v, want %s", want, s.Code(), err, code)
		should.Equal(t, cellText(s), want, "%s is printed as", code)
	}
}

// TestCellsAgain checks that any set-up is read as it was printed, also with its entries in
// another order, other quotes and blanks for commas.
func TestCellsAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		white, black := pijersi.Lineup(r.Uint32N(pijersi.Lineups)), pijersi.Lineup(r.Uint32N(pijersi.Lineups))
		for _, s := range []pijersi.Setup{
			{White: white, Black: white}, {White: black, Black: black, Form: pijersi.BlackMirror}, {White: white, Black: black, Form: pijersi.Total},
		} {
			text := cellText(s)
			list := strings.Split(strings.Trim(text, "{}"), ", ")
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for _, other := range []string{text, "{" + strings.Join(list, ",") + "}", strings.ReplaceAll(text, ",", ""), strings.ReplaceAll(text, "'", `"`)} {
				again, err := pijersi.Parse(other)
				must.Hold(t, again == s && err == nil, "%s is read as %+v, %v, want %+v", other, again, err, s)
			}
		}
	}
}

func TestBadCells(t *testing.T) {
	all := cellText(standard)
	for text, want := range map[string]string{
		"":    `"" does not begin with {`,
		"{}":  "a1, a2, a3, a4, a5, a6, b1, b2, b3, b4, b4t, b5, b6, b7 missing",
		"{":   `at "": an entry like 'a1': 'R' or the last } has to follow`,
		"{a1": `at "a1": an entry like 'a1': 'R' or the last } has to follow`,
		strings.Replace(all, ", 'b4t': 'W'", "", 1):    "b4t missing",
		strings.Replace(all, "b4t", "b4", 1):           "b4 is named twice",
		strings.Replace(all, "b4t", "c4", 1):           `"c4" is not a cell of a set-up: a1 to a6, b1 to b7 and b4t, f1 to f7 and f4t, g1 to g6`,
		strings.Replace(all, "'W'", "'w'", 1):          `"w" on b4 is not a cube of white's, one of RPSW`,
		strings.Replace(all, "'W'", "''", 1):           `"" on b4 is not a cube of white's, one of RPSW`,
		strings.Replace(all, "'a1':", "'a1'", 1):       `at "` + strings.Replace(all, "'a1':", "'a1'", 1)[1:81] + `...": an entry like 'a1': 'R' or the last } has to follow`,
		strings.Replace(all, "'a1'", "' a1'", 1):       `" a1" is not a cell of a set-up: a1 to a6, b1 to b7 and b4t, f1 to f7 and f4t, g1 to g6`,
		all + "x":                                      `at "}x": an entry like 'a1': 'R' or the last } has to follow`,
		strings.Replace(all, "}", ", 'g1': 'r'}", 1):   "g6, g5, g4, g3, g2, f7, f6, f5, f4, f4t, f3, f2, f1 missing",
		strings.TrimSuffix(all, "'}"):                  `at ", 'b7': 'P": an entry like 'a1': 'R' or the last } has to follow`,
		strings.Replace(all, "}", ", , 'g1': 'r'}", 1): `at ", , 'g1': 'r'}": an entry like 'a1': 'R' or the last } has to follow`,
	} {
		_, err := pijersi.ParseCells(text)
		should.Hold(t, errors.Is(err, pijersi.ErrCells) && err.Error() == "not the cells of a set-up: "+want,
			"%s: %v, want %s", text, err, want)
	}
}
