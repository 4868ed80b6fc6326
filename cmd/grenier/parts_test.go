package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/internal/testkit/tries"
)

// TestLongParts: a verification in 16 parts, each a process, in random order, three of them killed and one done twice at the same time, says
// what one run says. It does not before the last one is done.
func TestLongParts(t *testing.T) {
	random, seeds, parts := tries.Rand(t), tries.Pick(9, 16, 22), tries.Pick(4, 16, 16)
	dir := solved(t, "--seeds", strconv.Itoa(seeds))
	took := regexp.MustCompile(`"seconds":[0-9.e-]+|\([0-9.]+ s\)`)
	verify := func(flags ...string) (text []string) {
		for _, form := range [][]string{{"--progress", "none"}, {"--json", "--progress", "none"}} {
			args := append([]string{"awari", "verify", "--dir", dir, "--memory", "512MiB", "--seed", "1"}, append(form, flags...)...)
			text = append(text, took.ReplaceAllString(mustRun(t, args...), ""))
		}
		return text
	}
	part := func(i int) *solver {
		return launch(t, "awari", "verify", "--dir", dir, "--memory", "512MiB", "--progress", "none", "--part", fmt.Sprintf("%d/%d", i+1, parts))
	}
	killed, takes := 0, time.Second
	for k, i := range random.Perm(parts) {
		r := grenier(t.Context(), "", "awari", "verify", "--dir", dir, "--part", "all")
		must.Not(t, r.status != cli.ExitMissing || strings.Contains(r.out, "in order"), "after %d parts: %+v", k, r)
		for killed < min(3, k) && part(i).killAfter(t, time.Duration(random.Int64N(int64(takes)))) {
			killed++
		}
		var twin *solver
		if k == 1 {
			twin = part(i)
		}
		start := time.Now()
		r = part(i).wait(t)
		must.Hold(t, r.status == cli.ExitOK && r.err == "" && !strings.Contains(r.out, "in order"), "part %d: %+v", i+1, r)
		takes = time.Since(start)
		if twin != nil {
			r := twin.wait(t)
			must.Hold(t, r.status == cli.ExitOK, "part %d at the same time: %+v", i+1, r)
		}
	}
	must.Same(t, "what is said", verify(), verify("--part", "all"))
	should.Not(t, killed == 0 && seeds > 9, "no part was killed")
}
