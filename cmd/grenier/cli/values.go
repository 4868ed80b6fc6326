package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The flags below check their values, so that all refusals read alike: --NAME VALUE: must be ... (did you mean ...?).

// Must is the error of a value of a flag: what it has to be.
type Must string

func (m Must) Error() string { return "must be " + string(m) }

// number is the value of a flag that is an integer within bounds.
type number struct {
	to          *int
	least, most int
}

// IntVar adds a flag that is an integer from least to most.
func IntVar(flags *pflag.FlagSet, to *int, name string, value, least, most int, usage string) {
	*to = value
	flags.Var(&number{to, least, most}, name, usage)
}

func (n *number) String() string { return strconv.Itoa(*n.to) }
func (n *number) Type() string   { return "int" }

func (n *number) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < n.least || v > n.most {
		return between(n.least, n.most)
	}
	*n.to = v
	return nil
}

// between is the error of a value that is no integer from least to most.
func between(least, most int) error {
	if most == math.MaxInt {
		return Must(fmt.Sprintf("an integer from %d up", least))
	}
	return Must(fmt.Sprintf("%d to %d", least, most))
}

// choice is the value of a flag that is one of a few.
type choice struct {
	kind   string // as Type has it: help quotes strings
	value  string
	values []string
	take   func(string)
}

// ChoiceVar adds a flag that is one of values, which end its help.
func ChoiceVar(flags *pflag.FlagSet, to *string, name, value, usage string, values ...string) {
	NameVar(flags, to, name, value, usage+": "+Either(values), values...)
}

// NameVar adds a flag that is one of values, too many for its help.
func NameVar(flags *pflag.FlagSet, to *string, name, value, usage string, values ...string) {
	*to = value
	flags.Var(&choice{"string", value, values, func(text string) { *to = text }}, name, usage)
}

// IntChoiceVar is ChoiceVar of integers.
func IntChoiceVar(flags *pflag.FlagSet, to *int, name string, value int, usage string, values ...int) {
	*to = value
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.Itoa(v)
	}
	take := func(text string) { *to = values[slices.Index(texts, text)] }
	flags.Var(&choice{"int", strconv.Itoa(value), texts, take}, name, usage+": "+Either(texts))
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return c.kind }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.values, text) {
		return Must(Either(c.values) + suggestion(text, c.values, ""))
	}
	c.value = text
	c.take(text)
	return nil
}

// Either lists alternatives: "a, b or c".
func Either(values []string) string {
	last := len(values) - 1
	if last < 1 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// period is the value of a flag that is a time within bounds.
type period struct {
	to          *time.Duration
	least, most time.Duration
}

// TimeVar adds a flag that is a time from least to most; 0 for least means that 0 is no limit, and for most that any
// time will do.
func TimeVar(flags *pflag.FlagSet, to *time.Duration, name string, value, least, most time.Duration, usage string) {
	*to = value
	flags.Var(&period{to, least, most}, name, usage)
}

func (p *period) String() string { return p.to.String() }
func (p *period) Type() string   { return "duration" }

func (p *period) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err == nil && d >= p.least && (p.most == 0 || d <= p.most) {
		*p.to = d
		return nil
	}
	switch {
	case p.most > 0:
		return Must(fmt.Sprintf("a time like 10s, above 0 and up to %v", p.most))
	case p.least == 0:
		return Must("a time like 10s, or 0 for no limit")
	}
	return Must("a time above 0, like 30s")
}

// Directory is the value of a flag that names a directory.
type Directory string

func (d *Directory) String() string { return string(*d) }
func (d *Directory) Type() string   { return "directory" }

// Set refuses the empty name, addresses, which tables.Open would take, and names that the shell should have expanded.
func (d *Directory) Set(name string) error {
	switch {
	case name == "":
		return errors.New("must not be empty")
	case strings.Contains(name, "://"):
		return errors.New("must be a name, not an address")
	case name == "~" || strings.HasPrefix(name, "~/"):
		return fmt.Errorf(`the shell expands ~ outside quotes only; did you mean "$HOME%s"?`, name[1:])
	}
	*d = Directory(name)
	return nil
}

// File is the value of a flag that names a file.
type File string

func (f *File) String() string { return string(*f) }
func (f *File) Type() string   { return "file" }

// Set refuses what Directory does.
func (f *File) Set(name string) error { return (*Directory)(f).Set(name) }

// Quoted returns a value for an error: as it is if that is clear, else in quotes.
func Quoted(value string) string {
	if value != "" && strings.Trim(value, plain) == "" {
		return value
	}
	return strconv.Quote(value)
}

// DirVariable is the environment variable that stands for --dir where that is required.
const DirVariable = "GRENIER_DIR"

// Annotations of flags that Need, NeedOne and Exclude make.
const required, alternatives, exclusive = "grenier_required", "grenier_alternatives", "grenier_exclusive"

// Need marks flags of cmd that must be given. --dir may come from the environment.
func Need(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		annotate(cmd, name, required, name)
		if err := cmd.MarkFlagRequired(name); err != nil { // for shells
			panic(err) // the flag has just been defined
		}
	}
}

// NeedAny marks flags of which at least one must be given.
func NeedAny(cmd *cobra.Command, names ...string) { annotate(cmd, names[0], alternatives, names...) }

// NeedOne marks flags of which exactly one must be given.
func NeedOne(cmd *cobra.Command, names ...string) {
	NeedAny(cmd, names...)
	Exclude(cmd, names...)
}

// Exclude marks flags of which at most one may be given.
func Exclude(cmd *cobra.Command, names ...string) {
	annotate(cmd, names[0], exclusive, names...)
	cmd.MarkFlagsMutuallyExclusive(names...) // for shells
}

func annotate(cmd *cobra.Command, name, key string, values ...string) {
	if err := cmd.Flags().SetAnnotation(name, key, values); err != nil {
		panic(err) // the flag has just been defined
	}
}

// checkFlags refuses flags that are missing, or do not go together, before cobra does in words of its own.
func checkFlags(cmd *cobra.Command, _ []string) (err error) {
	flags := cmd.Flags()
	var missing []string
	flags.VisitAll(func(f *pflag.Flag) {
		if err != nil {
			return
		}
		if _, needed := f.Annotations[required]; needed && !given(flags, f.Name, &err) {
			missing = append(missing, "--"+f.Name)
		}
		if names := f.Annotations[alternatives]; names != nil && len(changed(flags, names)) == 0 && !given(flags, names[0], &err) {
			missing = append(missing, Either(dashed(names)))
		}
		if both := changed(flags, f.Annotations[exclusive]); len(both) > 1 {
			err = fmt.Errorf("%s: only one of them may be given", strings.Join(dashed(both), " and "))
		}
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	verb := " is required"
	if len(missing) > 1 {
		verb = " are required"
	}
	if slices.ContainsFunc(missing, func(name string) bool { return strings.HasPrefix(name, "--dir") }) {
		verb += fmt.Sprintf("; %s may name the directory", DirVariable)
	}
	return errors.New(strings.Join(missing, " and ") + verb)
}

// given reports whether a flag was given; for --dir the environment does.
func given(flags *pflag.FlagSet, name string, err *error) bool {
	if place := os.Getenv(DirVariable); name == "dir" && place != "" && !flags.Changed(name) {
		if wrong := flags.Set(name, place); wrong != nil {
			bad, _ := errors.AsType[*pflag.InvalidValueError](wrong)
			*err = fmt.Errorf("%s=%s: %w", DirVariable, Quoted(place), bad.Unwrap())
		}
		return true
	}
	return flags.Changed(name)
}

// changed returns the names of the flags that were given.
func changed(flags *pflag.FlagSet, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !flags.Changed(name) })
}

func dashed(names []string) []string {
	dashed := make([]string, len(names))
	for i, name := range names {
		dashed[i] = "--" + name
	}
	return dashed
}
