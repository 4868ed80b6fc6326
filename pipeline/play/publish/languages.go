package publish

import (
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"

	"grenier/pipeline/play/picture"
	"grenier/pipeline/play/serve"
)

// Sites that show a link read the description in the page, in the language that is in the file. So each page has a
// short form for each other language, such as puzzles.fr.html, which says the same in that language and leads to the
// page.

// language is one in which a site describes its pages.
type language struct {
	code, title string // of the picture, with the most seeds
}

var (
	english = language{"en", "Awari: every position with up to %d seeds solved"}
	others  = []language{{"fr", "Awalé\u00a0: toute position d’au plus %d graines est résolue"}}
)

// enterName is the script of short forms.
const enterName = "enter.js"

// translation is a line of the module that has the texts of a language.
var translation = regexp.MustCompile(`(?m)^  "([^"\\\n]*)": "([^"\\\n]*)",$`)

// languages returns those that the pages have texts in, besides English.
func (p *publisher) languages() (all []language) {
	for _, l := range others {
		if p.options.Pages[l.code+".js"] != nil {
			all = append(all, l)
		}
	}
	return all
}

// named returns the name of a file in a language.
func (l language) named(name string) string {
	if l == english {
		return name
	}
	end := path.Ext(name)
	return strings.TrimSuffix(name, end) + "." + l.code + end
}

// texts returns the texts of a language by those in English.
func (p *publisher) texts(l language) map[string]string {
	texts := map[string]string{}
	for _, m := range translation.FindAllSubmatch(p.options.Pages[l.code+".js"], -1) {
		texts[string(m[1])] = string(m[2])
	}
	return texts
}

// draw is picture.Board; tests draw the same picture once.
var draw = picture.Board

// picture draws the position that the pages show first.
func (p *publisher) picture(l language) ([]byte, error) {
	pits := slices.Repeat([]int{4}, p.manifest.Pits)
	return draw(picture.Position{Pits: pits, Players: serve.Languages[l.code].Players, Title: fmt.Sprintf(l.title, len(p.manifest.Layers)-1)})
}

// link describes a page in a language to sites that show a link to it.
func (p *publisher) link(l language, name, title, description string) serve.Link {
	link := serve.Link{Title: title, Description: description, Locale: serve.Languages[l.code].Locale, Picture: p.options.Address + l.named(pictureName)}
	if p.options.Address != "" {
		link.Address = p.options.Address + strings.TrimSuffix(l.named(name), indexName)
	}
	return link
}

// writeForms writes the short forms of a page in all languages.
func (p *publisher) writeForms(name string) error {
	page := p.options.Pages[name]
	for _, l := range p.languages() {
		texts := p.texts(l)
		title, description := texts[textOf(titled, page)], texts[textOf(about, page)]
		if title == "" || description == "" {
			return fmt.Errorf("%s: its title or description is not translated (%s)", name, l.code)
		}
		if err := p.write(p.site, l.named(name), p.form(l, name, title, description)); err != nil {
			return err
		}
	}
	return nil
}

// shortForm has slots for language, policy, description, title, script, properties of the link, page, language and title.
const shortForm = `<!doctype html>
<html lang="%s">
<head>
  ` + encodingLine + `  %s
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="description" content="%s">
  <title>%s</title>
  <script type="module" src="%s"></script>
%s</head>
<body>
  <p><a href="%s?lang=%s">%s</a></p>
</body>
</html>
`

// form returns the short form of a page.
func (p *publisher) form(l language, name, title, description string) []byte {
	properties := serve.Properties(p.link(l, name, title, description))
	shown := html.EscapeString(title)
	return fmt.Appendf(nil, shortForm, l.code, policy, html.EscapeString(description), shown, enterName, properties, name, l.code, shown)
}

// textOf returns the text that a pattern finds in a page.
func textOf(r *regexp.Regexp, page []byte) string {
	if m := r.FindSubmatch(page); m != nil {
		return html.UnescapeString(string(m[1]))
	}
	return ""
}
