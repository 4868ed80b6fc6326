package publish

import (
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/kernels/cpu"
	"grenier/layers/awari"
	"grenier/pipeline/job"
)

// TestLanguages: each page has a short form that describes it to sites in French; a text that is not translated is
// an error.
func TestLanguages(t *testing.T) {
	dir, _ := newRun(t, awari.Awari, 2)
	files := pages()
	files["fr.js"] = []byte("export const fr = {\n  \"A & B\": \"A « et » B\",\n  \"about\": \"d’où\",\n};\n")
	files["enter.js"] = []byte("leave();\n")
	publish := func() (map[string]string, error) {
		out := filepath.Join(t.TempDir(), "site")
		_, err := Run(t.Context(), dir, out, Options{Pages: files, Address: "https://example.org/x/", Job: job.Job{Family: cpu.Best()}})
		if err != nil {
			return nil, err
		}
		return tree(t, out), nil
	}
	site, err := publish()
	must.OK(t, err)
	for name, address := range map[string]string{"index.fr.html": "https://example.org/x/index.fr.html", "layers.fr.html": "https://example.org/x/layers.fr.html"} {
		for _, want := range []string{
			`<html lang="fr">`, policy, `<title>A « et » B</title>`, `<meta name="description" content="d’où">`, `src="enter.js"`,
			`<meta property="og:title" content="A « et » B">`, `<meta property="og:locale" content="fr_FR">`, `<meta property="og:description" content="d’où">`,
			`<meta property="og:url" content="` + address + `">`, `<meta property="og:image" content="https://example.org/x/preview.fr.png">`,
			`<a href="` + strings.Replace(name, ".fr", "", 1) + `?lang=fr">A « et » B</a>`,
		} {
			should.Hold(t, strings.Contains(site[name], want), "%s has no %s:\n%s", name, want, site[name])
		}
	}
	should.Not(t, site["enter.js"] == "" || site["preview.fr.png"] == "" || site["preview.fr.png"] == site["preview.png"],
		"the script, or the picture in French, is missing")
	files["fr.js"] = []byte("export const fr = {\n  \"A & B\": \"A « et » B\",\n};\n")
	_, err = publish()
	should.Not(t, err == nil || !strings.Contains(err.Error(), "not translated (fr)"), "a description that is not translated: %v", err)
}
