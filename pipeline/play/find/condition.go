package find

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"grenier/kernels/fault"
	"grenier/layers/awari"
)

// ErrCondition reports a condition that cannot be read, or that this game does not have.
var ErrCondition = fault.New(fault.Usage, "condition")

// fact is a number that conditions ask about, in the order of the work to find it out.
type fact uint8

const (
	value fact = iota

	// Facts of the board.
	mover
	opponent
	pit0
	lastPit = pit0 + awari.MaxPits - 1

	// Facts by the scores of the children.
	moves = iota + lastPit - pit0 - 1
	winning
	drawing
	losing
	best
	margin
	taken
	capture

	// Facts by the replies.
	give
	least

	// Facts by the best line.
	line

	facts // how many there are
)

// names are the facts as conditions write them; pits follow in init.
var names = [facts]string{
	value: "value", mover: "mover", opponent: "opponent", moves: "moves", winning: "winning", drawing: "drawing",
	losing: "losing", best: "best", margin: "margin", taken: "taken", capture: "capture", give: "give", least: "least", line: "line",
}

func init() {
	for pit := range fact(awari.MaxPits) {
		names[pit0+pit] = "p" + strconv.Itoa(int(pit))
	}
}

// Words stand for conditions, by their names.
var Words = map[string]string{
	"only-win":  "moves>=2 winning=1 drawing=0",
	"sacrifice": "winning=1 taken=0 give>=3 least=0",
}

// Condition says which positions are wanted: each fact lies in an interval. The zero value
// wants all.
type Condition struct {
	asked [facts]bool
	low   [facts]int
	high  [facts]int
}

// A fact that a position does not have is none, which no interval holds.
const (
	none   = math.MinInt
	lowest = none + 1
)

// interval is the range of a fact that a term allows.
type interval struct{ low, high int }

// Parse reads a condition: terms separated by blanks or commas, all of which must hold. A
// term is a word of Words, or a fact, one of = < <= > >=, and a number; = also takes two
// numbers with .. between. It fails with ErrCondition.
func Parse(text string) (Condition, error) {
	var c Condition
	for _, term := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }) {
		if words, ok := Words[term]; ok {
			term = words
		}
		for _, t := range strings.Fields(term) {
			if err := c.add(t); err != nil {
				return Condition{}, fmt.Errorf("%w %q: %w", ErrCondition, t, err)
			}
		}
	}
	return c, nil
}

// errForm describes the form of a term.
var errForm = errors.New("expected a name, one of = < <= > >=, and a number, like winning=1 or value>=4")

// add adds a term.
func (c *Condition) add(term string) error {
	i := strings.IndexAny(term, "<=>")
	if i < 0 {
		return fmt.Errorf("%w, or one of %s", errForm, strings.Join(wordList(), ", "))
	}
	f, err := parseFact(term[:i])
	if err != nil {
		return err
	}
	x, err := parseInterval(term[i:])
	if err != nil {
		return err
	}
	if !c.asked[f] {
		c.asked[f], c.low[f], c.high[f] = true, lowest, math.MaxInt
	}
	c.low[f], c.high[f] = max(c.low[f], x.low), min(c.high[f], x.high)
	return nil
}

func wordList() []string {
	var list []string
	for word := range Words {
		list = append(list, word)
	}
	slices.Sort(list)
	return list
}

func parseFact(name string) (fact, error) {
	if f := slices.Index(names[:], name); f >= 0 {
		return fact(f), nil
	}
	return 0, fmt.Errorf("no fact %q: must be %s", name, strings.Join(Facts(), ", "))
}

// Facts returns the names of the facts that conditions ask about.
func Facts() []string { return slices.Clone(names[:]) }

// parseInterval reads an operator and the number after it.
func parseInterval(text string) (interval, error) {
	operator := text[:1]
	if len(text) > 1 && text[1] == '=' && operator != "=" {
		operator = text[:2]
	}
	number := text[len(operator):]
	if low, high, ok := strings.Cut(number, ".."); ok && operator == "=" {
		a, err := parseNumber(low)
		b, err2 := parseNumber(high)
		return interval{a, b}, errors.Join(err, err2)
	}
	x, err := parseNumber(number)
	switch operator {
	case "<":
		return interval{lowest, x - 1}, err
	case "<=":
		return interval{lowest, x}, err
	case ">":
		return interval{x + 1, math.MaxInt}, err
	case ">=":
		return interval{x, math.MaxInt}, err
	}
	return interval{x, x}, err
}

// maxNumber is beyond every fact.
const maxNumber = 1 << 30

func parseNumber(text string) (int, error) {
	x, err := strconv.Atoi(text)
	if err != nil || x > maxNumber || x < -maxNumber {
		return 0, errForm
	}
	return x, nil
}

// String returns the condition in a form that depends on its meaning only; Parse reads it.
func (c *Condition) String() string {
	var terms []string
	for f := range facts {
		if !c.asked[f] {
			continue
		}
		switch low, high := c.low[f], c.high[f]; {
		case low == high:
			terms = append(terms, fmt.Sprintf("%s=%d", names[f], low))
		case high == math.MaxInt:
			terms = append(terms, fmt.Sprintf("%s>=%d", names[f], low))
		case low == lowest:
			terms = append(terms, fmt.Sprintf("%s<=%d", names[f], high))
		default:
			terms = append(terms, fmt.Sprintf("%s=%d..%d", names[f], low, high))
		}
	}
	return strings.Join(terms, " ")
}

// Asks reports whether the condition asks about the fact of that name.
func (c *Condition) Asks(name string) bool {
	f, err := parseFact(name)
	return err == nil && c.asked[f]
}

// holds reports whether a fact that the condition asks about is as wanted.
func (c *Condition) holds(f fact, x int) bool { return x >= c.low[f] && x <= c.high[f] }

// allows reports whether a fact is as wanted, if the condition asks about it.
func (c *Condition) allows(f fact, x int) bool { return !c.asked[f] || c.holds(f, x) }

// between lists the facts from one to another, without it, that the condition asks about.
func (c *Condition) between(from, to fact) []fact {
	var list []fact
	for f := from; f < to; f++ {
		if c.asked[f] {
			list = append(list, f)
		}
	}
	return list
}

// Check refuses pits that the game does not have, with ErrCondition.
func (c *Condition) Check(game awari.Game) error {
	for pit := game.Pits(); pit < awari.MaxPits; pit++ {
		if f := pit0 + fact(pit); c.asked[f] {
			return fmt.Errorf("%w %s: the board has pits 0 to %d", ErrCondition, names[f], game.Pits()-1)
		}
	}
	return nil
}

// scores returns which scores of a position leave the condition possible: a position is won
// exactly if a move wins, and if it is lost no move draws.
func (c *Condition) scores() (keep [256]bool) {
	any := func(f fact, from, to int) bool {
		return !c.asked[f] || max(from, c.low[f]) <= min(to, c.high[f])
	}
	const most = awari.MaxPits / 2
	for v := -awari.MaxSeeds; v <= awari.MaxSeeds; v++ {
		ok := c.allows(value, v)
		switch {
		case v > 0:
			ok = ok && any(winning, 1, most)
		case v == 0:
			ok = ok && any(winning, 0, 0)
		default:
			ok = ok && any(winning, 0, 0) && any(drawing, 0, 0)
		}
		keep[uint8(int8(v))] = ok
	}
	return keep
}
