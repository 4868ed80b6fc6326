// Package examples runs the commands that documents show, in the order of a page and in one shell, and compares what they
// print with what the page shows.
//
// A block between fences is an example if its lines begin with "$ ": commands, each with its output below. Of the output,
// "..." stands for any lines, or for any part of a line; times, speeds, sizes, dates and names of kernels may differ. A
// comment before the fence says more:
//
//	<!-- run: long -->             it takes seconds: only a long test runs it
//	<!-- run: figures -->          all numbers may differ
//	<!-- run: about -->            all numbers may differ by a tenth
//	<!-- run: words -->            all but the first word of each line may differ
//	<!-- run: stays -->            a server, which stays until the end of the page; others reach it at localhost:8080
//	<!-- run: clone -->            it needs a clone of the repository, and Go
//	<!-- run: TestName -->         that test runs it
//	<!-- run: elsewhere: why -->   it needs another machine
package examples

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// Command is one that a page shows.
type Command struct {
	Line int    // of the page, from 1
	Text string // for a shell
	Want string // its output, empty if the page shows none
	Test string // the test that runs it, if another one does

	Long, Clone, Elsewhere       bool
	figures, about, words, stays bool
}

// marks are what comments before an example say.
var marks = map[string]func(*Command){
	"long":    func(c *Command) { c.Long = true },
	"figures": func(c *Command) { c.figures = true },
	"about":   func(c *Command) { c.figures, c.about = true, true },
	"words":   func(c *Command) { c.words = true },
	"stays":   func(c *Command) { c.stays = true },
	"clone":   func(c *Command) { c.Clone = true },
}

// release matches what a page has for releases only (cmd/dist).
var release = regexp.MustCompile(`(?s)<!-- release\n.*?-->`)

// Parse returns the commands of a page in order. It fails if a comment makes no sense.
func Parse(page string) (all []Command, err error) {
	page = release.ReplaceAllStringFunc(page, func(text string) string { return strings.Repeat("\n", strings.Count(text, "\n")) })
	var marked Command
	var last *Command // of the block
	in := false
	for i, line := range strings.Split(page, "\n") {
		comment, isComment := strings.CutPrefix(line, "<!-- run: ")
		text, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			if in {
				marked = Command{}
			}
			in, last = !in, nil
		case !in && isComment:
			if err := marked.mark(strings.TrimSuffix(comment, " -->")); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		case in && isCommand:
			all = append(all, marked)
			last = &all[len(all)-1]
			last.Line, last.Text = i+1, text
		case last == nil:
		case last.Want == "" && strings.HasSuffix(last.Text, `\`):
			last.Text += "\n" + line
		default:
			last.Want += line + "\n"
		}
	}
	return all, nil
}

// mark takes down what a comment says.
func (c *Command) mark(comment string) error {
	if why, ok := strings.CutPrefix(comment, "elsewhere: "); ok && why != "" {
		c.Elsewhere = true
		return nil
	}
	for word := range strings.SplitSeq(comment, ", ") {
		switch set := marks[word]; {
		case strings.HasPrefix(word, "Test"):
			c.Test = word
		case set != nil:
			set(c)
		default:
			return fmt.Errorf("<!-- run: %s -->: unknown word %q", comment, word)
		}
	}
	return nil
}

// Read returns the commands of the page at path.
func Read(t testing.TB, path string) []Command {
	t.Helper()
	all, err := Parse(string(must.Read(t, path)))
	must.Hold(t, err == nil, "%s: %v", path, err)
	return all
}

// preamble is what the shell begins with. A server that stays has an address of its own, so that tests can run at the same
// time; curl finds it.
const preamble = `exec 2>&1
server= at=
stays() {
	: >served
	"$@" --addr localhost:0 >>served & server=$!
	until grep -q Ctrl-C served; do kill -0 $server || break; sleep 0.02; done
	cat served
	at=$(grep -o 'localhost:[0-9]*' served)
}
curl() { command curl --no-progress-meter "${@/localhost:8080/$at}"; }
trap '[ -z "$server" ] || kill $server' EXIT
`

// after separates the outputs of commands, with the exit status between.
var after = regexp.MustCompile("\n\x1e(\\d+)\x1e")

// Run runs commands of a page in bash, in a directory, with more variables in the environment. The test fails for each whose
// output, or whose status, is not what the page shows: it fails exactly if the output ends with an error of the program.
func Run(t *testing.T, page, dir string, env []string, commands []Command) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("NOT TESTED: there is no bash to run the commands of " + page)
	}
	script := preamble
	for _, c := range commands {
		if c.stays {
			script += "stays "
		}
		script += c.Text + "\nprintf '\\n\\036%d\\036' $?\n"
	}
	file := filepath.Join(t.TempDir(), "page.sh")
	must.Write(t, file, []byte(script))
	cmd := exec.CommandContext(t.Context(), bash, "--norc", file)
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") }) // this may run below a make
	cmd.Dir, cmd.Env = dir, append(own, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ran := cmd.Run()
	ends := after.FindAllSubmatchIndex(out.Bytes(), -1)
	start := 0
	for i, c := range commands {
		if i >= len(ends) {
			t.Fatalf("%s:%d: %s: the shell has ended (%v)\n%s", page, c.Line, c.Text, ran, out.Bytes()[start:])
		}
		at := ends[i]
		got := string(out.Bytes()[start:at[0]])
		status := must.Get(strconv.Atoi(string(out.Bytes()[at[2]:at[3]])))(t)
		should.Equal(t, c.check(got, status), "", "%s:%d: $ %s", page, c.Line, c.Text)
		start = at[1]
	}
}

// failure matches output that ends with an error of the program.
var failure = regexp.MustCompile(`(^|\n)grenier: [^\n]*\n$`)

// check returns what is wrong with the output and the status of the command, nothing if all is well.
func (c *Command) check(got string, status int) string {
	if fails := failure.MatchString(strings.TrimRight(c.Want, "\n") + "\n"); fails != (status != 0) {
		return fmt.Sprintf("status %d\n%s", status, got)
	}
	if c.Want == "" || c.pattern().MatchString(c.kind(got)) && (!c.about || near(c.Want, got)) {
		return ""
	}
	return fmt.Sprintf("is\n%s\nin kind\n%snot\n%s", got, c.kind(got), c.kind(c.Want))
}

// near reports whether the numbers of two texts that have as many differ by a tenth at most.
func near(a, b string) bool {
	others := number.FindAllString(b, -1)
	for i, text := range number.FindAllString(a, -1) {
		x, err := strconv.ParseFloat(text, 64)
		y, err2 := strconv.ParseFloat(others[i], 64)
		if err != nil || err2 != nil || math.Abs(x-y) > math.Abs(x)/10 {
			return false
		}
	}
	return true
}

// pattern matches output of the kind that the page shows.
func (c *Command) pattern() *regexp.Regexp {
	pattern := regexp.QuoteMeta(c.kind(c.Want))
	pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.\n`).ReplaceAllString(pattern, `(?:.*\n)*?`)
	return regexp.MustCompile(`\A` + strings.ReplaceAll(pattern, `\.\.\.`, `.*`) + `\z`)
}

// free are the parts of output that depend on the machine and the moment, and what they are replaced by.
var free = []struct {
	part *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z|[+-]\d\d:\d\d)?`), "DATE"},
	{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
	{regexp.MustCompile(`"(\w*seconds|\w*_bytes|\w+_per_second|nodes|table_hits)":[^,}\s]+`), `"$1":#`},
	{regexp.MustCompile(`\b(time|nodes|nps|tbhits) \d+`), "$1 #"},
	{regexp.MustCompile(`\d[\d.,]* ?[kMGT]? ?\w+/s\b`), "SPEED"},
	{regexp.MustCompile(`\d[\d.,]* ?([kKMGT]i?)?B\b`), "SIZE"},
	{regexp.MustCompile(`\d[\d,]* (nodes|table hits)\b`), "# $1"},
	{regexp.MustCompile(`\b(\d+h\d+m|(\d+h)?(\d+m)?\d[\d.,]* ?([mµn]?s))\b`), "TIME"},
	{regexp.MustCompile(`\b[\d,]*\d\.\d\d?\b`), "#"},
	{regexp.MustCompile(`\b(avx512|bmi2|generic|neon)\b`), "KERNEL"},
	{regexp.MustCompile(`(?m)[ \t]+`), " "},
	{regexp.MustCompile(`(?m)^ | $`), ""},
}

var (
	progress  = regexp.MustCompile(`(?m)^(\w{3} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d).*\n`) // lines of it
	number    = regexp.MustCompile(`[-+]?\d+([.,][-+]?\d+)*`)
	firstWord = regexp.MustCompile(`(?m)^(\S+).*$`)
	broken    = regexp.MustCompile(`\n\s*`)
)

// kind returns output without what may differ. JSON is one line, as documents break it.
func (c *Command) kind(text string) string {
	text = progress.ReplaceAllString(strings.TrimRight(text, "\n")+"\n", "")
	if strings.HasPrefix(c.Want, "{") {
		text = broken.ReplaceAllString(text, "") + "\n"
	}
	for _, f := range free {
		text = f.part.ReplaceAllString(text, f.by)
	}
	if c.figures {
		text = number.ReplaceAllString(text, "#")
	}
	if c.words {
		text = firstWord.ReplaceAllString(text, "$1")
	}
	return text
}
