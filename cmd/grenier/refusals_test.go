package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grenier/cmd/grenier/cli"
	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
	"grenier/io/rundir"
)

const (
	one, two, four = cli.ExitFailure, cli.ExitUsage, cli.ExitCorrupt
	six            = "must be 4, 6, 8, 10 or 12"
)

// TestRefusals: each of many wrong command lines ends with the status that the one rule for statuses says, and with one
// line that has the flag or argument, what was given, what is allowed, and, where it helps, what was probably meant.
func TestRefusals(t *testing.T) {
	should.Not(t, len(refusals) < 150, "only %d", len(refusals))
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	t.Setenv(cli.DirVariable, "")
	writeFiles(t, map[string]string{
		"file": "text", "photos/cat.jpg": "cat", "other/manifest.json": `{"name": "site"}`, "short": "x", "grid.txt": "1 2\n", "cal.json": "{}",
		"board.txt": "xyz\n",
	})
	refused(t, refusals)
}

var refusals = []badInput{
	// Commands, on other levels too.
	{"solve", two, "unknown command solve|must be awari, swap|did you mean grenier awari solve?"},
	{"probe --dir .", two, "unknown command probe|did you mean grenier awari probe?"},
	{"bfs", two, "unknown command bfs|did you mean grenier swap bfs?"},
	{"count", two, "unknown command count|did you mean grenier solitaire count?"},
	{"slove", two, "unknown command slove|did you mean grenier awari solve?"},
	{"awrai", two, "unknown command awrai|did you mean awari?"},
	{"{xyzzy|help xyzzy}", two, "unknown command xyzzy: must be awari, swap, chemin, solitaire, pijersi, doctor, completion or version"},
	{"help slove", two, "unknown command slove|did you mean grenier awari solve?"},
	{"awari help solve", two, "unknown command help|did you mean grenier help awari solve?"},
	{"awari sovle", two, "unknown command sovle|must be solve, plan|did you mean solve?"},
	{"awari generate", two, "unknown command generate|did you mean grenier swap generate?"},
	{"awari stat --dir .", two, "unknown command stat|did you mean stats?"},
	{"swap sole", two, "unknown command sole: must be solve, generate, bfs, pdb or bench|did you mean solve?"},
	{"swap pdb make", two, "unknown command make"},
	{"{chemin|help awari} slove", two, "unknown command slove|did you mean solve?"},
	{"pijersi encod", two, "unknown command encod|did you mean encode?"},
	{"solitaire cuont", two, "unknown command cuont|did you mean count?"},
	{"'' ", two, `unknown command "": must be awari`},

	// Flags that do not exist.
	{"awari solve --dir . --seeds 3 --mem 1GiB", two, "unknown flag --mem|did you mean --memory?"},
	{"awari {solve --dir . --seeds 3 --output|verify --dir . --dry-run|stats --dir . --csv} x", two, "unknown flag --"},
	{"awari export --dir . --layer 1 --format npy --output x", two, "unknown flag --output|did you mean --out?"},
	{"awari serve --dir . --port 80", two, "unknown flag --port|did you mean --addr?"},
	{"awari stats {--dri|--directory} .", two, "unknown flag {}|did you mean --dir?"},
	{"awari solve --sedes 3 --dir .", two, "unknown flag --sedes|did you mean --seeds?"},
	{"awari solve --jobs 3 --dir .", two, "unknown flag --jobs|did you mean --threads?"},
	{"awari solve --verbose --dir .", two, "unknown flag --verbose|did you mean --progress?"},
	{"awari solve --silent --dir .", two, "unknown flag --silent|did you mean --quiet?"},
	{"awari find --dir . --limit 3", two, "unknown flag --limit|did you mean --count?"},
	{"awari solve --dir . --seeds 3 --frobnicate", two, "unknown flag --frobnicate|grenier awari solve --help"},
	{"awari solve {-f|-qf} --seeds 2 --dir .", two, "unknown flag -f"},
	{"awari solve --=3", two, "is not a flag"},
	{"awari probe --dir . 1 -1 1 1", two, "-1 is neither a flag nor an integer from 0 up"},
	{"awari --dir .", two, "unknown flag --dir"},
	{"version --jsno", two, "unknown flag --jsno|did you mean --json?"},

	// Flags that are missing, lack a value, or exclude each other.
	{"awari solve --seeds 3", two, "--dir is required; GRENIER_DIR may name the directory"},
	{"awari solve --dir new", two, "--seeds is required|grenier awari solve --help"},
	{"awari solve", two, "--dir and --seeds are required"},
	{"awari probe --dir . --url https://host/ 1 1 1 1", two, "--dir and --url: only one of them may be given"},
	{"awari {stats|probe 1 1 1 1}", two, "--dir or --url is required"},
	{"awari export --dir . --format npy --out x", two, "--layer or --all is required"},
	{"awari export --dir . --layer 1 --all --format npy --out x", two, "--layer and --all: only one of them may be given"},
	{"awari export --dir . --layer 1", two, "--format and --out are required"},
	{"awari import --dir . short", two, "--format and --layer are required"},
	{"awari sample --dir .", two, "--count and --format and --layer are required"},
	{"awari find --dir . --layer 3", two, "--where or --puzzles is required"},
	{"awari {boards|census}", two, "--seeds is required"},
	{"awari stop --dir . --now --cancel", two, "--now and --cancel: only one of them may be given"},
	{"awari publish --dir .", two, "--out is required"},
	{"awari report", two, "--dir is required"},
	{"swap bfs", two, "--cols and --rows are required"},
	{"swap pdb build --rows 3 --cols 3", two, "--kind and --out are required"},
	{"chemin solve --rows 3", two, "--cols is required"},
	{"pijersi decode --json --draw GRXLLS", two, "--json and --draw: only one of them may be given"},
	{"awari solve --dir", two, "--dir needs a value"},
	{"awari solve --dir . --seeds", two, "--seeds needs a value"},
	{"awari plan --seeds 3 --work w", two, "--work and --layers-to need --dir"},
	{"awari verify --dir . --prove --sample 3", two, "--prove|--sample"},
	{"awari boards --seeds 3 --seed 4", two, "--seed needs --count"},
	{"awari table --dir bits", two, "--dir|--start"},
	{"awari sample --dir . --layer 3 --count 1 --format csv --shards 2", two, "--split and --shards|--out"},
	{"awari find --dir . --layer 3 --where value=1 --random --most value", two, "--most and --random: only one of them may be given"},
	{"awari stats --dir . --json --svg -", two, "--json and --svg -: only one of them can go to stdout"},
	{"awari verify --dir . --part 5/3", two, "--part 5/3: must be i/n with i from 1 to n and n up to 10000, all, or all/n"},
	{"awari scrub --dir . --part half", two, "--part half: must be i/n"},
	{"awari scrub --dir . --part all --restart", two, "--restart goes with --part i/n"},
	{"awari export --dir . --layer 1 --format npy --out x --part all/3", two, "--part all/3: it must be i/n|cat puts the parts together"},
	{"awari export --dir . {--layer 1 --part 1/3|--all|--layer 1..2} --format npy --out -", two, "--out -: several layers need a directory"},
	{"awari sample --dir . --layer 1 --count 2 --format npy --part all", two, "--part all: it must be i/n"},
	{"awari sample --dir . --layer 1 --count 2 --format npy --out x --shards 2 --part 1/3", two, "--part is of one file|--shards"},
	{"swap pdb build --rows 3 --cols 3 --kind apdb --out x", two, "--kind apdb takes --tiles"},

	// Values.
	{"awari solve --dir n --seeds {49|-1|x|1.5|99999999999999999999}", two, "--seeds {}: must be 0 to 48"},
	{"awari solve --dir n --seeds ''", two, `--seeds "": must be 0 to 48`},
	{"awari solve --dir n --seeds 3 --pits {7|-12|14|x}", two, "--pits {}: " + six},
	{"awari {plan --seeds 3|census --seeds 3|table} --pits 5", two, "--pits 5: " + six},
	{"awari {solve --dir n --seeds 3|table} --rules oware", two, "--rules oware: must be awari, strict or abapa"},
	{"awari solve --dir n --seeds 3 --rules stric", two, "--rules stric: must be awari, strict or abapa (did you mean strict?)"},
	{"awari solve --dir n --seeds 3 --engine steam", two, "--engine steam: must be sweeps or retrograde"},
	{"awari solve --dir n --seeds 3 --engine sweep", two, "--engine sweep: must be sweeps or retrograde (did you mean sweeps?)"},
	{"awari solve --dir n --seeds 3 --progress fancy", two, "--progress fancy: must be auto, bar, plain, json or none"},
	{"awari verify --dir . --progress plane", two, "--progress plane|did you mean plain?"},
	{"awari solve --dir n --seeds 3 --memory 16", two, "--memory 16: that is 16 bytes; did you mean 16GiB?"},
	{"awari solve --dir n --seeds 3 --memory {0|x|-1GiB}", two, "--memory {}: must be a number of bytes like 8GiB"},
	{"awari solve --dir n --seeds 3 --memory 1KiB", two, "--memory 1KiB: layer 3 needs|the limit is 1.0 KiB|too little for any layer"},
	{"awari solve --dir n --seeds 40 --memory 1GiB", two, "--memory 1GiB: layer 40 needs|the limit is 1.0 GiB|enough up to layer"},
	{"awari verify --dir . --memory 8", two, "--memory 8: that is 8 bytes; did you mean 8GiB?"},
	{"awari plan --seeds 3 --disk 3", two, "--disk 3: that is 3 bytes; did you mean 3GiB?"},
	{"awari plan --seeds 3 --disk fast", two, "--disk fast: must be a number of bytes like 8GiB"},
	{"awari solve --dir n --seeds 3 --threads {0|1025|all|-2}", two, "--threads {}: must be 1 to 1024"},
	{"{awari verify --dir .|awari scrub --dir .|awari uci --dir .|swap solve} --threads 0", two, "--threads 0: must be 1 to 1024"},
	{"awari {solve --dir n --seeds 3|repair --dir .} --checkpoint {0|soon|-1m}", two, "--checkpoint |: must be a time above 0, like 30s"},
	{"awari solve --dir n --seeds 3 --until {soon|25:00}", two, "--until {}: must be a time like 07:00 or 7am|or a duration like 8h"},
	{"awari solve --dir n --seeds 3 --until {-8h|2020-01-01T07:00:00}", two, "--until {}: must be in the future"},
	{"awari solve --dir n --seeds 3 --metrics 9464", two, "--metrics 9464: must be host:port, such as localhost:8080"},
	{"awari serve --dir . --addr {foo|:eighty|localhost:99999}", two, "--addr {}: must be host:port, such as localhost:8080"},
	{"awari serve --dir . --rate 0", two, "--rate 0: must be 1 to 1000000"},
	{"awari serve --dir . --connections 0", two, "--connections 0: must be 1 to"},
	{"awari serve --dir . --allow-origin example.org", two, "--allow-origin|example.org|like https://example.org"},
	{"awari serve --dir . --also chess=http://host/", two, "--also chess=http://host/: must be rules and the URL"},
	{"awari publish --dir . --out site --also abapa=ftp://host/", two, "--also abapa=ftp://host/: must be rules and the URL"},
	{"awari publish --dir . --out site --address here", two, "--address here: must be the URL of a folder"},
	{"awari solve --dir n --seeds 3 --json=perhaps", two, "--json perhaps: must be true or false"},
	{"awari solve --seeds 3 --dir ''", two, `--dir "": must not be empty`},
	{"awari solve --seeds 3 --dir ~/awari", two, `--dir "~/awari": the shell expands ~ outside quotes only; did you mean "$HOME/awari"?`},
	{"awari stats --dir . --svg ~/x.svg", two, `--svg "~/x.svg": the shell expands ~ outside quotes only`},
	{"awari solve --seeds 3 --dir http://host/", two, "--dir http://host/: must be a name, not an address"},
	{"awari serve --dir https://host/awari/", two, "--dir https://host/awari/: must be a name, not an address"},
	{"awari probe --url {host|data/awari|ftp://host/x} 1 0 0 0", two, `--url|"{}"|like https://host/directory/`},
	{"awari probe --url '' 1 0 0 0", two, `--url: bad address ""|https://`},
	{"awari stats --url http://host/x?y=1", two, "no ?"},
	{"awari stats --url http://me:secret@host:port/", two, "--url|port"},
	{"awari verify --url http://host/", two, "unknown flag --url"},
	{"awari stats --dir . --url http://host/", two, "--dir and --url: only one of them may be given"},
	{"awari stats --dir . --layer {6|4..6}", two, "--layer {}: . is solved up to 5"},
	{"awari {stats|verify|scrub} --dir . --layer {x|5..3|3..|3-5|49}", two, "--layer |: must be a number of seeds from 0 to 48, or a range"},
	{"awari {verify|export --format npy --out x|find --where value=1|scrub} --dir . --layer 9", two, "layer|9|5"},
	{"awari compare . . --layer 9", two, "not solved: layer 9|is solved up to 5"},
	{"awari export --dir . --layer 3..9 --format npy --out x", two, "not solved: layer 6|is solved up to 5"},
	{"awari {export --format npy --out x|sample --count 1 --format csv} --dir . --layer -1", two, "--layer -1: must be a number of seeds"},
	{"awari compare . . --layer all", two, "--layer all: must be a number of seeds"},
	{"awari import --dir n --layer 0..2 --format colex short", two, "--layer 0..2: expected 3 files, got 1"},
	{"awari import --dir n --layer 0 --format npy short", two, "--format npy: must be colex or vu"},
	{"awari import --dir n --layer 0 --format colex --codec gzip short", two, "--codec gzip: must be auto, none, lz4 or zstd"},
	{"awari export --dir . --layer 1 --format nyp --out x", two, "--format nyp: must be colex, vu, npy, csv or wdl (did you mean npy?)"},
	{"awari export --dir . --layer 1 --format npy --codec zst --out x", two, "--codec zst: must be none, lz4 or zstd (did you mean zstd?)"},
	{"awari sample --dir . --layer 1 --count 1 --format tsv", two, "--format tsv: must be npy, csv or jsonl"},
	{"awari {sample --dir . --layer 1 --format csv --count|verify --dir . --sample} -1", two, "-1: must be an integer from 0 up"},
	{"swap solve --width -1 --rows 2 --cols 2 2 1 4 3", two, "--width -1: must be an integer from 0 up"},
	{"awari sample --dir . --layer 1 --count 1 --format csv --by colour", two, "--by colour: must be position or score"},
	{"awari sample --dir . --layer 1 --count 1 --format csv --out x --shards 0", two, "--shards 0: must be 1 to"},
	{"awari sample --dir . --layer 1 --count 1 --format csv --out x --split half", two, "--split|half|train=90,test=10"},
	{"awari verify --dir . --seed x --sample 3", two, "--seed x: must be an integer from 0 up"},
	{"awari find --dir . --layer 3 --where only-wim", two, "--where: condition|only-wim|did you mean only-win?"},
	{"awari find --dir . --layer 3 --where valu=3", two, "--where: condition|valu|did you mean value?"},
	{"awari find --dir . --layer 3 --where value=x", two, "value=x"},
	{"awari find --dir . --layer 3 --where value=1 --most valu", two, "--most valu: must be value|did you mean value?"},
	{"awari find --dir . --layer 3 --where value=1 --count -1", two, "--count -1: must be 0 to 1000000"},
	{"awari search --dir . --depth -1 1 1 1 1", two, "--depth -1: must be 0 to"},
	{"{awari search --dir . 1 1 1 1|chemin solve --rows 3 --cols 3} --time {-1s|10}", two, "--time |: must be a time like 10s, or 0 for no limit"},
	{"swap solve --time {-1s|10} --rows 2 --cols 2 2 1 4 3", two, "--time {}: must be a time like 10s, or 0 for no limit"},
	{"awari play --dir . --time {0|48h}", two, "--time {}: must be a time like 10s, above 0 and up to 24h"},
	{"awari uci --dir nowhere", one, "nowhere"},
	{"awari uci --dir . now", two, "unexpected argument now: uci takes flags only"},
	{"awari play --dir . --side east", two, "--side east: must be south or north"},
	{"awari play --dir . --side nroth", two, "--side nroth: must be south or north (did you mean north?)"},
	{"awari play --dir . --strength 11", two, "--strength 11: must be 0 to 10"},
	{"awari boards --seeds 65", two, "--seeds 65: must be 0 to 64"},
	{"awari boards --seeds 3 --pits 17", two, "--pits 17: must be 1 to 16"},
	{"awari unrank --pits 0 3", two, "--pits 0: must be 1 to 16"},
	{"swap bfs --rows 3 --cols x", two, "--cols x: must be 1 to 16"},
	{"swap bfs --rows 0 --cols 3", two, "--rows 0: must be 1 to 16"},
	{"swap bfs --rows 5 --cols 5", two, "--rows and --cols|5 x 5: must be 1 to 16 cells"},
	{"swap solve --solver astra --rows 2 --cols 2 2 1 4 3", two, "--solver astra: must be|did you mean astar?"},
	{"swap solve --heuristic walk --rows 2 --cols 2 2 1 4 3", two, "--heuristic|walk|walking"},
	{"swap solve --rows 2 --cols 2 --target 1,2 2 1 4 3", two, "--target"},
	{"swap generate --rows 2 --cols 2 --difficulty x", two, "--difficulty x: must be a number"},
	{"swap bench --grids 0", two, "--grids 0: must be 1 to"},
	{"swap bench --tables chairs", two, "chairs|heuristics"},
	{"swap pdb build --rows 3 --cols 3 --kind adpb --out x", two, "--kind adpb: must be apdb or gadb (did you mean apdb?)"},
	{"swap pdb build --rows 3 --cols 3 --kind gadb --k 5 --out x", two, "--k 5: must be 0 to 4"},
	{"swap pdb build --rows 3 --cols 3 --kind apdb --tiles a,b --out x", two, "--tiles a,b: must be integers separated by commas"},
	{"swap pdb build --rows 3 --cols 3 --kind apdb --tiles 1 --cost gold --out x", two, "--cost gold: must be unit or tracked"},
	{"chemin solve --rows 3 --cols 3 --method magic", two, "--method magic: must be naive, classes, orientations or layers"},
	{"chemin solve --rows 9 --cols 9", two, "9 rows and 9 columns: must be 1 to"},
	{"solitaire solve --start z9", two, "--start|z9"},

	// Arguments.
	{"awari probe --dir . 1 1 1", two, "expected 4 pits, got 3"},
	{"awari probe --dir . missing.txt", two, "expected 4 pits, got 1; boards in a file are read from stdin: - <FILE"},
	{"awari probe --dir . 1 {x|49|18446744073709551617} 1 1", two, "pit B |{}|: must be 0 to 48"},
	{"awari probe --dir . - 1", two, "expected 4 pits, got 2"},
	{"awari probe --dir . -- 1 -1 1 1", two, `pit B "-1": must be 0 to 48`},
	{"awari probe --dir . 1 '' 1 1", two, `pit B "": must be 0 to 48`},
	{"awari probe --dir . 24 24 1 0", two, "more than 48"},
	{"awari probe --dir . 1-1-1-1-1-0-0-S", two, "expected 4 pits, got 5"},
	{"awari {probe|search} --dir .", two, "expected a board|got 0 arguments"},
	{"awari probe --dir . 2 2 2 0", two, "not solved|6 seeds|up to 5"},
	{"awari play --dir . 1 1", two, "expected 4 pits, got 2"},
	{"{version|awari status --dir .|awari remote} extra", two, "unexpected argument extra: |takes flags only"},
	{"awari compare .", two, "expected two run directories or layer files, got 1 argument"},
	{"awari compare . . .", two, "expected two run directories or layer files, got 3 arguments"},
	{"awari import --dir n --layer 0 --format colex", two, "expected one file for each layer, got 0 arguments"},
	{"awari import --dir n --layer 0 --format colex - -", two, "- is given twice"},
	{"awari rank 1 65", two, "pit 1 65: must be 0 to 64"},
	{"awari rank x", two, "pit 0 x: must be 0 to 64"},
	{"awari rank 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", two, "expected 1 to 16 pits, got 17"},
	{"awari unrank x", two, "code x: must be 0 to 18446744073709551615"},
	{"awari unrank 1 2", two, "expected one code, or - to read codes from stdin, got 2 arguments"},
	{"completion tcsh", two, "shell tcsh: must be bash, zsh, fish or powershell"},
	{"completion", two, `shell "": must be bash, zsh, fish or powershell`},
	{"chemin play --rows 3 --cols 3 0 x", two, "step 2 x: expected the number of a cell"},
	{"chemin play --rows 3 --cols 3 0 9 1 2 3 4 5 6 7", two, "9: must be 0 to 8"},
	{"swap solve --rows 2 --cols 2 1 2 x 4", two, "cell 2 x: expected the number of a tile"},
	{"swap solve a b", two, "expected one FILE, or --rows and --cols with the tiles, got 2 arguments"},
	{"pijersi decode GRX", two, `"GRX": expected 6 letters, got 3`},
	{"pijersi unrank x", two, "x"},
	{"solitaire play --board english d4-d5", two, "d4"},

	// What is absent or cannot be read: 1. What is corrupt or foreign: 4. Another run: 2.
	{"awari report --dir none", one, "none: no run directory"},
	{"awari stop --dir none", one, "none: no run directory"},
	{"awari solve --seeds 3 --dir file --dry-run", one, "file: not a directory"},
	{"awari import --dir n --layer 0 --format colex none", one, "none"},
	{"awari plan --seeds 3 --calibration none", one, "none"},
	{"swap solve none.txt", one, "none.txt"},
	{"solitaire solve --board none.txt", one, "none.txt"},
	{"awari stats --dir . --svg none/x.svg", one, "none"},
	{"awari solve --pits 4 --seeds 3 --dir photos --dry-run", four, "photos: not a run directory|cat.jpg"},
	{"awari plan --seeds 3 --calibration cal.json", four, "cal.json|--save-calibration"},
	{"awari import --dir n --layer 1 --format colex --pits 4 short", two, "layer 0"},
	{"awari solve --seeds 6 --dir .", two, ". holds another run: |4 pits|asked for"},
	{"awari solve --seeds 6 --dir . --dry-run", two, ". holds another run: |4 pits|asked for"},
	{"awari plan --seeds 6 --dir .", two, ". holds another run: |4 pits|asked for"},
}

// TestDamage: every command that comes across damage tells it in one line, which names the command that mends it.
func TestDamage(t *testing.T) {
	dir, other, out := filepath.Join(t.TempDir(), "my run"), solved(t, "--pits", "4", "--seeds", "3"), filepath.Join(t.TempDir(), "out")
	must.OK(t, os.CopyFS(dir, os.DirFS(other)))
	layer, manifest := filepath.Join(dir, rundir.LayerName(2)), filepath.Join(dir, rundir.ManifestName)
	text, repair := string(must.Read(t, layer)), "; to repair it: grenier awari repair --dir '"+dir+"'\n"
	const diary = "not a file of this program"
	for _, c := range []struct {
		path, text, words string // of a damaged file
	}{
		{layer, "", "header: truncated: 0 bytes"}, {layer, "Dear diary", diary}, {layer, strings.Repeat("Dear diary, ", 100), diary},
		{layer, text[:40], "header: truncated"}, {layer, text[:len(text)-1], "footer: "},
		{layer, string(must.Read(t, filepath.Join(dir, rundir.LayerName(1)))), "number of seeds 1"},
		{layer, text[:8] + "\x04" + text[9:], "version 4"}, {manifest, "Dear diary", diary}, {layer, "gone", "missing"},
	} {
		whole, remedy := must.Read(t, c.path), repair
		if c.words == "version 4" {
			remedy = "\n" // a newer program reads it
		}
		must.Write(t, c.path, []byte(c.text))
		if c.text == "gone" {
			must.OK(t, os.Remove(c.path))
			mustRun(t, "awari", "stats", "--dir", dir)
		}
		commands := []string{
			"probe 1 1 0 0", "search 1 1 0 0", "verify", "verify --prove", "scrub", "solve --pits 4 --seeds 4", "export --layer 2 --format colex --out " + out,
		}
		if c.path == manifest {
			commands = append(commands, "stats", "status", "plan --pits 4 --seeds 4")
		} else {
			mustRun(t, "awari", "probe", "--dir", dir, "1", "0", "0", "0") // other layers serve
		}
		for _, command := range commands {
			r := grenier(t.Context(), "", append([]string{"awari"}, append(strings.Fields(command), "--dir", dir)...)...)
			oneClearLine(t, r.err)
			should.Hold(t, r.status == cli.ExitCorrupt && strings.HasSuffix(r.err, remedy), "%s: status %d, %s", command, r.status, r.err)
			if command != "scrub" { // which tells of each layer on stdout
				should.Has(t, r.err, filepath.Base(c.path)+": ", c.words)
			}
		}
		r := grenier(t.Context(), "", "awari", "compare", other, dir)
		should.Hold(t, r.status == cli.ExitCorrupt && strings.HasSuffix(r.err, remedy), "compare: status %d, %s", r.status, r.err)
		must.Write(t, c.path, whole)
	}
	r := grenier(t.Context(), "", "awari", "probe", "--dir", t.TempDir(), "1", "1", "0", "0")
	should.Not(t, strings.Contains(r.err, "repair"), "nothing to mend: %s", r.err)
}

// badInput is a command line that must fail; words that the message must have are separated by "|". Of choices in braces, "{a|b}", each
// is a command line of its own; the first that is made stands for {} in the words.
type badInput struct {
	args   string
	status int
	words  string
}

// refused runs bad command lines in the current directory, none of which may
// change anything there that results depend on.
func refused(t *testing.T, cases []badInput) {
	t.Helper()
	before := layerContents(t, ".")
	var all []badInput
	for _, c := range cases {
		all = append(all, c.each()...)
	}
	for _, c := range all {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.Trim(args[i], `'`) // '' is an empty argument
			}
			r := grenier(t.Context(), "", args...)
			should.Equal(t, r.status, c.status, "status")
			oneClearLine(t, r.err)
			should.Has(t, r.err, strings.Split(c.words, "|")...)
			must.Same(t, "changed", before, layerContents(t, "."))
		})
	}
}

// each returns the command lines that a row stands for.
func (c badInput) each() (all []badInput) {
	before, rest, found := strings.Cut(c.args, "{")
	if !found {
		return []badInput{c}
	}
	choices, after, _ := strings.Cut(rest, "}")
	for choice := range strings.SplitSeq(choices, "|") {
		all = append(all, badInput{before + choice + after, c.status, strings.ReplaceAll(c.words, "{}", choice)}.each()...)
	}
	return all
}

// TestHugeLines sends lines of 2 MB among others. They are told and skipped; where there can be only one
// line they are refused.
func TestHugeLines(t *testing.T) {
	t.Chdir(solved(t, "--pits", "4", "--seeds", "5"))
	must.Write(t, "row.txt", []byte("oo.o\n"))
	const told = "more than 65536 bytes"
	long := strings.Repeat("1 ", 1<<20) + "\n"
	for _, c := range []struct {
		args, in string
		status   int
		words    string // of stdout, or of stderr in case of a failure
	}{
		{"awari probe --dir . -", "1 1 1 1\n" + long + "0 1 1 1\n", cli.ExitUsage, "line 2: " + told},
		{"awari play --dir .", "help\n0" + strings.Repeat(" ", 2<<20) + "\nquit\n", cli.ExitOK, told + "|you left the game"},
		{"awari uci --dir .", "isready\n" + long + "uci\n", cli.ExitOK, "readyok|info string error: a line is skipped: " + told + "|uciok"},
		{"awari search --dir . -", long, cli.ExitUsage, "stdin: " + told},
		{"chemin play --rows 3 --cols 3 -", long, cli.ExitUsage, "stdin: " + told},
		{"solitaire play --board row.txt --progress none", "board\n" + long + "quit\n", cli.ExitOK, told + "|you left the game with 3 pegs"},
		{"swap solve -", long, cli.ExitUsage, "line 1 has more than 4096 bytes"},
	} {
		r := grenier(t.Context(), c.in, strings.Fields(c.args)...)
		said := r.err
		if c.status == cli.ExitOK {
			said = r.out
		}
		should.Hold(t, r.status == c.status && len(r.err) <= 500, "%s: status %d, want %d: %.500s", c.args, r.status, c.status, r.err)
		should.Has(t, said, strings.Split(c.words, "|")...)
	}
}

// writeFiles makes files in the current directory.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Write(t, name, []byte(text))
	}
}

func TestBadDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, "awari", "solve", "--progress", "none", "--pits", "4", "--seeds", "2", "--rules", "strict", "--dir", "strict")
	newer := must.Tree(t, "strict")[rundir.ManifestName]
	writeFiles(t, map[string]string{
		"file": "text", "photos/cat.jpg": "cat", "begun/manifest.json": "", "other/manifest.json": `{"name": "site"}`,
		"newer/manifest.json": strings.Replace(newer, `"version": 1`, `"version": 5`, 1),
	})
	must.OK(t, os.Mkdir("empty", 0o755))
	const solve = "awari solve --pits 4 --seeds 3 --dir "
	refused(t, []badInput{
		{solve + "strict", cli.ExitUsage, "strict holds|rules strict, 4 pits|asked for|rules awari, 4 pits"},
		{"awari solve --rules strict --seeds 1 --dir strict", cli.ExitUsage, "rules strict, 4 pits|asked for|rules strict, 12 pits"},
		{solve + "file", cli.ExitFailure, "file|not a directory"},
		{solve + "file/below", cli.ExitFailure, "file/below|not a directory"},
		{solve + "photos", cli.ExitCorrupt, "photos|not a run directory|cat.jpg"},
		{solve + "other", cli.ExitCorrupt, "other/manifest.json|not a file of this program"},
		{solve + "begun", cli.ExitCorrupt, "begun/manifest.json"},
		{solve + "newer", cli.ExitCorrupt, "newer/manifest.json|version 5|versions 1 to 4"},
	})
	const commands = "awari {probe 1 0 0 0|stats|verify|status} --dir "
	refused(t, []badInput{
		{commands + "none", cli.ExitFailure, "none|no run directory"},
		{commands + "empty", cli.ExitFailure, "empty|no run directory"},
		{commands + "file", cli.ExitFailure, "file|not a directory"},
		{commands + "file/below", cli.ExitFailure, "file/below|not a directory"},
		{commands + "photos", cli.ExitCorrupt, "photos|not a run directory"},
		{commands + "other", cli.ExitCorrupt, "other/manifest.json|not a file of this program"},
		{commands + "begun", cli.ExitCorrupt, "begun/manifest.json"},
		{commands + "newer", cli.ExitCorrupt, "newer/manifest.json|version 5|versions 1 to 4"},
	})
}
