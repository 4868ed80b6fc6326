package publish

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The pages of a site share one script, which has all modules: a browser asks for six files at a time, so fifty modules
// are nine times as long on their way as one, and what one page has fetched the others need not.

var (
	// imported are the imports of a module: all that it exports as an object, some of it, or
	// nothing.
	imported = regexp.MustCompile(`(?m)^import (?:\* as (\w+) from |\{([^}"]*)\} from )?"\./([^"]+)";\n`)
	// exported are its exports, one name each.
	exported = regexp.MustCompile(`(?m)^export ((?:async )?(?:function\*?|const|class) )(\w+)`)
	// other matches lines that bundle does not understand.
	other = regexp.MustCompile(`(?m)^(?:import|export|await)\s.*`)
	// comment is a line of nothing else; no text of several lines has such a line.
	comment = regexp.MustCompile(`(?m)^ *//.*\n`)
	// heading is the comment at the beginning of a module.
	heading = regexp.MustCompile(`\A(?://.*\n)*`)
	// renamed is an imported name that the module calls otherwise.
	renamed = regexp.MustCompile(`(\w+) as (\w+)`)
)

// bundler puts modules together.
type bundler struct {
	files map[string][]byte
	names map[string][]string // exports of the modules that are there already
	open  []string            // those whose imports are being put together
	text  bytes.Buffer
}

// once is what makes a function of a module that is called when it is first imported.
const once = "const once = (make) => {\nlet made;\nreturn () => (made ??= make());\n};\n"

// bundle returns modules together with all that they import, as a script that runs the one that the page names. Each of
// them becomes a function that is called once, in the order of the imports, and returns what the module exports. Comments
// are left out. It fails where modules import each other in a circle, or a name that is not exported.
func bundle(files map[string][]byte, names ...string) ([]byte, error) {
	b := bundler{files: files, names: map[string][]string{}}
	for _, name := range names {
		if err := b.add(name); err != nil {
			return nil, err
		}
	}
	b.text.WriteString("({")
	for _, name := range names {
		fmt.Fprintf(&b.text, " %q: %s,", name, variable(name))
	}
	b.text.WriteString(" })[document.querySelector(\"script[data-begin]\").dataset.begin]();\n")
	return append([]byte(once), b.text.Bytes()...), nil
}

// library returns a module together with all that it imports, as a module that has the same exports. It begins with
// the comment that the module begins with.
func library(files map[string][]byte, name string) ([]byte, error) {
	b := bundler{files: files, names: map[string][]string{}}
	if err := b.add(name); err != nil {
		return nil, err
	}
	about := heading.Find(files[name])
	return fmt.Appendf(nil, "%s\n%s%sexport const { %s } = %s();\n", about, once, b.text.Bytes(), strings.Join(b.names[name], ", "), variable(name)), nil
}

// add adds a module, unless it is there, after those that it imports.
func (b *bundler) add(name string) error {
	if _, ok := b.names[name]; ok {
		return nil
	}
	text, ok := b.files[name]
	if !ok {
		return fmt.Errorf("there is no %s to import", name)
	}
	if slices.Contains(b.open, name) {
		return fmt.Errorf("a circle of imports: %s", strings.Join(append(b.open, name), ", "))
	}
	b.open = append(b.open, name)
	var uses bytes.Buffer
	for _, m := range imported.FindAllSubmatch(text, -1) {
		from := string(m[3])
		if err := b.add(from); err != nil {
			return err
		}
		use, err := b.use(string(m[1]), string(m[2]), from)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		uses.WriteString(use)
	}
	b.open = b.open[:len(b.open)-1]
	var names []string
	for _, m := range exported.FindAllSubmatch(text, -1) {
		names = append(names, string(m[2]))
	}
	text = exported.ReplaceAll(imported.ReplaceAll(comment.ReplaceAll(text, nil), nil), []byte("$1$2"))
	if found := other.Find(text); found != nil {
		return fmt.Errorf("%s: %q cannot be put together with other modules", name, found)
	}
	b.names[name] = names
	fmt.Fprintf(&b.text, "const %s = once(() => {\n%s%sreturn { %s };\n});\n", variable(name), uses.String(), text, strings.Join(names, ", "))
	return nil
}

// use returns what stands for an import, of all names as an object or of some, from a module that
// is there.
func (b *bundler) use(all, some, from string) (string, error) {
	if all != "" {
		return fmt.Sprintf("const %s = %s();\n", all, variable(from)), nil
	}
	for _, part := range strings.Split(some, ",") {
		fields := strings.Fields(part)
		if len(fields) > 0 && !slices.Contains(b.names[from], fields[0]) {
			return "", fmt.Errorf("%s does not export %s", from, fields[0])
		}
	}
	if strings.TrimSpace(some) == "" {
		return variable(from) + "();\n", nil
	}
	return fmt.Sprintf("const {%s} = %s();\n", renamed.ReplaceAllString(some, "$1: $2"), variable(from)), nil
}

// variable names the variable with the exports of a module.
func variable(name string) string {
	return "$" + strings.NewReplacer(".js", "", "-", "_", ".", "_").Replace(name)
}
