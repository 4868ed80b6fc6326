// Command mutate asks whether tests would notice a bug: it changes one thing at a time in a package, runs the tests that
// matter for it, and lists the changes that no test noticed. The tree stays as it is: go test reads the changed file in
// the place of the other one (-overlay). docs/mutation.md has what it found.
//
//	go run ./internal/testkit/mutate -count 20 -seed 1 ./io/vfs ./io/spill
//	go run ./internal/testkit/mutate -hand internal/testkit/mutate/testdata/hand.txt
//
// sites.go finds what can be changed, hand.go reads changes made by hand, try.go runs tests with a change.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
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
