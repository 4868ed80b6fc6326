package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/siegetest"
	"grenier/internal/testkit/tries"
)

// siegePlace is a name in the directory and the commands that use it.
type siegePlace struct {
	name string
	rows []row
}

// Commands that look at all of a run, and that add to it.
var (
	readRun  = []string{"probe", "stats", "verify", "export", "compare", "search", "play", "status", "serve"}
	writeRun = []string{"solve", "scrub", "repair"}
)

// places are the names that a command may find something else at.
func places() []siegePlace {
	all := awariRows(6, 5, "awari")
	pick := func(commands ...string) (rows []row) {
		for _, r := range all {
			for _, c := range commands {
				if strings.HasPrefix(r.args, "awari "+c+" ") {
					rows = append(rows, r)
				}
			}
		}
		return rows
	}
	written := func(name, args string) siegePlace {
		return siegePlace{"run/" + name, []row{{args: args, writes: true, quiet: true}}}
	}
	read := func(name, args string) siegePlace { return siegePlace{"run/" + name, []row{{args: args, quiet: true}}} }
	return []siegePlace{
		{"run/manifest.json", pick(append(readRun, writeRun...)...)},
		{"run/layer-02.gl", pick(append(readRun, writeRun...)...)},
		{"run/layer-06.gl", pick("stats", "solve")}, // the next one
		{"run/lock", pick("stats", "status", "solve")},
		{"run/solve.log", pick("status", "solve")},
		{"run/work/status.json", pick("status", "solve")},
		{"run/work", append(pick("stats", "status", "solve", "scrub", "verify", "repair"), row{args: "awari verify --prove --progress none --dir @/run", quiet: true, writes: true})},
		{"run/work/stop.json", pick("status", "solve")},
		written("disk/grenier-run", "awari solve --progress none --pits 6 --seeds 6 --dir @/run --layers-to @/run/disk"),
		written("fast/grenier-run", "awari solve --progress none --pits 6 --seeds 6 --dir @/run --work @/run/fast"),
		written("run.prom", "awari solve --progress none --pits 6 --seeds 6 --dir @/whole --metrics-file @/run/run.prom"),
		written("export-csv.json", "awari export --progress none --dir @/whole --all --format csv --out @/run"),
		{"run/manifest.json.tmp", pick("stats", "solve")},
		{"run/work/scrub.json", pick("scrub")},
		{"run/work/again", pick("scrub", "repair")},
		{"run/work/captures-0000-open", pick("solve")},
		{"run/work/window-00-0", pick("solve")},
		{"run/work/offers", pick("solve")},
		{"run/work/found", pick("solve")},
		{"run/work/layer-06.gl.tmp", pick("solve")},
		{"run/work/status.json.tmp", pick("status", "solve")},
		written("scores.csv", "awari export --progress none --dir @/whole --layer 4 --format csv --out @/run/scores.csv"),
		written("scores.csv.tmp", "awari export --progress none --dir @/whole --layer 4 --format csv --out @/run/scores.csv"),
		written("scores.zst", "awari export --progress none --dir @/whole --layer 4 --format colex --codec zstd --out @/run/scores.zst"),
		written("charts.svg", "awari stats --dir @/whole --svg @/run/charts.svg"),
		written("charts.html", "awari stats --dir @/whole --html @/run/charts.html"),
		written("steps.svg", "chemin solve --progress none --rows 2 --cols 3 --svg @/run/steps.svg"),
		written("jumps.svg", "solitaire solve --progress none --end any --board @/pegs.txt --svg @/run/jumps.svg"),
		read("pegs.txt", "solitaire count --progress none --board @/run/pegs.txt"),
		written("played.svg", "chemin play --rows 2 --cols 2 0 3 1 2 --svg @/run/played.svg"),
		written("solved.svg", "swap solve --progress none --rows 2 --cols 3 6 5 4 3 2 1 --svg @/run/solved.svg"),
		written("k2.gp", "swap pdb build --progress none --kind gadb --rows 2 --cols 3 --k 2 --out @/run/k2.gp"),
		read("k3.gp", "swap solve --progress none --solver idastar --heuristic pdb --pdb @/run/k3.gp --rows 2 --cols 3 6 5 4 3 2 1"),
		read("grid.txt", "swap solve --progress none @/run/grid.txt"),
		read("0.colex", "awari import --progress none --layer 0 --format colex --dir @/new @/run/0.colex"),
		read("0.colex", "awari import --progress none --layer 0 --format colex --codec zstd --dir @/new @/run/0.colex"),
		read("here.json", "awari plan --progress none --seeds 4 --calibration @/run/here.json"),
	}
}

// TestLongSiegePlaces puts links, FIFOs, devices, directories and more in every place where a
// command has a file, as the super-user and as an ordinary one. A command does its work all
// the same, or refuses; it follows no link to write, and waits for nothing.
func TestLongSiegePlaces(t *testing.T) {
	tries.NeedsLong(t, "hundreds of commands")
	t.Run("user "+map[bool]string{true: "root", false: "ordinary"}[os.Getuid() == 0], func(t *testing.T) {
		t.Parallel()
		siegePlaces(t, &subject{})
	})
	if os.Getuid() != 0 {
		return
	}
	t.Run("user nobody", func(t *testing.T) {
		t.Parallel()
		base := publicDir(t)
		program := filepath.Join(base, "grenier-worker")
		must.OK(t, os.Rename(filepath.Join(base, "grenier"), program))
		must.OK(t, os.Mkdir(filepath.Join(base, "tree"), 0o755))
		s := &subject{uid: 65534, tree: siegetest.At(t, filepath.Join(base, "tree")), worker: &worker{program: program, attr: nobody, dir: base}}
		siegePlaces(t, s)
	})
}

func siegePlaces(t *testing.T, s *subject) {
	all := places()
	for _, p := range all {
		s.rows = append(s.rows, p.rows...)
	}
	s.build = buildPlaces
	s.begin(t)
	defer s.worker.stop()
	known := map[string]row{}
	for _, r := range s.rows {
		known[r.args] = r
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i, p := range all {
		s.rows = nil
		for _, row := range p.rows {
			s.rows = append(s.rows, known[row.args])
		}
		for j, d := range siegetest.Places {
			if !tries.Full() && (i+j)%5 != 0 { // each in some places, and each place with some
				continue
			}
			s.put(t, r, p.name, d)
		}
	}
	t.Logf("commands by status: %v", s.statuses)
}

// put puts something in a place and runs the commands that use it.
func (s *subject) put(t *testing.T, r *rand.Rand, name string, d siegetest.Damage) {
	s.reset(t)
	if name == "run/work" {
		must.OK(t, s.tree.RemoveAll(name))
	}
	if _, ok := s.whole.Files[name]; !ok {
		s.tree.Write(name, nil)
	}
	target := siegetest.Target{Name: name, Others: s.targets, Canary: "canary"}
	if err := d.Do(r, s.tree, target); err != nil {
		t.Logf("%s: %s: %v", name, d.Name, err) // devices, without the rights for it
		return
	}
	s.give()
	s.attack(t, name+": "+d.Name, d.Forged)
}

// buildPlaces makes a run and the files that other commands read.
func buildPlaces(t *testing.T, s *subject) {
	buildAwari(6, 5, "awari")(t, s)
	s.must(t, "awari export --progress none --dir @/run --layer 0 --format colex --out @/run/0.colex")
	s.must(t, "swap pdb build --progress none --kind gadb --rows 2 --cols 3 --k 2 --out @/run/k3.gp")
	s.tree.Write("run/grid.txt", []byte("2 3\n6 5 4\n3 2 1\n"))
	s.tree.Write("run/pegs.txt", []byte(pegs))
	s.tree.Write("pegs.txt", []byte(pegs))
	s.tree.Write("run/here.json", must.Read(t, "testdata/machine.json"))
}
