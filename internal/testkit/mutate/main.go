// Command mutate asks whether tests would notice a bug: it changes one thing at a time in a package, runs the tests that
// matter for it, and lists the changes that no test noticed. The tree stays as it is: go test reads the changed file in
// the place of the other one (-overlay). docs/mutation.md has what it found.
//
//	go run ./internal/testkit/mutate -count 20 -seed 1 ./io/vfs ./io/spill
//	go run ./internal/testkit/mutate -hand internal/testkit/mutate/testdata/hand.txt
//
// sites.go finds what can be changed and reads changes made by hand.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options say what is changed and which tests are run.
type options struct {
	count    int
	seed     uint64
	hand     string        // file of changes made by hand, instead of random ones
	also     string        // packages whose tests are run last
	long     bool          // the long tests too
	alone    bool          // no tests of packages that use the changed one
	lived    string        // file for the changes that no test noticed
	timeout  time.Duration // of the tests of a package, at most
	packages []string
}

func main() {
	o := options{}
	flag.IntVar(&o.count, "count", 20, "changes that compile, drawn from all that are possible")
	flag.Uint64Var(&o.seed, "seed", 1, "of the draw")
	flag.StringVar(&o.hand, "hand", "", "a `file` of changes made by hand, instead of a draw")
	flag.StringVar(&o.also, "also", "", "`packages` whose tests are run if no other one fails, separated by spaces")
	flag.BoolVar(&o.long, "long", false, "run the long tests too")
	flag.BoolVar(&o.alone, "alone", false, "run the tests of the changed package alone, which takes a tenth of the time")
	flag.StringVar(&o.lived, "lived", "", "`file` for the changes that no test noticed, in the form of those made by hand: they can be tried again with other tests")
	flag.DurationVar(&o.timeout, "timeout", 3*time.Minute, "most `time` for the tests of a package; five times what they take without a change, and 10 s, are enough")
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run tries changes and prints a line for each, and what they add up to.
func run(ctx context.Context, o *options, out io.Writer) error {
	all, err := list(ctx)
	if err != nil {
		return err
	}
	changes, err := o.changes(all)
	if err != nil {
		return err
	}
	t, err := newTrial(o, all)
	if err != nil {
		return err
	}
	defer t.close()
	fmt.Fprintln(out, "| killed by | place | change |\n|---|---|---|")
	for _, next := range changes {
		if t.killed+t.lived == o.count && o.hand == "" {
			break
		}
		outcome, err := t.try(ctx, &next)
		if err != nil {
			return err
		}
		if outcome == "" {
			continue // it does not compile
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", outcome, next.place(), next.text())
		if outcome == nobody && o.lived != "" {
			if err := appendHand(o.lived, &next); err != nil {
				return err
			}
		}
	}
	tried := t.killed + t.lived
	if tried == 0 {
		return errors.New("no change compiles")
	}
	fmt.Fprintf(out, "\n%d changes, %d killed (%.1f %%), %d lived; %d more did not compile\n",
		tried, t.killed, 100*float64(t.killed)/float64(tried), t.lived, t.broken)
	return nil
}

// changes returns the changes to try, in order.
func (o *options) changes(all []goPackage) (found []change, err error) {
	if o.hand != "" {
		found, err = readHand(o.hand)
	} else {
		found, err = sitesOf(all, o.packages)
		random := rand.New(rand.NewPCG(o.seed, 0))
		random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	}
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("nothing to change in %s", strings.Join(o.packages, " "))
	}
	return found, err
}

// goPackage is a package as go list describes it.
type goPackage struct {
	ImportPath, Dir, Name                                                          string
	GoFiles, SFiles, TestGoFiles, XTestGoFiles, Imports, TestImports, XTestImports []string
}

// list describes all packages of the module in the working directory.
func list(ctx context.Context) (all []goPackage, err error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,Name,GoFiles,SFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// matches reports whether a pattern like ./io/vfs or ./io/... names the package.
func (p *goPackage) matches(pattern string) bool {
	_, path, _ := strings.Cut(p.ImportPath, "/")
	pattern = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(pattern)), "./")
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == below || strings.HasPrefix(path, below+"/")
	}
	return path == pattern
}

// tested reports whether the package has tests.
func (p *goPackage) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// uses reports whether the package, or one of its tests, imports another one.
func (p *goPackage) uses(path string) bool {
	return slices.Contains(p.Imports, path) || slices.Contains(p.TestImports, path) || slices.Contains(p.XTestImports, path)
}

// trial tries changes, and counts what became of them.
type trial struct {
	o                     *options
	all                   []goPackage
	temp                  string
	took                  map[string]time.Duration // by the tests of packages, without a change
	killed, lived, broken int
}

func newTrial(o *options, all []goPackage) (*trial, error) {
	temp, err := os.MkdirTemp("", "mutate-")
	return &trial{o: o, all: all, temp: temp, took: map[string]time.Duration{}}, err
}

func (t *trial) close() { os.RemoveAll(t.temp) }

// try runs tests with a change until one fails, and returns which package that is of, "nobody" for none, and "" if
// the change does not compile. It fails when ctx ends.
func (t *trial) try(ctx context.Context, c *change) (outcome string, err error) {
	overlay, err := t.overlay(c)
	if err != nil {
		return "", err
	}
	own := slices.IndexFunc(t.all, func(p goPackage) bool { return p.Dir == filepath.Dir(c.file) })
	if own < 0 {
		return "", fmt.Errorf("%s is in no package", c.file)
	}
	path := t.all[own].ImportPath
	if exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", filepath.Join(t.temp, "out"), path).Run() != nil {
		t.broken++
		return "", ctx.Err()
	}
	for _, packages := range t.tests(&t.all[own]) {
		name, err := t.firstToFail(ctx, overlay, packages)
		if name != "" || err != nil {
			t.killed++
			return name, err
		}
	}
	t.lived++
	return nobody, nil
}

// nobody is the outcome of a change that no test noticed.
const nobody = "**nobody**"

// overlay writes a changed file and what makes go read it.
func (t *trial) overlay(c *change) (path string, err error) {
	src, err := os.ReadFile(c.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(t.temp, filepath.Base(c.file))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {c.file: changed}})
	path = filepath.Join(t.temp, "overlay.json")
	return path, errors.Join(err, os.WriteFile(changed, slices.Concat(src[:c.from], []byte(c.new), src[c.to:]), 0o600), os.WriteFile(path, overlay, 0o600))
}

// tests returns the packages whose tests matter for one, in groups: itself, those that use it, and those asked for.
func (t *trial) tests(own *goPackage) [][]string {
	var direct, self []string
	for i := range t.all {
		if p := &t.all[i]; !t.o.alone && p.tested() && p.uses(own.ImportPath) && p.ImportPath != own.ImportPath {
			direct = append(direct, p.ImportPath)
		}
	}
	if own.tested() {
		self = append(self, own.ImportPath)
	}
	return [][]string{self, direct, strings.Fields(t.o.also)}
}

// firstToFail runs the tests of packages, the quickest first, until some fail, and returns of which package; "" if none do.
func (t *trial) firstToFail(ctx context.Context, overlay string, packages []string) (string, error) {
	for _, name := range packages {
		if err := t.measure(ctx, name); err != nil {
			return "", err
		}
	}
	slices.SortFunc(packages, func(a, b string) int { return cmp.Compare(t.took[a], t.took[b]) })
	for _, name := range packages {
		if failed, err := t.fails(ctx, overlay, name); failed || err != nil {
			return name, err
		}
	}
	return "", nil
}

// measure notes how long compiling and running the tests of a package takes. They must pass.
func (t *trial) measure(ctx context.Context, name string) error {
	if _, known := t.took[name]; known {
		return nil
	}
	start := time.Now()
	if failed, err := t.fails(ctx, "", name); failed || err != nil {
		return errors.Join(fmt.Errorf("the tests of %s fail without a change", name), err)
	}
	t.took[name] = time.Since(start)
	return nil
}

// fails runs the tests of a package, and reports whether they fail. Without a change overlay is empty.
func (t *trial) fails(ctx context.Context, overlay, name string) (failed bool, err error) {
	timeout := t.o.timeout
	if took, known := t.took[name]; known {
		timeout = min(timeout, 10*time.Second+5*took)
	}
	run := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout", timeout.String(), name)
	if t.o.long {
		run.Env = append(os.Environ(), "GRENIER_LONG=1")
	}
	out, err := run.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return false, ctx.Err()
	}
	if !strings.Contains(string(out), "\nFAIL\t") && !strings.HasPrefix(string(out), "FAIL\t") {
		return false, fmt.Errorf("go test: %w: %s", err, out)
	}
	return true, nil
}
