package pijersi_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
	"grenier/layers/pijersi"
)

// standard is the set-up that games begin with unless the players agree on another.
var standard = pijersi.Setup{White: 79468836, Black: 79468836}

func legal(s pijersi.Setup) bool      { return s.White.Legal() && s.Black.Legal() }
func cellText(s pijersi.Setup) string { return string(s.AppendCells(nil)) }

// shuffled returns the line-ups that continue l, built from the last cube on, with left[k] cubes of kind k.
func shuffled(l pijersi.Lineup, left [4]int) iter.Seq[pijersi.Lineup] {
	return func(yield func(pijersi.Lineup) bool) {
		if left == [4]int{} {
			yield(l)
		}
		for kind := range left {
			if left[kind] == 0 {
				continue
			}
			rest := left
			rest[kind]--
			for s := range shuffled(l<<2|pijersi.Lineup(kind), rest) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// TestLongAllLegal visits the legal line-ups, all of them if there is much time: codes and cubes are inverse and in the order of the ranks, for both
// players, and there are as many as the document's readers counted.
func TestLongAllLegal(t *testing.T) {
	tries.NeedsLong(t, "visits millions of line-ups")
	var code, cubes, before []byte
	step := tries.Pick[uint32](0, 5, 1)
	for rank := uint32(0); rank < pijersi.Count; rank += step {
		l := must.Get(pijersi.UnrankSetup(uint64(rank), pijersi.Mirror))(t).White
		must.Hold(t, l.Legal(), "line-up %d is not legal", rank)
		before = append(before[:0], code...)
		code = l.AppendCode(code[:0], pijersi.White)
		must.Not(t, string(before) >= string(code), "%s follows %s", code, before)
		checkInverse(t, pijersi.Setup{White: l, Black: l}, code, &cubes)
		must.Equal(t, must.Get(l.Rank())(t), rank, "%s has rank", code)
	}
	should.Hold(t, pijersi.Count == 2_737_350 && uint64(pijersi.SetupCount) == 7_493_085_022_500, "%d line-ups are legal", pijersi.Count)
}

// checkInverse checks that s can be read from code, and from its cubes.
func checkInverse(t *testing.T, s pijersi.Setup, code []byte, cubes *[]byte) {
	t.Helper()
	must.Equal(t, must.Get(pijersi.ParseCode(code))(t), s, "ParseCode(%s)", code)
	*cubes = s.AppendCubes((*cubes)[:0])
	must.Equal(t, must.Get(pijersi.ParseCubes(*cubes))(t), s, "ParseCubes(%s)", *cubes)
}

// TestLongShuffles counts the legal ones of all shuffles, listed without ranks: in the others a wise stands on another cube.
func TestLongShuffles(t *testing.T) {
	tries.NeedsLong(t, "visits millions of line-ups")
	shuffles, legal := 0, 0
	for l := range shuffled(0, [4]int{4, 4, 4, 2}) {
		shuffles++
		if !l.Legal() {
			must.Not(t, l.Cube(pijersi.Top) != pijersi.Wise || l.Cube(pijersi.Bottom) == pijersi.Wise, "%d is not legal", l)
			continue
		}
		must.Equal(t, int(must.Get(l.Rank())(t)), legal, "%d has rank", l)
		legal++
	}
	should.Hold(t, shuffles == 3_153_150 && legal == pijersi.Count, "%d of %d shuffles are legal", legal, shuffles)
}

// TestLongEveryCode visits the codes, legal or not, all of them if there is much time, and through some beyond. The
// steps are prime to 4 and to 26: each cube and each letter comes at every place.
func TestLongEveryCode(t *testing.T) {
	step := tries.Pick[uint32](4999, 251, 1)
	var code, cubes []byte
	for n := uint32(0); n < pijersi.Lineups; n += step {
		l := pijersi.Lineup(n)
		code = l.AppendCode(code[:0], pijersi.White)
		checkInverse(t, pijersi.Setup{White: l, Black: l}, code, &cubes)
	}
	for n := uint32(pijersi.Lineups); n < 26*26*26*26*26*26; n += max(step, 499) {
		code = pijersi.Lineup(n).AppendCode(code[:0], pijersi.White)
		must.Be(t, must.Err(pijersi.ParseCode(code)), pijersi.ErrCode, "ParseCode(%s)", code)
	}
	should.Be(t, must.Err(pijersi.ParseCode("WPKVWQ")), pijersi.ErrCode, "WPKVWQ")
}

// TestParseRejects checks what the messages say.
func TestParseRejects(t *testing.T) {
	code := func(s string) error { return must.Err(pijersi.ParseCode(s)) }
	cubes := func(s string) error { return must.Err(pijersi.ParseCubes(s)) }
	any := func(s string) error { return must.Err(pijersi.Parse(s)) }
	for _, c := range []struct {
		parse   func(string) error
		text    string
		kind    error
		message string
	}{
		{code, "", pijersi.ErrCode, `"": expected 6 letters, got 0`},
		{code, "GRXLL", pijersi.ErrCode, `"GRXLL": expected 6 letters, got 5`},
		{code, "GRXLlS", pijersi.ErrCode, `letter 5 of "GRXLlS" is not one of white's, ABCDEFGHIJKLMNOPQRSTUVWXYZ`},
		{code, "GRXLLS-GRXLLS", pijersi.ErrCode, `letter 1 of "GRXLLS" is not one of black's, abcdefghijklmnopqrstuvwxyz`},
		{code, "grxlls-GRXLLS", pijersi.ErrCode, `letter 1 of "grxlls" is not one of white's, ABCDEFGHIJKLMNOPQRSTUVWXYZ`},
		{code, "GRXLLS--grxlls", pijersi.ErrCode, `"GRXLLS--grxlls" has 2 hyphens, at most one stands between white and black`},
		{code, "GRÉLLS", pijersi.ErrCode, `letter 3 of "GRÉLLS" is not one of white's, ABCDEFGHIJKLMNOPQRSTUVWXYZ`},
		{code, "GRXLLS-", pijersi.ErrCode, `"": expected 6 letters, got 0`},
		{code, "GRXLLS_grxlls", pijersi.ErrCode, `"GRXLLS_grxlls": expected 6 letters, got 13`},
		{code, "GRXL\xff\x00", pijersi.ErrCode, `letter 5 of "GRXL\xff\x00" is not one of white's, ABCDEFGHIJKLMNOPQRSTUVWXYZ`},
		{code, "WPKVWQ", pijersi.ErrCode, `"WPKVWQ" is beyond WPKVWP, all wises`},
		{code, "GRXLLS-wpkvwq", pijersi.ErrCode, `"GRXLLS-wpkvwq" is beyond WPKVWP, all wises`},
		{cubes, "RPSRPSPSRWWSR", pijersi.ErrCubes, `"RPSRPSPSRWWSR": expected 14 letters, got 13`},
		{cubes, "RPSRPSPSRWWSRp", pijersi.ErrCubes, `letter 14 of "RPSRPSPSRWWSRp" is not one of white's, RPSW`},
		{cubes, "RPSRPSPSRWWSRP-RPSRPSPSRWWSRP", pijersi.ErrCubes, `letter 1 of "RPSRPSPSRWWSRP" is not one of black's, rpsw`},
		{cubes, strings.Repeat("R", 100), pijersi.ErrCubes, `"` + strings.Repeat("R", 80) + `...": expected 14 letters, got 100`},
		{any, "RPS", pijersi.ErrText, `"RPS" is neither a code of 6 letters, nor 14 cubes, nor cells in braces`},
		{any, "GRXLL1", pijersi.ErrCode, `letter 6 of "GRXLL1" is not one of white's, ABCDEFGHIJKLMNOPQRSTUVWXYZ`},
		{any, "RPSRPSPSRWWSR-", pijersi.ErrCubes, `"RPSRPSPSRWWSR": expected 14 letters, got 13`},
		{any, "position startpos", pijersi.ErrText, `"position startpos" is neither a code of 6 letters, nor 14 cubes, nor cells in braces`},
	} {
		err := c.parse(c.text)
		should.Hold(t, errors.Is(err, c.kind) && err.Error() == c.kind.Error()+": "+c.message, "%q: %v, want %v: %s", c.text, err, c.kind, c.message)
	}
}

func TestCheck(t *testing.T) {
	for cubes, message := range map[string]string{
		"RPSRPSPSRWWSRP": "", "RPSRPSPSRWWSRP-rpsrpspsrwwsrp": "",
		"RRRRRRRRRRRRRR":                "white has 14 R, expected 4; 0 P, expected 4; 0 S, expected 4; 0 W, expected 2",
		"RPSRPSPSWRWSRP":                "white has a wise on a rock on b4",
		"rpsrpspswrwsrp":                "black has a wise on a rock on f4",
		"RPSRPSPSRWWSRP-rpsrpspswpwsrr": "black has a wise on a paper on f4",
		"RPSRPSPSWSWRRP-rpsrpspsrwwsrr": "white has a wise on a scissors on b4, black has 5 r, expected 4; 3 p, expected 4",
	} {
		s := must.Get(pijersi.ParseCubes(cubes))(t)
		err, want := s.Check(), error(nil)
		if message != "" {
			want = pijersi.ErrIllegal
			must.Be(t, err, want, "%s", cubes)
			should.Equal(t, err.Error(), "not legal: "+message, "%s", cubes)
		}
		should.Be(t, err, want, "%s", cubes)
		should.Be(t, must.Err(s.Rank()), want, "%s: rank", cubes)
		should.Equal(t, legal(s), want == nil, "%s: legal", cubes)
	}
}

func TestSetupRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ranks := []uint64{0, 1, pijersi.Count - 1, pijersi.Count, pijersi.SetupCount - 1}
	for range 1000 {
		ranks = append(ranks, r.Uint64N(pijersi.SetupCount))
	}
	for _, rank := range ranks {
		s := must.Get(pijersi.UnrankSetup(rank, pijersi.Total))(t)
		must.Equal(t, must.Get(s.Rank())(t), rank, "%+v has rank", s)
		must.Hold(t, legal(s) && s.Form == pijersi.Total, "%d: %+v", rank, s)
		s = must.Get(pijersi.UnrankSetup(rank%pijersi.Count, pijersi.Mirror))(t)
		must.Equal(t, must.Get(s.Rank())(t), rank%pijersi.Count, "%+v has rank", s)
		must.Hold(t, s.White == s.Black && s.Form == pijersi.Mirror, "%d: %+v", rank, s)
	}
	should.Be(t, must.Err(pijersi.UnrankSetup(pijersi.Count+1<<32, pijersi.Mirror)), pijersi.ErrRank, "beyond the last")
	should.Be(t, must.Err(pijersi.UnrankSetup(pijersi.SetupCount, pijersi.Total)), pijersi.ErrRank, "beyond the last")
}

// TestNoAllocation checks what makes streams fast.
func TestNoAllocation(t *testing.T) {
	code, cubes, out := []byte("GRXLLS-grxlls"), []byte("RPSRPSPSRWWSRP"), make([]byte, 0, 100)
	n := testing.AllocsPerRun(100, func() {
		s, _ := pijersi.ParseCode(code)
		out = s.AppendCubes(out[:0])
		s, _ = pijersi.ParseCubes(cubes)
		out = s.AppendCode(out[:0])
	})
	should.Hold(t, n == 0, "%.0f allocations", n)
}

func TestDraw(t *testing.T) {
	want := `g     r-  p-  r-  p-  r-  s-
f   s-  s-  p-  sw  p-  w-  s-
e     .   .   .   .   .   .
d   .   .   .   .   .   .   .
c     .   .   .   .   .   .
b   P-  S-  R-  WW  S-  R-  P-
a     R-  P-  S-  R-  P-  S-
      1   2   3   4   5   6
    1   2   3   4   5   6   7
`
	should.Equal(t, must.Get(pijersi.ParseCubes("RPSRPSPSRWWSRP-srprprswpswpss"))(t).Draw(), want, "drawn")
}

// TestDocumentCells reads and prints the examples of document 003 as they stand there.
func TestDocumentCells(t *testing.T) {
	for code, want := range map[string]string{
		"JEXEDA": "{'a1': 'S', 'a2': 'P', 'a3': 'P', 'a4': 'W', 'a5': 'S', 'a6': 'R', 'b1': 'R', 'b2': 'W', 'b3': 'P', 'b4': 'R', 'b4t': 'R', 'b5': 'S', 'b6': 'S', 'b7': 'P'}",
		"AYABEY": "{'a1': 'R', 'a2': 'P', 'a3': 'S', 'a4': 'S', 'a5': 'R', 'a6': 'W', 'b1': 'P', 'b2': 'P', 'b3': 'W', 'b4': 'P', 'b4t': 'S', 'b5': 'S', 'b6': 'R', 'b7': 'R'}",
		"AWALIC": "{'a1': 'S', 'a2': 'W', 'a3': 'W', 'a4': 'R', 'a5': 'P', 'a6': 'P', 'b1': 'R', 'b2': 'S', 'b3': 'P', 'b4': 'S', 'b4t': 'P', 'b5': 'S', 'b6': 'R', 'b7': 'R'}",
		"awalic": "{'g6': 's', 'g5': 'w', 'g4': 'w', 'g3': 'r', 'g2': 'p', 'g1': 'p', 'f7': 'r', 'f6': 's', 'f5': 'p', 'f4': 's', 'f4t': 'p', 'f3': 's', 'f2': 'r', 'f1': 'r'}",
	} {
		s := must.Get(pijersi.ParseCells(want))(t)
		should.Equal(t, s.Code(), code, "%s is read as", want)
		should.Equal(t, cellText(s), want, "%s is printed as", code)
	}
}

// TestCellsAgain checks that any set-up is read as it was printed, also with its entries in another order, other quotes and blanks for commas.
func TestCellsAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		white, black := pijersi.Lineup(r.Uint32N(pijersi.Lineups)), pijersi.Lineup(r.Uint32N(pijersi.Lineups))
		for _, s := range []pijersi.Setup{
			{White: white, Black: white}, {White: black, Black: black, Form: pijersi.BlackMirror}, {White: white, Black: black, Form: pijersi.Total},
		} {
			text := cellText(s)
			list := strings.Split(strings.Trim(text, "{}"), ", ")
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for _, other := range []string{text, "{" + strings.Join(list, ",") + "}", strings.ReplaceAll(text, ",", ""), strings.ReplaceAll(text, "'", `"`)} {
				must.Equal(t, must.Get(pijersi.Parse(other))(t), s, "%s is read as", other)
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
		should.Hold(t, errors.Is(err, pijersi.ErrCells) && err.Error() == "not the cells of a set-up: "+want, "%s: %v, want %s", text, err, want)
	}
}

// FuzzParse checks that every reader gives a typed error or what the text says, and the same for lines of a stream.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"GRXLLS", "GRXLLS-grxlls", "WPKVWQ", "grxll", "RPSRPSPSRWWSRP", "rpsrpspsrwwsrp",
		"RPSRPSPSRWWSRP-rpsrpspsrwwsrp", "", "-", "\xff", cellText(standard), cellText(pijersi.Setup{White: 1, Black: 2, Form: pijersi.Total}), "{}", `{"a1": "R" 'a2':'P'}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, err := pijersi.ParseCode(text)
		line, lineErr := pijersi.ParseCode([]byte(text))
		check(t, pijersi.ErrCode, code.Code() == text, code, line, err, lineErr)
		cubes, err := pijersi.ParseCubes(text)
		line, lineErr = pijersi.ParseCubes([]byte(text))
		check(t, pijersi.ErrCubes, cubes.CubeText() == text, cubes, line, err, lineErr)
		cells, err := pijersi.ParseCells(text)
		line, lineErr = pijersi.ParseCells([]byte(text))
		check(t, pijersi.ErrCells, maps.Equal(entries(cellText(cells)), entries(text)), cells, line, err, lineErr)
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

// check demands an error of the kind, or that the result is right, and the same from bytes.
func check(t *testing.T, kind error, right bool, s, fromBytes pijersi.Setup, err, bytesErr error) {
	t.Helper()
	must.Not(t, err != nil && !errors.Is(err, kind), "untyped error %v", err)
	must.Not(t, err == nil && !right, "misread")
	must.Hold(t, s == fromBytes && fmt.Sprint(err) == fmt.Sprint(bytesErr), "%+v, %v from a string, %+v, %v from bytes", s, err, fromBytes, bytesErr)
}

// TestExamples checks the examples of document 003, and the set-ups in testdata/truth.json, which an independent program wrote.
func TestExamples(t *testing.T) {
	reference := must.JSON[struct {
		Examples map[string]struct {
			Code, Cubes string
			Number      uint32
		}
		Vectors []struct {
			Name, White, Black, Code string
			BlackCode                string `json:"black_code"`
			Number                   uint32
			NumberBlack              uint32 `json:"number_black"`
			Legal                    bool   `json:"balanced_legal"`
		}
		Invalid []string `json:"invalid_codes"`
	}](t, must.Read(t, "testdata/truth.json"))
	must.List(t, []int{len(reference.Examples), len(reference.Vectors), len(reference.Invalid)}, []int{4, 16, 6}, "examples, vectors, invalid codes")
	for name, e := range reference.Examples {
		s := must.Get(pijersi.ParseCode(e.Code))(t)
		should.Hold(t, s.CubeText() == e.Cubes && uint32(s.White) == e.Number && s.Form == pijersi.Mirror && legal(s),
			"%s: %s, %d, %s", name, s.CubeText(), s.White, s.Form)
		should.Equal(t, must.Get(pijersi.ParseCubes(e.Cubes))(t), s, "ParseCubes(%s)", e.Cubes)
		should.Equal(t, s.Code(), e.Code, "%s", name)
	}
	both := must.Get(pijersi.ParseCode("GRXLLS-grxlls"))(t)
	should.Hold(t, both.Code() == "GRXLLS-grxlls" && both.White == standard.White && both.Black == standard.White, "standard: %+v", both)
	for _, v := range reference.Vectors {
		if v.Black == "" { // vectors of a mirror set-up have their black side in other fields
			v.Black, v.NumberBlack = strings.ToLower(v.White), v.Number
			s := must.Get(pijersi.ParseCubes(v.Black))(t)
			should.Hold(t, s.Form == pijersi.BlackMirror && s.Code() == v.BlackCode && s.CubeText() == v.Black, "%s: %+v, %s", v.Black, s, s.Code())
			should.Equal(t, must.Get(pijersi.ParseCode(v.BlackCode))(t), s, "ParseCode(%s)", v.BlackCode)
		}
		s := must.Get(pijersi.ParseCubes(v.White + "-" + v.Black))(t)
		must.Hold(t, uint32(s.White) == v.Number && uint32(s.Black) == v.NumberBlack && legal(s) == v.Legal, "%s: %+v, legal %t", v.Name, s, legal(s))
		if s.White == s.Black { // their code is of one line-up
			s.Form = pijersi.Mirror
		}
		should.Equal(t, s.Code(), v.Code, "%s: code", v.Name)
		should.Equal(t, must.Get(pijersi.ParseCode(v.Code))(t), s, "ParseCode(%s)", v.Code)
	}
	for _, code := range reference.Invalid {
		s, err := pijersi.ParseCode(code)
		should.Hold(t, errors.Is(err, pijersi.ErrCode) && s == (pijersi.Setup{}), "%q is read as %+v, %v", code, s, err)
	}
}
