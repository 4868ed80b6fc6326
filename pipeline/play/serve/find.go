package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"grenier/pipeline/job"
	"grenier/pipeline/play/find"
	"grenier/pipeline/tables"
)

// What a search of layers may take. Only one is made at a time.
const (
	findTimeout   = 15 * time.Second
	findMemory    = 256 << 20
	findPositions = 20_000_000 // in all layers that are asked for
	findCount     = 100
	findKept      = 64 // answers that are kept
)

// findReport is the answer of /api/find.
type findReport struct {
	Rules     string `json:"rules"`
	From      int    `json:"from"` // layers, by seeds
	To        int    `json:"to"`
	Where     string `json:"where"`
	Order     string `json:"order"`
	Positions uint64 `json:"positions"` // that were looked at
	Hits      uint64 `json:"hits"`      // of them that meet the condition
	// Found has no more than count positions; it is null where they come in lines of their own.
	Found []*probeReport `json:"found"`
}

// finder searches layers.
type finder struct {
	turns *turns // one at a time
	kept  *lru.Cache[string, *findReport]
}

func newFinder() *finder {
	kept, err := lru.New[string, *findReport](findKept)
	if err != nil {
		panic(err) // the size is a constant
	}
	return &finder{turns: newTurns(1, 1), kept: kept}
}

// findBoards answers GET /api/find?seeds=5..8&where=only-win&random=7&count=20
func (s *Server) findBoards(w http.ResponseWriter, r *http.Request) {
	o, err := s.readFind(r.URL.RawQuery)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	key := fmt.Sprint(o.From, o.To, o.Count, o.Seed, o.Order, o.Condition.String())
	if wantsLines(r.Header) {
		s.streamFind(w, r, key, o)
		return
	}
	if known, ok := s.finder.kept.Get(key); ok {
		answer(w, r, http.StatusOK, known)
		return
	}
	s.ask(func(r *http.Request) (any, error) {
		return s.inTurn(r, s.finder.turns, func(ctx context.Context) (any, error) { return s.findOnce(ctx, key, o) })
	})(w, r)
}

// streamFind answers a search line by line, as it goes on.
func (s *Server) streamFind(w http.ResponseWriter, r *http.Request, key string, o find.Options) {
	out := &lines{w: w}
	report, known := s.finder.kept.Get(key)
	if !known {
		last := time.Now()
		o.Progress = func(p job.Step) {
			if time.Since(last) >= progressInterval {
				last = time.Now()
				out.write(findLine{Progress: &findProgress{uint64(p.Done), uint64(p.Total), p.Found}})
			}
		}
		found, err := s.inTurn(r, s.finder.turns, func(ctx context.Context) (any, error) { return s.findOnce(ctx, key, o) })
		if err != nil && !out.begun {
			s.refuse(w, r, err)
			return
		}
		if err != nil {
			_, p := s.reason(r, err)
			out.write(p)
			return
		}
		report = found.(*findReport)
	}
	for _, p := range report.Found {
		out.write(findLine{Found: p})
	}
	short := *report
	short.Found = nil
	out.write(findLine{Report: &short})
}

// progressInterval is the time between two lines that tell how far a search is.
var progressInterval = 500 * time.Millisecond

// findLine is a line of an answer in lines; it has one of these.
type findLine struct {
	Progress *findProgress `json:"progress,omitempty"`
	Found    *probeReport  `json:"found,omitempty"`
	Report   *findReport   `json:"report,omitempty"` // the last line; without positions
}

// findProgress tells how far a search is, in positions.
type findProgress struct {
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
	Hits  uint64 `json:"hits"`
}

// findOnce searches and keeps what was found.
func (s *Server) findOnce(ctx context.Context, key string, o find.Options) (*findReport, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	report, err := s.find(ctx, o)
	if err != nil {
		return nil, findError(err)
	}
	s.finder.kept.Add(key, report)
	return report, nil
}

// readFind reads the parameters of a search.
func (s *Server) readFind(raw string) (o find.Options, err error) {
	query, err := parseQuery(raw, "seeds", "where", "most", "random", "count")
	if err != nil {
		return o, err
	}
	if o.From, o.To, err = s.fewLayers(query["seeds"], true, findPositions); err != nil {
		return o, err
	}
	if o.Condition, err = find.Parse(query["where"]); err != nil {
		return o, bad("where: %w", err)
	}
	if o.Condition.Asks("line") || query["most"] == "line" {
		return o, bad("line takes too long to look for here: ask /api/hardest, or use grenier awari find")
	}
	if o.Count, err = number(query, "count", 20, findCount); err != nil {
		return o, err
	}
	o.Order = find.First
	_, random := query["random"]
	most, wanted := query["most"]
	switch {
	case random && wanted:
		return o, bad("random and most: give one of them, not both")
	case random:
		seed, err := number(query, "random", 0, 1<<31-1)
		o.Order, o.Seed = find.Random, uint64(seed)
		return o, err
	case wanted:
		if o.Order, err = find.Most(most); err != nil {
			return o, bad("most: %w", err)
		}
	}
	return o, nil
}

// number reads a parameter that is a number from 1, or from 0 if that is its value
// otherwise, to most.
func number(query map[string]string, name string, otherwise, most int) (int, error) {
	text, given := query[name]
	if !given {
		return otherwise, nil
	}
	least := min(1, otherwise)
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, bad("%s is %.20q: must be %d to %d", name, text, least, most)
	}
	return n, nil
}

// layersWithin reads "8" or, if several are possible, "5..8".
func (s *Server) layersWithin(text string, several bool) (from, to int, err error) {
	first, last, ranged := strings.Cut(text, "..")
	if ranged && !several {
		return 0, 0, bad("seeds is %.20q: expected one layer", text)
	}
	if !ranged {
		last = first
	}
	from, err = strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err = errors.Join(err, err2); err != nil || from < 0 || from > to || to > s.tables.MaxSeeds() {
		return 0, 0, bad("seeds is %.20q: must be one of the layers 0 to %d, or some of them, as 5..8", text, s.tables.MaxSeeds())
	}
	if err := s.tables.Need(to); err != nil {
		return 0, 0, bad("seeds is %.20q: %v", text, err)
	}
	return from, to, nil
}

// fewLayers is layersWithin for layers that must not have more than most positions together.
func (s *Server) fewLayers(text string, several bool, most uint64) (from, to int, err error) {
	if from, to, err = s.layersWithin(text, several); err != nil {
		return 0, 0, err
	}
	sum := uint64(0)
	for _, l := range s.tables.Layers()[from : to+1] {
		sum += l.Positions
	}
	if sum > most {
		return 0, 0, bad("seeds is %.20q: these layers have %d positions, %d are looked through here: use grenier awari find", text, sum, most)
	}
	return from, to, nil
}

// find searches.
func (s *Server) find(ctx context.Context, o find.Options) (*findReport, error) {
	o.Workers, o.Memory, o.Family = 1, findMemory, s.family
	result, err := find.Run(ctx, s.dir, o)
	if err != nil {
		return nil, err
	}
	report := &findReport{
		Rules: result.Rules, From: o.From, To: o.To, Where: result.Condition, Order: result.Order,
		Positions: result.Positions, Hits: result.Hits, Found: []*probeReport{},
	}
	for _, hit := range result.Found {
		p, err := s.newProbeReport(ctx, hit.Board)
		if err != nil {
			return nil, err
		}
		report.Found = append(report.Found, p)
	}
	return report, nil
}

// findError words what a client can understand.
func findError(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return badRequest{http.StatusUnprocessableEntity, codeWork, errors.New("looking through these layers takes more than this server spends on it: ask for fewer seeds")}
	case errors.Is(err, find.ErrCondition), errors.Is(err, find.ErrOptions), errors.Is(err, tables.ErrUnsolved):
		return badRequest{http.StatusBadRequest, codeRequest, err}
	}
	return err
}
