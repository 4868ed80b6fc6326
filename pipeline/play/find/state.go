package find

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"grenier/io/corrupt"
	"grenier/io/manifest"
	"grenier/io/sealed"
	"grenier/io/vfs"
	"grenier/kernels/fault"
)

// The frame of a state file: see docs/format/find-search.md.
const (
	stateKind    = "awari-find"
	stateVersion = 1
	maxState     = 1 << 30 // bytes
)

// saveInterval is the time between two states on disk.
var saveInterval = 5 * time.Second

// ErrOther reports a state file of another search.
var ErrOther = fault.New(fault.Usage, "another search")

// state is how far a search is, as JSON.
type state struct {
	// The search.
	Condition string              `json:"condition"`
	From      int                 `json:"from"`
	To        int                 `json:"to"`
	Count     int                 `json:"count"`
	Order     string              `json:"order"`
	Seed      uint64              `json:"seed"`
	Layers    []manifest.Checksum `json:"layers"` // 0 to To

	// How far it is: everything before this layer and rank has been looked at.
	Seeds      int     `json:"seeds"`
	Rank       uint64  `json:"rank"`
	Positions  uint64  `json:"positions"`
	Hits       uint64  `json:"hits"`
	Undecided  uint64  `json:"undecided"`
	Unmeasured uint64  `json:"unmeasured"`
	Found      []found `json:"found"`

	list list
}

// beginning is the state of a search that has not begun.
func (s *search) beginning() state {
	o := &s.options
	x := state{
		Condition: o.Condition.String(), From: o.From, To: o.To, Count: o.Count, Order: o.Order.String(), Seed: o.Seed,
		Seeds: o.From, list: list{limit: o.Count},
	}
	for _, l := range s.tables.Layers()[:o.To+1] {
		x.Layers = append(x.Layers, l.Checksum)
	}
	return x
}

// load takes in the state file, if there is one.
func (s *search) load() error {
	path := s.options.State
	if path == "" {
		return nil
	}
	if err := vfs.CheckFile(path); err != nil {
		return err
	}
	data, err := vfs.ReadFile(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, payload, err := sealed.Unseal(path, stateKind, stateVersion, data)
	if err != nil {
		return err
	}
	var x state
	if err := json.Unmarshal(payload, &x); err != nil {
		return corrupt.New(path, "", "%w", err)
	}
	if what := s.state.differs(&x); what != "" {
		return fmt.Errorf("%s is of %w: %s; name another file, or remove it", path, ErrOther, what)
	}
	if !s.possible(&x) {
		return corrupt.New(path, "", "a place that the search cannot be at")
	}
	x.list = list{limit: s.options.Count, all: x.Found}
	x.Found = nil
	s.state, s.kept = x, true
	return nil
}

// differs names the field in which the search x is another one, "" if it is not.
func (s *state) differs(x *state) string {
	switch {
	case s.Condition != x.Condition:
		return fmt.Sprintf("its condition is %q", x.Condition)
	case s.From != x.From || s.To != x.To:
		return fmt.Sprintf("its layers are %d to %d", x.From, x.To)
	case s.Count != x.Count || s.Order != x.Order || s.Seed != x.Seed:
		return fmt.Sprintf("it wants %d positions, order %s, seed %d", x.Count, x.Order, x.Seed)
	case !slices.Equal(s.Layers, x.Layers):
		return "its layers have other checksums"
	}
	return ""
}

// possible reports whether the search can have been in the state x.
func (s *search) possible(x *state) bool {
	if x.Seeds < x.From || x.Seeds > x.To+1 || x.Seeds <= x.To && x.Rank > s.space.Size(x.Seeds) {
		return false
	}
	for _, f := range x.Found {
		if f.Seeds < x.From || f.Seeds > x.To || f.Rank >= s.space.Size(f.Seeds) {
			return false
		}
	}
	return len(x.Found) <= x.Count
}

// save replaces the state file, if there is to be one.
func (s *search) save() error {
	s.saved = time.Now()
	if s.options.State == "" {
		return nil
	}
	s.state.list.prune()
	x := s.state
	x.Found = x.list.all
	payload, err := json.Marshal(&x)
	if err != nil {
		return err
	}
	s.kept = true
	return vfs.WriteFile(s.options.State, sealed.Seal(stateKind, stateVersion, payload))
}

// remove removes the state file of a search that is through, if it has one.
func (s *search) remove() error {
	if !s.kept {
		return nil
	}
	d, err := vfs.OpenDir(filepath.Dir(s.options.State))
	if err != nil {
		return err
	}
	return errors.Join(d.Remove(filepath.Base(s.options.State)), d.Close())
}
