package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/layers/awari"
	"grenier/pipeline/tables"
)

// probeReport is the answer of /api/probe.
type probeReport struct {
	Rules string `json:"rules"`
	Seeds int    `json:"seeds"`
	Pits  []int  `json:"pits"`
	// Solved says that the tables have the board.
	Solved bool `json:"solved"`
	// Over says that the mover has no legal move: the opponent takes all seeds.
	Over bool `json:"over"`
	// Value is exact, or null when the tables do not have it.
	Value *int       `json:"value"`
	Moves []moveInfo `json:"moves"`
	// Plies is how many plies the next capture is away, or the end of the game, and 0 if the value is; nil if that is not known.
	Plies *int `json:"plies,omitempty"`
}

// moveInfo is a pit of the mover. When it cannot be played, what follows Starves
// is empty.
type moveInfo struct {
	Pit   int  `json:"pit"`
	Legal bool `json:"legal"`
	// Starves says that the move leaves the opponent without seeds.
	Starves  bool `json:"starves"`
	Captured int  `json:"captured"`
	// Value is exact, or null when the tables do not have the board it leads to.
	Value *int `json:"value"`
	// Plies are those from this move on, it included; 0 if nothing can be forced, nil if they are not known.
	Plies *int `json:"plies,omitempty"`
	// Child is the board after the move, seen by the next player.
	Child []int `json:"child,omitempty"`
	// Sown lists the pit that each seed went to, in order; Taken the pits whose
	// seeds the mover took. Pits are numbered as before the move.
	Sown  []int `json:"sown,omitempty"`
	Taken []int `json:"taken,omitempty"`
}

// probe answers GET /api/probe?pits=1,2,... and POST /api/probe with {"pits":[1,2,...]}.
func (s *Server) probe(read func(*http.Request) (awari.Board, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		board, err := read(r)
		if err != nil {
			return nil, err
		}
		return s.newProbeReport(r.Context(), board)
	}
}

// maxBoards bounds the boards of a request.
const maxBoards = 1000

// probesReport is the answer of /api/probes.
type probesReport struct {
	Rules  string         `json:"rules"`
	Boards []*probeReport `json:"boards"` // in the order of the request
}

// probeMany answers POST /api/probes with {"boards":[[1,2,...],...]}.
func (s *Server) probeMany(r *http.Request) (any, error) {
	boards, err := s.boardsOfBody(r)
	if err != nil {
		return nil, err
	}
	return s.inTurn(r, s.quick, func(ctx context.Context) (any, error) { return s.newProbesReport(ctx, boards) })
}

// newProbesReport asks the tables about boards. Those that they have are looked up together.
func (s *Server) newProbesReport(ctx context.Context, boards []awari.Board) (*probesReport, error) {
	unsolved := func(b awari.Board) bool { return !s.tables.Has(b.Seeds()) }
	known, err := s.tables.Probes(ctx, slices.DeleteFunc(slices.Clone(boards), unsolved))
	if err != nil {
		return nil, err
	}
	report := &probesReport{Rules: s.tables.Game().Rules().String()}
	for _, b := range boards {
		p := s.describe(b)
		if p.Solved {
			err = s.addExact(ctx, p, known[0])
			known = known[1:]
		} else {
			err = s.addKnown(ctx, p, b)
		}
		if err != nil {
			return nil, err
		}
		report.Boards = append(report.Boards, p)
	}
	return report, ctx.Err()
}

// badRequest is an error about what a client sent.
type badRequest struct {
	status int
	code   string
	error
}

func (b badRequest) Unwrap() error { return b.error }

// bad returns an error about a request that makes no sense.
func bad(format string, args ...any) error {
	return badRequest{http.StatusBadRequest, codeRequest, fmt.Errorf(format, args...)}
}

// ask returns the handler that sends what f finds out as JSON.
func (s *Server) ask(f func(*http.Request) (any, error)) http.HandlerFunc {
	return s.answering(f, func(w http.ResponseWriter, r *http.Request, found any) { answer(w, r, http.StatusOK, found) })
}

// askTagged is ask for answers that never change while the server runs: they have an entity tag. Caches must still
// ask, since another server may take the place of this one.
func (s *Server) askTagged(f func(*http.Request) (any, error)) http.HandlerFunc {
	return s.answering(f, func(w http.ResponseWriter, r *http.Request, found any) {
		text := mustEncode(found)
		newEdition(text, "").sendOr(w, r, "application/json", func() edition { return newEdition(pack(text), "gzip") })
	})
}

// answering returns the handler that sends what f finds out.
func (s *Server) answering(f func(*http.Request) (any, error), send func(http.ResponseWriter, *http.Request, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, err := f(r)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		send(w, r, found)
	}
}

// refuse answers a request that failed with err. What went wrong inside is for
// the log; the client need not know the names of files. A request that ended before
// its answer did not fail.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, p := s.reason(r, err)
	fail(w, r, status, p.Code, p.Error)
}

// reason returns what a client is told about err, and logs the rest.
func (s *Server) reason(r *http.Request, err error) (status int, p problem) {
	b, ok := errors.AsType[badRequest](err)
	if _, isBug := errors.AsType[*crew.PanicError](err); !ok && !isBug && r.Context().Err() != nil {
		if b, ok = errGone, true; errors.Is(context.Cause(r.Context()), errStopping) {
			b = errStopping
		}
	}
	if ok {
		return b.status, problem{b.Error(), b.code}
	}
	s.note(err)
	if errors.Is(err, corrupt.ErrCorrupt) {
		return http.StatusInternalServerError, problem{"a table that this needs is damaged; the log of the server names it", codeDamaged}
	}
	return http.StatusInternalServerError, problem{"the server failed; its log says why", codeFailed}
}

// note logs what went wrong inside.
func (s *Server) note(err error) {
	if bug, ok := errors.AsType[*crew.PanicError](err); ok {
		s.metrics.panics.Add(1)
		s.log.Error("panic", "cause", bug.Value, "stack", bug.Stack)
		return
	}
	s.log.Error("no answer", "error", err)
}

var (
	// errStopping reports a request that was given up because the server stops.
	errStopping = badRequest{http.StatusServiceUnavailable, codeStopping, errors.New("the server is stopping")}
	// errGone reports one whose client closed the connection.
	errGone = badRequest{statusGone, codeGone, errors.New("the connection was closed before the answer")}
)

// boardOfQuery reads the parameter pits, the only one.
func (s *Server) boardOfQuery(r *http.Request) (awari.Board, error) {
	query, err := parseQuery(r.URL.RawQuery, "pits")
	if err != nil {
		return awari.Board{}, err
	}
	return s.boardOf(query)
}

// boardOf reads the parameter pits.
func (s *Server) boardOf(query map[string]string) (awari.Board, error) {
	pits, given := query["pits"]
	if !given {
		return awari.Board{}, bad("the parameter pits is missing: the seeds of %d pits, the mover's first, as 1,2,...", s.tables.Game().Pits())
	}
	return s.parse(strings.Split(pits, ","))
}

// parseQuery returns the parameters of a query, which must all be known, and
// given once at most.
func parseQuery(raw string, known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, bad("the query cannot be read: %w", err)
	}
	query := map[string]string{}
	for name, all := range values {
		if !slices.Contains(known, name) {
			return nil, bad("unknown parameter %.20q: must be %s", name, strings.Join(known, ", "))
		}
		if len(all) > 1 {
			return nil, bad("the parameter %s is given %d times", name, len(all))
		}
		query[name] = all[0]
	}
	return query, nil
}

// boardOfBody reads a JSON object with the member pits.
func (s *Server) boardOfBody(r *http.Request) (awari.Board, error) {
	pits, err := list(r, "pits", "[1,2,...]")
	if err != nil {
		return awari.Board{}, err
	}
	return s.parse(texts(pits))
}

// boardsOfBody reads a JSON object with the member boards.
func (s *Server) boardsOfBody(r *http.Request) ([]awari.Board, error) {
	rows, err := list(r, "boards", "[[1,2,...],...]")
	if err != nil {
		return nil, err
	}
	if len(rows) < 1 || len(rows) > maxBoards {
		return nil, bad("%d boards: must be 1 to %d", len(rows), maxBoards)
	}
	boards := make([]awari.Board, len(rows))
	for i, row := range rows {
		pits, err := elements(row)
		if err == nil {
			boards[i], err = s.parse(texts(pits))
		}
		if err != nil {
			return nil, bad("board %d (from 0): %w", i, err)
		}
	}
	return boards, nil
}

// list returns the elements of the list that a body has as its only member.
func list(r *http.Request, name, like string) ([]json.RawMessage, error) {
	if !isJSON(r.Header) {
		return nil, badRequest{http.StatusUnsupportedMediaType, codeType, errors.New("the body must be of type application/json, in UTF-8 and not compressed")}
	}
	if r.URL.RawQuery != "" {
		return nil, bad("a POST takes no parameters, only a body")
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err)
	}
	body, err := members(text, name)
	var all []json.RawMessage
	if err == nil {
		all, err = elements(body[name])
	}
	if err != nil {
		return nil, bad(`the body must be like {"%s":%s}: %w`, name, like, err)
	}
	return all, nil
}

// elements returns the elements of a JSON list. Package json itself takes null for one, and says what else is none
// by types of Go.
func elements(value json.RawMessage) (all []json.RawMessage, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(value), []byte("[")) {
		return nil, fmt.Errorf("%.40q is no list", value)
	}
	return all, json.Unmarshal(value, &all)
}

// texts returns JSON values as they were sent.
func texts(values []json.RawMessage) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// isJSON reports whether a body is JSON as it comes.
func isJSON(h http.Header) bool {
	kinds := h.Values("Content-Type")
	if len(kinds) != 1 || len(h.Values("Content-Encoding")) > 0 {
		return false
	}
	kind, parameters, err := mime.ParseMediaType(kinds[0])
	charset, given := parameters["charset"]
	plain := len(parameters) == 0 || len(parameters) == 1 && given && strings.EqualFold(charset, "utf-8")
	return err == nil && kind == "application/json" && plain
}

// members returns the members of a JSON object, which must be those that are wanted, once each. Package json itself takes
// their names in any case, and the last of several with the same name.
func members(text []byte, wanted ...string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil {
		return nil, err
	} else if begin != json.Delim('{') {
		return nil, errors.New("it is no object")
	}
	found := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := name.(string) // what else a member begins with is an error
		if _, twice := found[key]; twice || !slices.Contains(wanted, key) {
			return nil, fmt.Errorf("the member %.20q is unknown or there twice", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		found[key] = value
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the object")
	}
	for _, name := range wanted {
		if found[name] == nil {
			return nil, fmt.Errorf("the member %s is missing", name)
		}
	}
	return found, nil
}

// bodyError says why a body could not be read to its end.
func bodyError(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return badRequest{http.StatusRequestEntityTooLarge, codeLarge, fmt.Errorf("the body has more than %d bytes", large.Limit)}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return badRequest{http.StatusRequestTimeout, codeLate, errors.New("the body did not come in time")}
	}
	if _, broken := errors.AsType[*net.OpError](err); broken || errors.Is(err, io.ErrUnexpectedEOF) {
		return errGone
	}
	return bad("the body cannot be read: %w", err)
}

// parse reads a board.
func (s *Server) parse(fields []string) (awari.Board, error) {
	board, err := s.tables.Game().Parse(fields)
	if err != nil {
		return awari.Board{}, bad("%w", err)
	}
	return board, nil
}

// newProbeReport asks the tables about a board, which they need not have: a move
// may lead to a board that they have, and a board without moves needs no table.
func (s *Server) newProbeReport(ctx context.Context, b awari.Board) (*probeReport, error) {
	p := s.describe(b)
	if !p.Solved {
		return p, s.addKnown(ctx, p, b)
	}
	known, err := s.tables.Probe(ctx, b)
	if err != nil {
		return nil, err
	}
	return p, s.addExact(ctx, p, known)
}

// describe returns what the rules say about a board.
func (s *Server) describe(b awari.Board) *probeReport {
	game := s.tables.Game()
	p := &probeReport{
		Rules: game.Rules().String(), Seeds: b.Seeds(), Pits: game.Numbers(b),
		Solved: s.tables.Has(b.Seeds()),
	}
	for pit, play := range game.Plays(b) {
		if pit < game.Half() {
			p.Moves = append(p.Moves, newMoveInfo(game, b, pit, play))
		}
	}
	p.Over = !anyLegal(p.Moves)
	return p
}

func anyLegal(moves []moveInfo) bool {
	for _, m := range moves {
		if m.Legal {
			return true
		}
	}
	return false
}

// addExact adds the values of a board that the tables have, and the plies if they have these.
func (s *Server) addExact(ctx context.Context, p *probeReport, known tables.Probe) error {
	plies, err := s.tables.Plies(ctx, known)
	if err != nil {
		return err
	}
	p.Value, p.Plies = &known.Value, plies.Board
	for i := range p.Moves {
		if p.Moves[i].Legal {
			p.Moves[i].Value, p.Moves[i].Plies = &known.Moves[i].Value, plies.Moves[i]
		}
	}
	return nil
}

// addKnown adds the values of those moves whose boards the tables have, and the
// value of the board itself if that is all of them.
func (s *Server) addKnown(ctx context.Context, p *probeReport, b awari.Board) error {
	game := s.tables.Game()
	if p.Over {
		value := game.Terminal(b)
		p.Value = &value
		return nil
	}
	plays, all := game.Plays(b), true
	for i := range p.Moves {
		if !plays[i].Legal {
			continue
		}
		score, err := s.tables.Score(ctx, plays[i].Child)
		if errors.Is(err, tables.ErrUnsolved) {
			all = false
			continue
		}
		if err != nil {
			return err
		}
		value := plays[i].Captured - int(score)
		p.Moves[i].Value = &value
	}
	if all {
		p.Value = bestOf(p.Moves)
	}
	return nil
}

// bestOf returns the largest value of the moves that have one.
func bestOf(moves []moveInfo) *int {
	var best *int
	for _, m := range moves {
		if m.Value != nil && (best == nil || *m.Value > *best) {
			best = m.Value
		}
	}
	return best
}

// newMoveInfo describes the sowing of a pit.
func newMoveInfo(game awari.Game, b awari.Board, pit int, play awari.Play) moveInfo {
	m := moveInfo{Pit: pit, Legal: play.Legal, Starves: play.Starves, Captured: play.Captured}
	if !play.Legal {
		return m
	}
	m.Child = game.Numbers(play.Child)
	after := game.Turn(play.Child)
	m.Sown = sown(game, b, pit)
	b[pit] = 0
	for _, to := range m.Sown {
		b[to]++
	}
	for i := range game.Pits() {
		if b[i] != after[i] {
			m.Taken = append(m.Taken, i)
		}
	}
	return m
}

// sown lists the pits that the seeds of a pit go to: around the board, but never
// back into the origin.
func sown(game awari.Game, b awari.Board, pit int) []int {
	var to []int
	for i := pit; len(to) < int(b[pit]); {
		if i = (i + 1) % game.Pits(); i != pit {
			to = append(to, i)
		}
	}
	return to
}
