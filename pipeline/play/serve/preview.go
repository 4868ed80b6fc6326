package serve

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"

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
}

// readPlace reads the parameters of an address of the page as far as they tell the
// position: pits, turn, taken, and the main line of moves. What the page could not read
// either is left out.
func (s *Server) readPlace(query map[string][]string) (p place) {
	game := s.tables.Game()
	first := func(name string) string {
		if v := query[name]; len(v) > 0 {
			return v[0]
		}
		return ""
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
	return picture.Position{Pits: widen(board[:game.Pits()]), North: p.north, Taken: p.taken, Title: s.title(p)}
}

// title says in a line what there is to see: a puzzle, if the tables know that only one
// move wins.
func (s *Server) title(p place) string {
	who := "South"
	if p.north {
		who = "North"
	}
	title := fmt.Sprintf("Awari: %s to move", who)
	switch {
	case p.moves == 1:
		return fmt.Sprintf("Awari, after 1 move: %s to move", who)
	case p.moves > 1:
		return fmt.Sprintf("Awari, after %d moves: %s to move", p.moves, who)
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
		return fmt.Sprintf("Awari: %s to move, only one move wins", who)
	}
	return title
}

// drawPreview answers GET /preview.png, with the parameters of the page.
func (s *Server) drawPreview(w http.ResponseWriter, r *http.Request) {
	png, err := s.inTurn(r, func(context.Context, *turn) (any, error) {
		return picture.Board(s.position(s.readPlace(r.URL.Query())))
	})
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	newEdition(png.([]byte), "").send(w, r, kinds[".png"])
}

// drawIcon returns the answer to GET /icon.png.
func drawIcon() ([]byte, error) { return picture.Icon(512) }

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
	base := scheme + "://" + r.Host
	title := s.title(s.readPlace(r.URL.Query()))
	var b strings.Builder
	for _, p := range [][2]string{
		{"og:type", "website"}, {"og:site_name", "Grenier"}, {"og:title", title}, {"og:url", base + r.URL.Path + query},
		{"og:description", "Exact values of every move, from solved tables."}, {"og:image", base + "/preview.png" + query},
		{"og:image:width", strconv.Itoa(picture.Width)}, {"og:image:height", strconv.Itoa(picture.Height)}, {"og:image:alt", title},
	} {
		fmt.Fprintf(&b, "  <meta property=%q content=\"%s\">\n", p[0], html.EscapeString(p[1]))
	}
	b.WriteString("  <meta name=\"twitter:card\" content=\"summary_large_image\">\n")
	return b.String()
}
