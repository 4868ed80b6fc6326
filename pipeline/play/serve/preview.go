package serve

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
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
	words *words
}

// words are the texts of previews in a language.
type words struct {
	locale, description           string
	players                       [2]string
	toMove, puzzle, after1, after string // about a player; after has the number of moves first
}

// languages are those of the pages, by what the parameter lang of a link says.
var languages = map[string]*words{
	"en": {
		"en_US", "Exact values of every move, from solved tables.", [2]string{"South", "North"},
		"Awari: %s to move", "Awari: %s to move, only one move wins", "Awari, after 1 move: %s to move", "Awari, after %d moves: %s to move",
	},
	"fr": {
		"fr_FR", "La valeur exacte de chaque coup, d’après des tables résolues.", [2]string{"Sud", "Nord"},
		"Awalé\u00a0: au tour de %s", "Awalé\u00a0: au tour de %s, un seul coup gagne", "Awalé, après 1 coup\u00a0: au tour de %s", "Awalé, après %d coups\u00a0: au tour de %s",
	},
}

// readPlace reads the parameters of an address of the page as far as they tell the
// position: pits, turn, taken, and the main line of moves; and lang, its language. What the page
// could not read either is left out.
func (s *Server) readPlace(query map[string][]string) (p place) {
	game := s.tables.Game()
	first := func(name string) string {
		if v := query[name]; len(v) > 0 {
			return v[0]
		}
		return ""
	}
	p.words = languages[first("lang")]
	if p.words == nil {
		p.words = languages["en"]
	}
	for i := range game.Pits() {
		p.board[i] = 4
	}
	if b, err := game.Parse(strings.Split(first("pits"), ",")); err == nil {
		p.board = b
	}
	if p.north = first("turn") == "north"; p.north {
		p.board = game.Turn(p.board)
	}
	for i, text := range strings.SplitN(first("taken"), ",", 2) {
		if n, err := strconv.Atoi(text); err == nil && n >= 0 && n <= awari.MaxSeeds {
			p.taken[i] = n
		}
	}
	at, err := strconv.Atoi(first("at"))
	if err != nil {
		at = maxMoves
	}
	for _, pit := range mainLine(first("moves"), at) {
		if pit >= game.Half() || !p.play(game, pit) {
			break
		}
	}
	return p
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

// mainLine returns the pits of the moves in a text like "Cd(Fa)E" that are not in
// parentheses, of the first so many of all.
func mainLine(moves string, first int) []int {
	var pits []int
	depth, written := 0, 0
	for _, c := range moves[:min(len(moves), 4*maxMoves)] {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f':
			if written++; written > first {
				return pits
			}
			if depth == 0 {
				pits = append(pits, int(c|0x20-'a'))
			}
		}
	}
	return pits
}

// position returns what a picture of the place shows.
func (s *Server) position(p place) picture.Position {
	game := s.tables.Game()
	board := p.board
	if p.north {
		board = game.Turn(board)
	}
	return picture.Position{Pits: widen(board[:game.Pits()]), North: p.north, Taken: p.taken, Players: p.words.players, Title: s.title(p)}
}

// title says in a line what there is to see: a puzzle, if the tables know that only one
// move wins.
func (s *Server) title(p place) string {
	w, who := p.words, p.words.players[0]
	if p.north {
		who = w.players[1]
	}
	title := fmt.Sprintf(w.toMove, who)
	switch {
	case p.moves == 1:
		return fmt.Sprintf(w.after1, who)
	case p.moves > 1:
		return fmt.Sprintf(w.after, p.moves, who)
	}
	report, err := s.newProbeReport(p.board)
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
	png, err := s.inTurn(r, s.quick, func(context.Context, *turn) (any, error) {
		return picture.Board(s.position(s.readPlace(r.URL.Query())))
	})
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

// properties are the elements that say what a link leads to.
func (s *Server) properties(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	query := ""
	if r.URL.RawQuery != "" {
		query = "?" + r.URL.RawQuery
	}
	base, p := scheme+"://"+r.Host, s.readPlace(r.URL.Query())
	return Properties(Link{
		Title: s.title(p), Description: p.words.description, Locale: p.words.locale, Address: base + r.URL.Path + query, Picture: base + "/preview.png" + query,
	})
}

// Link is what sites show of a link to a page.
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
