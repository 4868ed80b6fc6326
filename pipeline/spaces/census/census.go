// Package census counts the boards of awari and the size of their tables: the
// tables of document 001 ("Some data on the game of awari" and "Quelques
// chiffres") as data, for any number of pits and seeds, and, in a Census, the moves and
// accesses that its complexity analysis is about.
//
// New computes a Table, one Row for each number of seeds. Rows hold exact
// counts and bytes as floating point; Row.Cell and Table.WriteRST give the text
// of the document, character for character.
package census

import (
	"context"
	"fmt"
	"math"

	"grenier/kernels/colex"
	"grenier/layers/awari"
	"grenier/pipeline/spaces/access"
	"grenier/pipeline/spaces/retro"
)

// Table describes the boards with a given number of pits.
type Table struct {
	// Pits is the number of pits, both players together.
	Pits int `json:"pits"`
	// Rules and Start of the search for accessible boards, if a start was given.
	Rules string `json:"rules,omitempty"`
	Start []int  `json:"start,omitempty"`
	// MaxSeeds is the document's MAX_SEEDS: scores are taken to lie between
	// -MaxSeeds and MaxSeeds. It is the number of seeds of a whole game, or
	// the largest one of the table if that is more.
	MaxSeeds int `json:"max_seeds"`
	// Accessible reports whether the accessible boards were counted.
	Accessible bool `json:"-"`
	// Rows holds one row for each number of seeds from 0 up.
	Rows []Row `json:"rows"`
}

// Row describes the boards with one number of seeds. Sizes are in
// bytes.
type Row struct {
	// Seeds is the number n of seeds.
	Seeds int `json:"seeds"`
	// Configs is the number of boards, binom(P+n-1, P-1).
	Configs uint64 `json:"configs"`
	// Accessible is the number of boards, "(a)" in the document, that play can lead to
	// from the start, in the document from 3 seeds in each pit by the rules strict. The
	// start itself is among them only if play returns to it. It is nil if they were not counted.
	Accessible *uint64 `json:"accessible,omitempty"`
	// Space is the least space for a score each: Configs times
	// log256(2*MaxSeeds+1).
	Space float64 `json:"space"`
	// SpaceCumulative, "(c)", is the space of the boards with n seeds or
	// less.
	SpaceCumulative float64 `json:"space_cumulative"`
	// SpaceAccessible, "(a,c)", is the space of the accessible boards with n
	// seeds or less; nil like Accessible.
	SpaceAccessible *float64 `json:"space_accessible_cumulative,omitempty"`
	// SpaceReal is the space at two bytes a board.
	SpaceReal float64 `json:"space_real"`
	// Cost is the number of memory accesses of the document's retrograde
	// analysis of this layer, (P+2+n)*Configs.
	Cost uint64 `json:"cost"`
}

// TableOptions say which layers and boards a table has.
type TableOptions struct {
	// Pits is the number of pits, Seeds the largest number of seeds.
	Pits, Seeds int
	// Rules and Start say which boards are accessible. A Start of nil is the document's, 3
	// seeds in each pit, on up to 8 pits; on more pits no boards are searched then.
	Rules awari.Rules
	Start *awari.Board
	// Search says how accessible boards are searched.
	Search access.Options
}

// New returns a table. It fails with awari.ErrPits or awari.ErrSeeds, and as access.Count does if
// accessible boards are searched.
func New(ctx context.Context, o TableOptions) (*Table, error) {
	game, err := awari.New(o.Pits, o.Rules)
	if err != nil {
		return nil, err
	}
	if o.Seeds < 0 || o.Seeds > awari.MaxSeeds {
		return nil, fmt.Errorf("%w %d: must be 0 to %d", awari.ErrSeeds, o.Seeds, awari.MaxSeeds)
	}
	// The document has four seeds a pit on 12 pits and three on 8; other boards follow the latter.
	whole := accessibleStart * o.Pits
	if o.Pits == 12 {
		whole = 48
	}
	t := &Table{
		Pits:       o.Pits,
		MaxSeeds:   max(whole, o.Seeds),
		Accessible: o.Start != nil || o.Pits <= 8,
		Rows:       make([]Row, o.Seeds+1),
	}
	if err := t.count(); err != nil {
		return nil, err
	}
	if o.Start != nil {
		t.Rules, t.Start = o.Rules.String(), game.Numbers(*o.Start)
	}
	if t.Accessible {
		if err := t.search(ctx, game, &o); err != nil {
			return nil, err
		}
	}
	t.weigh()
	return t, nil
}

// accessibleStart is the number of seeds in each pit from which the accessible
// boards are searched.
const accessibleStart = 3

// count fills in the figures that follow from the number of boards alone.
func (t *Table) count() error {
	for n := range t.Rows {
		configs, err := colex.Binomial(t.Pits+n-1, t.Pits-1)
		if err != nil {
			return err
		}
		t.Rows[n] = Row{
			Seeds:     n,
			Configs:   configs,
			SpaceReal: 2 * float64(configs),
			Cost:      retro.Cost(t.Pits, n, configs),
		}
	}
	return nil
}

// search counts the accessible boards.
func (t *Table) search(ctx context.Context, game awari.Game, o *TableOptions) error {
	start := o.Start
	if start == nil {
		board, err := game.Start(accessibleStart)
		if err != nil {
			return err
		}
		start = &board
	}
	counts, err := access.Count(ctx, game, *start, o.Search)
	if err != nil {
		return err
	}
	counts = append(counts, make([]uint64, max(0, len(t.Rows)-len(counts)))...)
	for n := range t.Rows {
		t.Rows[n].Accessible = &counts[n]
	}
	return nil
}

// weigh fills in the spaces that depend on MaxSeeds. The document writes
// log(2*MAX_SEEDS+1, 8) for bits over 8, that is, the logarithm to base 256
// (docs/sources.md).
func (t *Table) weigh() {
	score := math.Log2(float64(2*t.MaxSeeds+1)) / 8
	var configs, accessible uint64
	for n := range t.Rows {
		r := &t.Rows[n]
		configs += r.Configs
		r.Space = score * float64(r.Configs)
		r.SpaceCumulative = score * float64(configs)
		if t.Accessible {
			accessible += *r.Accessible
			space := score * float64(accessible)
			r.SpaceAccessible = &space
		}
	}
}
