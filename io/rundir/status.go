package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode"

	"grenier/io/corrupt"
	"grenier/io/jsonfile"
	"grenier/io/layerfile"
	"grenier/io/manifest"
	"grenier/io/vfs"
)

// StatusName is the name of the status file, in work/.
const StatusName = "status.json"

// StatusVersion is the format version of the status file that this package
// writes, and the only one that it reads. It only grows.
const StatusVersion = 1

const (
	statusFormat   = "grenier-status"
	maxStatusBytes = 16 << 10
	maxStatusText  = 1000 // characters of a text in a status
	// The most memory, in bytes, and the most positions of a whole run.
	maxStatusMemory = 1 << 56
	maxStatusTime   = 1e10 // seconds
	maxStatusWork   = layerfile.MaxPositions * manifest.MaxLayers
)

// ErrNoReport says that there is no usable status: none was written, or it is
// damaged, out of date or of a later version. It never matters to a run.
var ErrNoReport = errors.New("no report")

// State is the state of a run.
type State string

// The states that a solver reports. Logs, metrics and commands of the user have the same words.
const (
	Running     State = "running"
	Done        State = "done"
	Paused      State = "paused"      // stopped on request
	Interrupted State = "interrupted" // by a signal
	Failed      State = "failed"

	finished State = "finished" // what earlier versions wrote for Done
)

// Status is the report that a solver leaves for other processes from time to time. Only
// PID, State, Started and Reported are always known.
type Status struct {
	PID      int       `json:"pid"`      // of the solver
	State    State     `json:"state"`    // as far as the solver knows
	Error    string    `json:"error"`    // why it failed
	Started  time.Time `json:"started"`  // when the solver started
	Reported time.Time `json:"reported"` // when this was true

	Last    int    `json:"last_layer"` // seeds of the last layer wanted
	Threads int    `json:"threads"`
	Kernel  string `json:"kernel"`
	// Calls is the number of layers, from 0 on, for which a command of the user needs no call any
	// more; nil if there is no such command.
	Calls *int `json:"called_layers,omitempty"`

	Seeds     int     `json:"seeds"`     // of the layer in progress
	Positions uint64  `json:"positions"` // of that layer; 0 before the first one
	Stage     string  `json:"stage"`
	Sweep     int     `json:"sweep"`
	Share     float64 `json:"share"`   // of the work on the layer that is done, 0 to 1
	Changed   uint64  `json:"changed"` // scores, in this sweep

	RunDone  float64 `json:"run_done"`             // the share of the time that is over, in positions
	RunTotal float64 `json:"run_total"`            // positions to solve in all
	Rate     float64 `json:"positions_per_second"` // at which the rest of the layer will be done; 0 if not known yet
	// LayerLeft and RunLeft are the seconds that the layer and the run still take, 0 if not known; the run may
	// take 1 + Spread times as long, or as short.
	LayerLeft float64 `json:"layer_left_seconds,omitempty"`
	RunLeft   float64 `json:"run_left_seconds,omitempty"`
	Spread    float64 `json:"spread,omitempty"`

	RSS     uint64 `json:"rss_bytes"`      // resident memory of the solver, 0 if not known
	PeakRSS uint64 `json:"peak_rss_bytes"` // and the most so far
}

// statusDocument is the JSON form.
type statusDocument struct {
	jsonfile.Header
	Status
}

var statusHeader = jsonfile.Header{Format: statusFormat, Version: StatusVersion}

// Encode returns the contents of a status file. It fails if a number is infinite or
// NaN.
func (s *Status) Encode() ([]byte, error) {
	doc := statusDocument{statusHeader, *s}
	for _, text := range []*string{&doc.Error, &doc.Kernel, &doc.Stage} {
		*text = printable(*text)
	}
	return jsonfile.Encode(&doc)
}

// printable returns text without the characters that a status may not have.
func printable(text string) string {
	runes := []rune(strings.ToValidUTF8(text, "?"))
	for i, r := range runes {
		if !unicode.IsPrint(r) {
			runes[i] = '?'
		}
	}
	return string(runes[:min(len(runes), maxStatusText)])
}

// parseStatus decodes the contents of a status file. It accepts unknown fields.
// All errors match ErrNoReport.
func parseStatus(data []byte) (*Status, error) {
	if len(data) > maxStatusBytes {
		return nil, noReport("more than %d bytes", maxStatusBytes)
	}
	if err := statusHeader.Match(WorkName+"/"+StatusName, data); errors.Is(err, corrupt.ErrVersion) {
		return nil, noReport("%v", err)
	} else if err != nil {
		return nil, noReport("%s/%s is damaged", WorkName, StatusName)
	}
	var doc statusDocument
	if err := json.Unmarshal(data, &doc); err != nil || !doc.plausible() {
		return nil, noReport("%s/%s is damaged", WorkName, StatusName)
	}
	if doc.State == finished {
		doc.State = Done
	}
	return &doc.Status, nil
}

func noReport(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNoReport}, args...)...)
}

// datable reports whether t is a time at which this program can have run, on a machine whose
// clock may be wrong.
func datable(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2200 }

// plausible reports whether a solver may have written s.
func (s *Status) plausible() bool {
	switch s.State {
	case Running, Done, Paused, Interrupted, Failed, finished:
	default:
		return false
	}
	for _, text := range []string{s.Error, s.Kernel, s.Stage} {
		if printable(text) != text {
			return false
		}
	}
	if s.Calls != nil && (*s.Calls < 0 || *s.Calls > manifest.MaxLayers) {
		return false
	}
	return s.PID > 0 && datable(s.Started) && datable(s.Reported) &&
		min(s.Last, s.Threads, s.Seeds, s.Sweep) >= 0 && max(s.Last, s.Seeds) < manifest.MaxLayers &&
		max(s.Positions, s.Changed) <= layerfile.MaxPositions && max(s.RSS, s.PeakRSS) <= maxStatusMemory &&
		s.Share >= 0 && s.Share <= 1 && s.Rate >= 0 && s.Rate <= layerfile.MaxPositions &&
		s.RunDone >= 0 && s.RunDone <= s.RunTotal && s.RunTotal <= maxStatusWork &&
		min(s.LayerLeft, s.RunLeft, s.Spread) >= 0 && max(s.LayerLeft, s.RunLeft, s.Spread) <= maxStatusTime
}

// SaveStatus replaces the status file. Readers see the old one or the new one,
// but it does not wait for the disk: a power cut may lose both. It is safe for
// use while other methods run, but not for concurrent use. It fails as Encode does,
// with a *LostError, or with an error of the operating system.
func (l *Locked) SaveStatus(s *Status) error {
	data, err := s.Encode()
	if err != nil {
		return err
	}
	p, err := vfs.NewPending(l.own, StatusName)
	if err != nil {
		return err
	}
	if _, err := p.Write(data); err != nil {
		return errors.Join(err, p.Abort())
	}
	return p.Replace()
}

// Status reads the status file. All errors match ErrNoReport.
func (d *Dir) Status() (*Status, error) {
	data, err := d.status()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noReport("there is no %s/%s", WorkName, StatusName)
	}
	if err != nil {
		return nil, noReport("%w", err)
	}
	return parseStatus(data)
}

// status returns the contents of the status file, or their beginning.
func (d *Dir) status() ([]byte, error) {
	work, err := d.openWork()
	if err != nil {
		return nil, err
	}
	defer work.Close()
	return vfs.Read(work, StatusName, maxStatusBytes)
}
