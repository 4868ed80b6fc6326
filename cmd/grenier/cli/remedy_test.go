package cli

import (
	"errors"
	"fmt"
	"testing"

	"grenier/internal/testkit/should"
	"grenier/io/corrupt"
)

// TestRemedy: whoever meets damage gets advice.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		command, file string
		cause         error
		want          string
	}{
		{"grenier awari probe", "run/layer-07.gl", nil, "to repair it: grenier awari repair --dir run"},
		{"grenier awari solve", "manifest.json", nil, "to repair it: grenier awari repair --dir ."},
		{"grenier awari stats", "/my runs/it's/manifest.json", corrupt.ErrMismatch, `to repair it: grenier awari repair --dir '/my runs/it'\''s'`},
		{"grenier awari probe", "run/layer-07.gl", corrupt.ErrVersion, "use the version of grenier that wrote it"},
		{"grenier awari probe", "https://host/run/layer-07.gl", nil, "repair it on the server: grenier awari repair"},
		{"grenier swap bfs", "run/work/checkpoint", nil, "to start over, remove run/work"},
		{"grenier swap bfs", "run/manifest.json", nil, "to start over, remove run/manifest.json and run/work"},
		{"grenier chemin solve", "run/work/blocks", nil, "to start over, remove run/work"},
		{"grenier swap solve", "all.gp", nil, "to build it again: grenier swap pdb build"},
		{"grenier swap solve", "all.gp", corrupt.ErrMismatch, "is the path right?"},
		{"grenier awari plan", "c.json", unusable{errors.New("figure")}, "to measure again: grenier awari plan --save-calibration FILE"},
		{"grenier awari plan", "c.json", unusable{corrupt.ErrVersion}, "to measure again: grenier awari plan --save-calibration FILE"},
		{"grenier awari plan", "run/manifest.json", corrupt.ErrVersion, "use the version of grenier that wrote it"},
		{"grenier awari probe", "five", corrupt.ErrForeign, "is the path right?"},
	} {
		if c.cause == nil {
			c.cause = errors.New("checksum")
		}
		err := fmt.Errorf("layer 7: %w", corrupt.New(c.file, "", "%w", c.cause))
		should.Equal(t, remedy(c.command, err), c.want, "%s, %s, %v", c.command, c.file, c.cause)
	}
	should.Equal(t, remedy("grenier awari probe", errors.New("no damage")), "", "no damage")
}

func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"data/awari": "data/awari", "my run": "'my run'", "it's": `'it'\''s'`, "": "''", "-x": "'-x'", "a$b": "'a$b'",
	} {
		should.Equal(t, word(text), want, "%q", text)
	}
}
