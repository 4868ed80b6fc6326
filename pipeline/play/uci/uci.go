// Package uci speaks the dialect of the Universal Chess Interface that oware programs use:
// the interface Aualé and the engines made for it. docs/uci.md describes each command.
//
//	s := uci.New(uci.Options{Scores: t, Blocks: blocks})
//	err := s.Run(ctx, stdin, stdout)
//
// Commands are read while a search is under way, so that stop and isready are answered
// at once. A solved board is answered from the tables, by a move that makes progress; any other board
// is searched.
//
// # Two sets of rules
//
// The interface plays Oware Abapa: the rules abapa of package awari, but the seeds left at the end, also of endless play,
// belong to the side that they lie on. The tables are for one of the rule sets of that package, which the option Rules tells.
// So the moves of a game are replayed as the interface plays them,
// and a move is chosen, and valued, by the rules of the tables. The move chosen is legal for
// both.
package uci

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"grenier/io/crew"
	"grenier/io/lines"
	"grenier/pipeline/job"
	"grenier/pipeline/play/line"
	"grenier/pipeline/play/search"
)

// Scores are solved layers. *tables.Tables is one.
type Scores interface {
	line.Scores
	search.Scores
}

// Options say who answers, and with which tables and limits.
type Options struct {
	// Name and Author identify the engine.
	Name, Author string
	Scores       Scores
	// Blocks has the scores for the search.
	Blocks *search.Blocks
	// Bytes is the memory of the search until the option Hash says otherwise.
	Bytes int64
	// MostBytes is the most that Hash may ask for.
	MostBytes int64
	// Workers is the number of goroutines that search, until the option Threads says otherwise.
	Workers int
	// Positions is the most that are kept to find moves that make progress, see
	// line.Options.
	Positions int
}

// maxWorkers is the most that the option Threads may ask for.
const maxWorkers = 1024

// Session is a conversation with an interface. It is for one goroutine.
type Session struct {
	options Options
	engine  *search.Engine // nil until it is needed
	answer  *answer        // to the search under way
	debug   bool
	present position
	unclear error // why there is no present position
	thought *thought
	pace    pace

	mu  sync.Mutex // guards the fields below
	out *bufio.Writer
	err error // of writing
}

// thought is a search under way.
type thought struct {
	cancel context.CancelFunc
	held   chan struct{} // closed when the best move may be told
	told   atomic.Bool   // the best move is, or is about to be
	ended  chan struct{}
	hit    func() // does the work of ponderhit
}

// New returns a session that has not begun.
func New(o Options) *Session {
	s := &Session{options: o}
	s.present, s.unclear = startOf(o.Scores.Game())
	return s
}

// Run obeys the commands of in until quit, the end of in, or the end of ctx, whose error in should
// return. At the end of in a search with limits is completed. It also fails when in or out do.
func (s *Session) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	s.out = bufio.NewWriter(out)
	defer s.finish()
	commands := lines.NewReader(in)
	for s.failed() == nil {
		line, err := commands.Next()
		words := strings.Fields(string(line))
		switch {
		case errors.Is(err, lines.ErrLong):
			s.skip(words)
		case err == io.EOF:
			s.complete()
			return s.failed()
		case err != nil:
			return err
		case len(words) == 0:
		case words[0] == "quit":
			s.finish()
			return s.failed()
		default:
			s.obey(ctx, words)
		}
	}
	return s.failed()
}

// skip complains about a command that is too long and begins with some words. After one that may be a
// position the board is unknown.
func (s *Session) skip(words []string) {
	if len(words) == 0 || strings.HasPrefix("position", words[0]) {
		s.unclear = lines.ErrLong
	}
	s.complain("a line is skipped: %v", lines.ErrLong)
}

// obey runs a command.
func (s *Session) obey(ctx context.Context, words []string) {
	switch rest := words[1:]; words[0] {
	case "uci":
		s.identify()
	case "debug":
		s.debug = len(rest) == 0 && !s.debug || len(rest) > 0 && rest[0] == "on"
	case "isready":
		if s.thought == nil {
			s.prepare() // so that no move takes the time for it
		}
		s.say("readyok")
	case "setoption":
		s.setOption(rest)
	case "ucinewgame":
		if s.idle("ucinewgame") {
			s.engine, s.pace = nil, pace{}
		}
	case "position":
		s.present, s.unclear = parsePosition(s.options.Scores.Game().Pits(), rest)
		if s.unclear != nil {
			s.complain("position: %v", s.unclear)
		}
	case "go":
		if s.idle("go") {
			s.think(ctx, rest)
		}
	case "stop":
		s.finish()
	case "ponderhit":
		if s.thought != nil && s.thought.hit != nil {
			s.thought.hit()
		}
	default:
		s.complain("unknown command %.40q", words[0])
	}
}

// say writes a line at once.
func (s *Session) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...)
	if err := s.out.Flush(); err != nil && s.err == nil {
		s.err = err
	}
}

// failed returns the error of writing.
func (s *Session) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// complain reports a mistake, in the way that interfaces may show or ignore.
func (s *Session) complain(format string, args ...any) {
	s.say("info string error: %s", strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; "))
}

// identify says who answers, and which options there are.
func (s *Session) identify() {
	s.say("id name %s", s.options.Name)
	s.say("id author %s", s.options.Author)
	s.say("option name Hash type spin default %d min 1 max %d", mebibytes(s.options.Bytes), mebibytes(s.options.MostBytes))
	s.say("option name Threads type spin default %d min 1 max %d", s.options.Workers, maxWorkers)
	s.say("option name Ponder type check default true")
	s.say("option name Rules type combo default %[1]v var %[1]v", s.options.Scores.Game().Rules())
	s.say("uciok")
}

// mebibytes rounds up, so that there is one at least.
func mebibytes(bytes int64) int64 { return max(1, (bytes+1<<20-1)>>20) }

// setOption obeys "name N value V".
func (s *Session) setOption(words []string) {
	var name, value []string
	part := &name
	for _, word := range words {
		switch word {
		case "name":
			part = &name
		case "value":
			part = &value
		default:
			*part = append(*part, word)
		}
	}
	if !s.idle("setoption") {
		return
	}
	switch named, text := strings.Join(name, " "), strings.Join(value, " "); named {
	case "Hash":
		if n, ok := s.spin(named, text, mebibytes(s.options.MostBytes)); ok {
			s.options.Bytes, s.engine = min(n<<20, s.options.MostBytes), nil
		}
	case "Threads":
		if n, ok := s.spin(named, text, maxWorkers); ok {
			s.options.Workers, s.engine = int(n), nil
		}
	case "Ponder": // the interface decides when to ponder
	case "Rules":
		if rules := s.options.Scores.Game().Rules(); text != rules.String() {
			s.complain("option Rules: %.20q: the tables have %v", text, rules)
		}
	default:
		s.complain("no option %.40q", named)
	}
}

// spin reads the value of an option that is a number from 1 to most.
func (s *Session) spin(name, text string, most int64) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		s.complain("option %s: %.20q: must be 1 to %d", name, text, most)
		return 0, false
	}
	return n, true
}

// idle reports whether no search is under way, and complains if there is one.
func (s *Session) idle(command string) bool {
	if s.thought == nil {
		return true
	}
	if !s.thought.told.Load() {
		s.complain("%s: a search is under way", command)
		return false
	}
	<-s.thought.ended
	s.thought = nil
	return true
}

// finish ends the search under way and waits for its answer.
func (s *Session) finish() {
	if s.thought != nil {
		s.thought.cancel()
		<-s.thought.ended
		s.thought = nil
	}
}

// complete waits for the answer of a search with limits, at the end of the input. Another one is
// ended.
func (s *Session) complete() {
	if s.thought != nil {
		select {
		case <-s.thought.held:
			<-s.thought.ended
		default:
		}
	}
	s.finish()
}

// prepare makes the engine, unless it is there.
func (s *Session) prepare() {
	if s.engine == nil {
		s.engine = search.New(s.options.Blocks, search.Options{Bytes: s.options.Bytes, Job: job.Job{
			Workers: s.options.Workers, Progress: func(step job.Step) {
				found := step.Detail.(search.Result)
				s.answer.tell(&found)
			},
		}})
	}
}

// think begins to look for a move.
func (s *Session) think(ctx context.Context, words []string) {
	begun := time.Now()
	asked, err := parseGo(words, s.present.turn, &s.pace)
	if err == nil {
		err = s.unclear
	}
	if err != nil {
		s.complain("go: %v", err)
		s.say("bestmove %s", noMove)
		return
	}
	s.prepare()
	ctx, cancel := context.WithCancel(ctx)
	t := &thought{cancel: cancel, held: make(chan struct{}), ended: make(chan struct{})}
	switch {
	case asked.ponder:
		wait := asked.limits.Time
		asked.limits.Time = 0
		t.hit = sync.OnceFunc(func() {
			endAfter(ctx, cancel, wait)
			close(t.held)
		})
	case !asked.endless:
		close(t.held)
	}
	s.thought = t
	a := &answer{Session: s, engine: s.engine, at: s.present, begun: begun}
	s.answer = a
	best := noMove
	crew.Go(func() (err error) {
		best, err = a.find(ctx, asked.limits, t.held)
		return err
	}, func(err error) {
		if err != nil {
			s.complain("%v", err)
		}
		cancel()
		t.told.Store(true) // who reads the move may go on at once
		s.say("bestmove %s", best)
		close(t.ended)
	})
}

// endAfter ends a context after some time.
func endAfter(ctx context.Context, cancel context.CancelFunc, wait time.Duration) {
	late := time.NewTimer(wait)
	crew.Go(func() error {
		defer late.Stop()
		select {
		case <-late.C:
		case <-ctx.Done():
		}
		return nil
	}, func(error) { cancel() })
}
