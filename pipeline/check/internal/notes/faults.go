package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"grenier/io/corrupt"
)

// Faults are what a part of a check has found damaged: errors that match corrupt.ErrCorrupt. They can be noted, and come back
// with their text and the file that they name.
type Faults []error

// maxFaults is how many are noted; one more says how many others there are.
const maxFaults = 40

// noted is one of Faults as it is noted.
type noted struct {
	File  string `json:"file"`
	Fault string `json:"fault"`
}

// Add adds a fault.
func (f *Faults) Add(err error) { *f = append(*f, err) }

// Merge adds the faults of another part that were not found by one before.
func (f *Faults) Merge(others Faults) {
	for _, other := range others {
		if !slices.ContainsFunc(*f, func(err error) bool { return err.Error() == other.Error() }) {
			f.Add(other)
		}
	}
}

// MarshalJSON makes them a list.
func (f Faults) MarshalJSON() ([]byte, error) {
	all := make([]noted, 0, len(f))
	for i, err := range f {
		file := ""
		if e, ok := errors.AsType[*corrupt.Error](err); ok {
			file = e.File
		}
		if i == maxFaults {
			all = append(all, noted{file, fmt.Sprintf("%d more faults", len(f)-i)})
			break
		}
		all = append(all, noted{file, strings.TrimPrefix(err.Error(), file+": ")})
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (f *Faults) UnmarshalJSON(data []byte) error {
	var all []noted
	err := json.Unmarshal(data, &all)
	*f = nil
	for _, x := range all {
		f.Add(corrupt.New(x.File, "", "%s", x.Fault))
	}
	return err
}
