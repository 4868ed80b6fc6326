package serve

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"grenier/layers/awari"
	"grenier/pipeline/play/picture"
)

// place is the position that an address of the page asks for, as the page numbers pits:
// South's first.
type place struct {
	board awari.Board // seen by the player to move
	north bool
	taken [2]int
	moves int // that were made before
	words *Words
}

// Words are the texts of previews in a language.
type Words struct {
	Locale, description           string
	Players                       [2]string
	toMove, puzzle, after1, after string // about a player; after has the number of moves first
}

// Languages has the words of each language of the pages, by the parameter lang of a link.
var Languages = map[string]*Words{
	"en": {
		"en_US", "Exact values of every move, from solved tables.", [2]string{"South", "North"},
		"Awari: %s to move", "Awari: %s to move, only one move wins", "Awari, after 1 move: %s to move", "Awari, after %d moves: %s to move",
	},
	"fr": {
		"fr_FR", "La valeur exacte de chaque coup, d’après des tables résolues.", [2]string{"Sud", "Nord"},
		"Awalé\u00a0: au tour de %s", "Awalé\u00a0: au tour de %s, un seul coup gagne", "Awalé, après 1 coup\u00a0: au tour de %s", "Awalé, après %d coups\u00a0: au tour de %s",
	},
}

// readPlace reads the parameters of an address of the page as far as they tell the position: pits, turn, taken,
// and the main line of moves, up to the first that cannot be played; and lang, its language. It refuses what
// the page does not understand.
func (s *Server) readPlace(raw string) (place, error) {
	query, err := parseQuery(raw, "pits", "turn", "taken", "moves", "at", "seats", "lang")
	if err != nil {
		return place{}, err
	}
	p, err := s.readStart(query)
	if err != nil {
		return place{}, err
	}
	if _, err := pair(query, "seats", "you"); err != nil {
		return place{}, err
	}
	game := s.tables.Game()
	line, written, err := mainLine(query["moves"], game.Half())
	if err != nil {
		return place{}, err
	}
	at, err := number(query, "at", 0, written)
	if err != nil {
		return place{}, err
	}
	if query["at"] == "" {
		at = written
	}
	for _, m := range line {
		if m.number > at || m.north != p.north || !p.play(game, m.pit) {
			break
		}
	}
	return p, nil
}

// readStart reads where a game begins.
func (s *Server) readStart(query map[string]string) (p place, err error) {
	game := s.tables.Game()
	if _, given := query["pits"]; given {
		p.board, err = s.boardOf(query)
	} else {
		p.board, err = game.Start(awari.MaxSeeds / awari.MaxPits)
	}
	if err != nil {
		return p, err
	}
	turn, err := oneOf(query, "turn", "south", "north")
	if err != nil {
		return p, err
	}
	if p.north = turn == "north"; p.north {
		p.board = game.Turn(p.board)
	}
	if p.taken, err = pair(query, "taken", ""); err != nil {
		return p, err
	}
	if all := p.board.Seeds() + p.taken[0] + p.taken[1]; all > awari.MaxSeeds {
		return p, bad("these are %d seeds, a game has at most %d", all, awari.MaxSeeds)
	}
	lang, err := oneOf(query, "lang", "en", "fr")
	p.words = Languages[lang]
	return p, err
}

// oneOf reads a parameter that is one of some words, the first if it is missing.
func oneOf(query map[string]string, name string, words ...string) (string, error) {
	text, given := query[name]
	if !given {
		return words[0], nil
	}
	if !slices.Contains(words, text) {
		return "", bad("%s is %.20q: must be %s", name, text, strings.Join(words, " or "))
	}
	return text, nil
}

// pair reads a parameter that has a number of seeds for South and one for North, 0 where it is missing. A word
// may stand for a number, unless it is "".
func pair(query map[string]string, name, word string) (n [2]int, err error) {
	text, given := query[name]
	if !given {
		return n, nil
	}
	fields := strings.Split(text, ",")
	for i, field := range fields {
		x, err := strconv.ParseUint(field, 10, 8)
		if known := err == nil && x <= awari.MaxSeeds || word != "" && field == word; len(fields) != 2 || !known {
			return n, bad("%s is %.20q: expected two numbers of seeds, as 3,1", name, text)
		}
		n[i] = int(x)
	}
	return n, nil
}

// play makes a move, if it is legal.
func (p *place) play(game awari.Game, pit int) bool {
	play := game.Plays(p.board)[pit]
	if !play.Legal {
		return false
	}
	mover := 0
	if p.north {
		mover = 1
	}
	p.taken[mover] += play.Captured
	p.board, p.north = play.Child, !p.north
	p.moves++
	return true
}

// token matches the beginning of a text of moves: a letter or parenthesis, or something to skip.
var token = regexp.MustCompile(`^(?:\s+|\{[^}]*\}|\d+\.(?:\.\.)?|\d+-\d+|\*|([A-Fa-f()]))`)

// writtenMove is a move in a text.
type writtenMove struct {
	pit    int
	north  bool
	number int // from 1, of all that are written
}

// mainLine returns the moves in a text like "Cd(Fa)E" that are not in parentheses, and how many are
// written. A player has half of the pits.
func mainLine(text string, half int) (line []writtenMove, written int, err error) {
	depth, last := 0, "("
	for text != "" {
		found := token.FindStringSubmatch(text)
		if found == nil {
			return nil, 0, bad("moves: %.20q means nothing", text)
		}
		text = text[len(found[0]):]
		what := found[1]
		if what == "" {
			continue
		}
		switch {
		case what != "(" && what != ")":
			written++
			m := writtenMove{pit: int((what[0] | 0x20) - 'a'), north: what[0] >= 'a', number: written}
			if written > maxMoves || m.pit >= half {
				return nil, 0, bad("move %d is %s: each player has %d pits, a game %d moves at most", written, what, half, maxMoves)
			}
			if depth == 0 {
				line = append(line, m)
			}
		case last == "(", what == ")" && depth == 0:
			return nil, 0, bad("moves: %s has no place after move %d", what, written)
		case what == "(":
			depth++
		default:
			depth--
		}
		last = what
	}
	if depth > 0 {
		return nil, 0, bad("moves: a ) is missing")
	}
	return line, written, nil
}

// position returns what a picture of the place shows.
func (s *Server) position(ctx context.Context, p place) picture.Position {
	game := s.tables.Game()
	board := p.board
	if p.north {
		board = game.Turn(board)
	}
	return picture.Position{Pits: game.Numbers(board), North: p.north, Taken: p.taken, Players: p.words.Players, Title: s.title(ctx, p)}
}

// title says in a line what there is to see: a puzzle, if the tables know that only one
// move wins.
func (s *Server) title(ctx context.Context, p place) string {
	w, who := p.words, p.words.Players[0]
	if p.north {
		who = w.Players[1]
	}
	title := fmt.Sprintf(w.toMove, who)
	switch {
	case p.moves == 1:
		return fmt.Sprintf(w.after1, who)
	case p.moves > 1:
		return fmt.Sprintf(w.after, p.moves, who)
	}
	report, err := s.newProbeReport(ctx, p.board)
	if err != nil || !report.Solved {
		return title
	}
	moves, winning, drawing := 0, 0, 0
	for _, m := range report.Moves {
		if m.Value == nil {
			continue
		}
		moves++
		if *m.Value > 0 {
			winning++
		}
		if *m.Value == 0 {
			drawing++
		}
	}
	if moves > 1 && winning == 1 && drawing == 0 {
		return fmt.Sprintf(w.puzzle, who)
	}
	return title
}

// drawPreview answers GET /preview.png, with the parameters of the page.
func (s *Server) drawPreview(w http.ResponseWriter, r *http.Request) {
	p, err := s.readPlace(r.URL.RawQuery)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	png, err := s.inTurn(r, s.quick, func(ctx context.Context) (any, error) { return picture.Board(s.position(ctx, p)) })
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	newEdition(png.([]byte), "").send(w, r, kinds[".png"])
}

// drawIcon returns the answer to GET /icon.png, the same each time.
var drawIcon = sync.OnceValues(func() ([]byte, error) { return picture.Icon(512) })

// head is where the properties of a link go into a page.
const head = "</head>"

// linked returns a handler for a page that tells sites which show a link to it what is to be
// seen there (https://ogp.me).
func (s *Server) linked(kind string, text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		page := bytes.Replace(text, []byte(head), []byte(s.properties(r)+head), 1)
		document(kind, page)(w, r)
	}
}

// properties are the elements that say what a link leads to: the page without parameters, if they make no
// sense.
func (s *Server) properties(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	query := ""
	p, err := s.readPlace(r.URL.RawQuery)
	if err == nil && r.URL.RawQuery != "" {
		query = "?" + r.URL.RawQuery
	}
	if err != nil {
		p, _ = s.readPlace("")
	}
	base := scheme + "://" + r.Host
	return Properties(Link{
		Title: s.title(r.Context(), p), Description: p.words.description, Locale: p.words.Locale, Address: base + r.URL.Path + query, Picture: base + "/preview.png" + query,
	})
}

// Link describes a page to sites that show a link to it.
type Link struct {
	Title, Description string
	Locale             string // language and country, such as en_US
	Address            string // of the page; left out if empty
	Picture            string // its address
}

// Properties returns the elements of a page that tell sites so, lines of its head.
func Properties(l Link) string {
	var b strings.Builder
	for _, p := range [][2]string{
		{"og:type", "website"}, {"og:site_name", "Grenier"}, {"og:title", l.Title}, {"og:url", l.Address}, {"og:locale", l.Locale},
		{"og:description", l.Description}, {"og:image", l.Picture},
		{"og:image:width", strconv.Itoa(picture.Width)}, {"og:image:height", strconv.Itoa(picture.Height)}, {"og:image:alt", l.Title},
	} {
		if p[1] != "" {
			fmt.Fprintf(&b, "  <meta property=%q content=\"%s\">\n", p[0], html.EscapeString(p[1]))
		}
	}
	b.WriteString("  <meta name=\"twitter:card\" content=\"summary_large_image\">\n")
	return b.String()
}
